// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/events_model.h"
#include "gui/models/history_sources.h"
#include "gui/models/picture_store.h"

namespace mpm::gui {

/// Keeps the history on show up to date: of a database, of one source, its samples, statistics and events.
class HistoryBrowser : public QObject {
  Q_OBJECT
 public:
  explicit HistoryBrowser(QObject* parent = nullptr);

  History* history() const { return history_; }
  HistorySources* sources() const { return sources_; }
  EventsModel* events() const { return events_; }

  /// The history is that in this file, which need not be there yet. It begins with the source that is open, else with
  /// `source`, else with the last one.
  void setDatabase(const QString& path, const QString& source = {});
  /// This program opened a source whose samples go into that file, or closed it; `source` without credentials.
  void open(const QString& source);
  void close();
  /// The source that is open again, after a person chose another one.
  void showOpened();
  bool isOpen() const { return opened_.has_value(); }
  /// The source that is open is on show.
  bool showsOpened() const;
  /// What is stored was judged anew.
  void takeJudged();
  /// An event of the source that is open; kept while another source is on show.
  void add(const monitor::Event& event);
  /// The period that the chart shows, s.
  void setPeriod(double from, double to);
  /// How often refresh() asks the database, ms; for the statistics 15 times more seldom. Default: 2 s.
  void setPace(std::int64_t ms) { pace_ = ms; }
  /// To be called twice a second. `shown`: when the frame on show was taken; 0: there is none.
  void refresh(UnixMs shown);

  /// The source whose history is on show; as long as nothing is stored, the one that is open. Empty: none.
  QString source() const;
  /// By which its times are shown; before it is known, that of the machine.
  charts::OptionalClock clock() const;
  /// Whose pictures belong to it; nullopt: its database was not read yet.
  std::optional<monitor::PictureOwner> owner() const;
  /// What the database says of it; nothing where it was not read yet.
  SourceFacts facts() const;
  /// When those of them were taken that belong to it, s.
  std::vector<double> timesOf(const std::vector<StoredPicture>& pictures) const;
  /// How far from a moment of the chart a picture may be, in seconds: half as far as the chart is wide, at least 2.
  double nearness() const { return std::max(2.0, (period_.second - period_.first) / 2); }

 signals:
  void sourceChanged();
  /// There may be new samples of the source on show.
  void grown();
  /// What Day/night shows; nullopt: nothing is known of the source on show yet.
  void judged(const std::optional<mpm::gui::JudgedHistory>& history);
  void failed(const QString& message);

 private:
  std::optional<std::int64_t> eventsOnShow() const;
  void refreshStatistics();
  void takeGrowth();
  std::pair<double, double> periodToJudge() const;
  void takeSource();
  std::vector<monitor::Event> withLiveEvents(std::vector<monitor::Event> stored) const;

  EventsModel* const events_;
  History* const history_;
  HistorySources* const sources_;
  std::optional<QString> opened_;                                    // the source that this program has open
  std::vector<monitor::Event> live_events_;                          // of the source that is open, as they came
  std::int64_t pace_ = 2000, next_chart_ = 0, next_statistics_ = 0;  // steady ms
  std::pair<double, double> period_;                                 // that the chart shows, s
  MeasuredSeries seen_{};                                            // of the source on show, at the last look
  struct {
    std::pair<double, double> period{};  // s
    MeasuredSeries of{};
  } judged_;  // what Day/night shows
};

}  // namespace mpm::gui
