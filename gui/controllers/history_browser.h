// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/live_monitor.h"
#include "gui/models/picture_store.h"
#include "gui/views/chart_panel.h"
#include "gui/views/day_night_panel.h"
#include "gui/views/events_table.h"

namespace mpm::gui {

/// Shows the database: chart, day and night, and events of our own database or of another program's, kept up to
/// date. It creates the panels; the owner of their place destroys them first.
class HistoryBrowser : public QObject {
  Q_OBJECT
 public:
  /// `live`: knows where this program stores its samples. `night`: the action that asks what night is.
  HistoryBrowser(const LiveMonitor* live, QAction* night, QObject* parent = nullptr);
  /// Asks for what is there already.
  void begin() { history_->setDatabase(live_->database()); }

  ChartPanel* chartPanel() const { return chart_; }
  DayNightPanel* dayNightPanel() const { return day_night_; }
  QTableView* eventsTable() const { return events_table_; }
  History& history() { return *history_; }

  /// A source was opened, or closed; `source` without credentials.
  void watch(const QString& source);
  void stopWatching();
  /// This program stores in another file from now on.
  void showNewDatabase();
  /// Another program's database, read-only, while that goes on.
  void openForeign(const QString& path);
  /// Back to our own, and to what is watched.
  void closeForeign();
  /// The source that is watched again, after a person chose another one or another database.
  void showWatched();
  bool isWatching() const { return watched_.has_value(); }
  /// The source that is watched is on show.
  bool showsWatched() const;
  /// The name of another program's database that is on show; empty: it is our own.
  QString foreignName() const { return QFileInfo(foreign_).fileName(); }
  /// By which samples of the source are judged from now on; nullopt: those of another program. Until there are samples
  /// the panel shows this one, then the rule by which they were judged.
  void setNightRule(const std::optional<monitor::NightRule>& rule);
  /// What is stored was judged anew.
  void takeJudged();
  /// An event of the source that is watched; kept while another database is on show.
  void add(const monitor::Event& event);
  /// How often refresh() asks the database, ms; for the statistics 15 times more seldom. Default: 2 s.
  void setPeriod(std::int64_t ms) { period_ = ms; }
  /// To be called twice a second. `shown`: when the frame on show was taken; 0: there is none.
  void refresh(UnixMs shown);

  /// The source whose history is on show; as long as nothing is stored, the one that is watched. Empty: none, or a
  /// database of another program is not read yet.
  QString source() const;
  /// Whose pictures belong to it; nullopt: its database was not read yet.
  std::optional<monitor::PictureOwner> owner() const;
  /// What the database says of it; nothing where it was not read yet.
  SourceFacts facts() const;
  void showPictures(const std::vector<StoredPicture>& pictures);
  /// How far from a moment of the chart a picture may be, in seconds.
  double nearness() const;

 signals:
  /// A point in time, in seconds.
  void timePicked(double time);
  void sourceChanged();
  /// Our own database is on show, or another one.
  void foreignChanged();
  void failed(const QString& message);

 private:
  void showOwn();
  void refreshStatistics();
  std::pair<double, double> stretchToJudge() const;
  void takeSource(qint64 source);

  const LiveMonitor* const live_;
  EventsModel* const events_;
  History* const history_;
  ChartPanel* const chart_;
  DayNightPanel* const day_night_;
  QTableView* const events_table_;
  std::optional<QString> watched_;                                     // the source
  QString foreign_;                                                    // the path of another program's database on show
  std::vector<monitor::Event> live_events_;                            // of what is watched, ascending
  std::int64_t period_ = 2000, next_chart_ = 0, next_statistics_ = 0;  // steady ms
  std::pair<double, double> judged_;                                   // the stretch that Day/night shows, s
};

}  // namespace mpm::gui
