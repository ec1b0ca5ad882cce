// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QStringList>
#include <QThreadPool>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "monitor/store/class_areas.h"
#include "monitor/store/store.h"

namespace mpm::gui {

/// Reads what the chart, the day/night panel and the event list show of a database, on its own thread. Of
/// questions of one kind that come faster than the disk answers, only the last is answered. The file need not exist
/// yet: every question looks for it again.
class History : public QObject {
  Q_OBJECT
 public:
  explicit History(QObject* parent = nullptr);
  ~History() override { thread_.clear(); }

  void setDatabase(const QString& path);
  QString database() const { return path_; }
  /// Judges day and night of what is asked from now on; no rule: as stored.
  void setNightRule(const monitor::NightRule& rule) { night_ = rule; }
  const monitor::NightRule& nightRule() const { return night_; }

  void askSources();
  void askChart(const monitor::ChartQuery& query);
  void askDayNight(std::int64_t source, UnixMs from, UnixMs to);
  void askAreas(std::int64_t source, UnixMs from, UnixMs to);
  void askEvents(std::int64_t source);
  /// The classes of its latest session.
  void askClasses(std::int64_t source);
  /// The names of the regions that are or were measured in it, and those that are, by the name of the source.
  void askRegions(const QString& source);

 signals:
  void sourcesChanged(const std::vector<mpm::monitor::SourceRecord>& sources);
  void chartReady(const mpm::monitor::Chart& chart, const mpm::monitor::ChartQuery& query);
  /// Of the span of the chart, before it.
  void statesReady(const std::vector<mpm::monitor::StateSeries>& states);
  void dayNightReady(const mpm::monitor::DayNightStatistics& statistics);
  void areasReady(const std::vector<mpm::monitor::ClassArea>& areas);
  void eventsReady(const std::vector<mpm::monitor::Event>& events);
  void classesReady(const QStringList& names, qint64 source);
  void regionsReady(const QStringList& names, const std::vector<mpm::vision::Region>& current, const QString& source);
  void failed(const QString& message);

 private:
  enum Kind { kSources, kChart, kDayNight, kAreas, kEvents, kClasses, kRegions, kKinds };
  // Runs `answer` on the thread with a reader, unless a later question of `kind` makes it pointless.
  template <typename Answer>
  void ask(Kind kind, Answer answer);
  // Emits a signal on the thread of this object.
  template <typename Emit>
  void queue(Emit emission) {
    QMetaObject::invokeMethod(this, std::move(emission));
  }

  QString path_;
  monitor::NightRule night_;
  std::unique_ptr<monitor::StoreReader> reader_;  // touched on thread_ only
  QString reader_path_, failure_;                 // likewise
  std::array<std::atomic<int>, kKinds> latest_{};
  QThreadPool thread_;  // last: waits for the running query
};

}  // namespace mpm::gui
