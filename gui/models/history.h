// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "charts/chart.h"
#include "gui/models/live_frame.h"
#include "gui/models/worker.h"
#include "monitor/privacy.h"
#include "monitor/store/averages.h"

namespace mpm::gui {

struct SourceNames {
  qint64 source = 0;
  QString name;
  QStringList classes;
  QStringList regions;                    ///< that are or were measured in it
  std::vector<vision::Region> current{};  ///< that are
};

/// The rules by which the samples of a series were judged, as monitor::toText() has them: "" of none, nullopt of one
/// that is not known. Empty: there are no samples.
using NightRules = std::set<std::optional<std::string>>;

/// What Day/night shows: of one source, over one period.
struct JudgedHistory {
  std::int64_t source = 0;  ///< SourceRecord::id
  UnixMs from = 0, to = 0;  ///< [from, to)
  monitor::DayNightStatistics statistics{};
  std::vector<monitor::ClassArea> areas{};
  NightRules judged_by{};
  QString model{};  ///< the name of the one that measured them
};

/// The latest series of a source, and how many samples of it are kept one by one.
struct MeasuredSeries {
  std::int64_t id = 0;  ///< SeriesRecord::id; 0: there is none
  std::int64_t samples = 0;
  friend bool operator==(const MeasuredSeries&, const MeasuredSeries&) = default;
};

/// What a database says of the pictures of a source: what lies over them, and what they were measured by.
struct SourceFacts {
  monitor::PrivacyOptions privacy;
  std::vector<vision::Region> regions;  ///< that are measured in it
  QStringList classes{};                ///< of the model that measured it last, by index
  MeasuredSeries measured{};
  QStringList ringing{};  ///< rules of the alarms that ring
};

/// Whose the pictures of a database are, and what lies over them.
struct DatabaseFacts {
  std::string id;                          ///< StoreReader::id()
  std::map<QString, SourceFacts> sources;  ///< by name
};

/// Reads what the chart, the day/night panel and the event list show of a database, on its own thread. Of
/// questions of one kind that come faster than the disk answers, only the last is answered. The file need not exist
/// yet: every question looks for it again.
class History : public QObject {
  Q_OBJECT
 public:
  explicit History(QObject* parent = nullptr) : QObject(parent), thread_(this) {}
  ~History() override { thread_.giveUp(); }

  void setDatabase(const QString& path);
  QString database() const { return path_; }
  /// As askSources() read them last; nullopt: nothing was read of this database yet.
  const std::optional<DatabaseFacts>& facts() const { return facts_; }

  void askSources();
  void askChart(const monitor::ChartQuery& query);
  /// Asks for the comparison of day and night within a span of time, of the latest series of a source.
  void askStatistics(std::int64_t source, UnixMs from, UnixMs to);
  void askEvents(std::int64_t source);
  /// Asks for what can be drawn of a source: the classes of its latest session, and its regions by its name.
  void askNames(std::int64_t source, const QString& name);
  /// The sample of a picture of this source that is nearest to a time, and no further than that away: sampleReady().
  /// `said`: about its privacy, over what is stored. `question`: StoredSample::question.
  void askSample(const monitor::SourceRecord& source, UnixMs time, UnixMs within, const monitor::PrivacyChoice& said,
                 int question);
  /// Asks for the last sample of a source: sampleReady(). `said`: as in askSample().
  void askLast(const monitor::SourceRecord& source, const monitor::PrivacyChoice& said);

  /// The picture of the last sample of an archive, without what its database hides; null: it is not there.
  static LiveFramePtr lastPicture(const monitor::StoreReader& reader, const monitor::SourceRecord& source,
                                  const monitor::PrivacyChoice& said);

 signals:
  void sourcesChanged(const std::vector<mpm::monitor::SourceRecord>& sources);
  /// Each answer names the source and the span of its question: others may be on show by now. `bands`: of the span of
  /// the chart.
  void chartReady(const mpm::charts::Chart& chart, const std::vector<mpm::charts::ChartBand>& bands,
                  const mpm::monitor::ChartQuery& query);
  void statisticsReady(const mpm::gui::JudgedHistory& history);
  void eventsReady(qint64 source, const std::vector<mpm::monitor::Event>& events);
  void namesReady(const mpm::gui::SourceNames& names);
  void sampleReady(const mpm::gui::StoredSample& sample);
  void failed(const QString& message);

 private:
  enum Kind { kSources, kChart, kStatistics, kEvents, kNames, kSample, kKinds };
  // Runs `answer` on the thread with a reader, unless a later question of `kind` makes it pointless, and here what that
  // returns.
  template <typename Answer>
  void ask(Kind kind, Answer answer);
  static StoredSample storedSample(const monitor::StoreReader& reader, const monitor::SourceRecord& source,
                                   const monitor::Sample& sample, const monitor::PrivacyChoice& said);

  QString path_;
  std::optional<DatabaseFacts> facts_;
  std::unique_ptr<monitor::StoreReader> reader_;  // touched on thread_ only
  QString reader_path_, failure_;                 // likewise
  std::array<std::atomic<int>, kKinds> latest_{};
  Worker thread_;
};

}  // namespace mpm::gui
