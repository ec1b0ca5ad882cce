// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/live_monitor.h"
#include "gui/models/events_model.h"
#include "gui/models/history_sources.h"
#include "gui/models/picture_store.h"

namespace mpm::gui {

/// Keeps the history on show up to date: of our own database or of another program's, of one source, its samples,
/// statistics and events.
class HistoryBrowser : public QObject {
  Q_OBJECT
 public:
  /// `live`: knows where this program stores its samples.
  explicit HistoryBrowser(const LiveMonitor* live, QObject* parent = nullptr);
  /// Asks for what is there already.
  void begin() { history_->setDatabase(live_->database()); }

  History* history() const { return history_; }
  HistorySources* sources() const { return sources_; }
  EventsModel* events() const { return events_; }

  /// This program opened a source, or closed it; `source` without credentials.
  void open(const QString& source);
  void close();
  /// This program stores in another file from now on.
  void showNewDatabase();
  /// Another program's database, read-only, while that goes on.
  void openForeign(const QString& path);
  /// Back to our own, and to the source that is open.
  void closeForeign();
  /// The source that is open again, after a person chose another one or another database.
  void showOpened();
  bool isOpen() const { return opened_.has_value(); }
  /// The source that is open is on show.
  bool showsOpened() const;
  /// The name of another program's database that is on show; empty: it is our own.
  QString foreignName() const { return QFileInfo(foreign_).fileName(); }
  /// What is stored was judged anew.
  void takeJudged();
  /// An event of the source that is open; kept while another database is on show.
  void add(const monitor::Event& event);
  /// The period that the chart shows, s.
  void setPeriod(double from, double to);
  /// How often refresh() asks the database, ms; for the statistics 15 times more seldom. Default: 2 s.
  void setPace(std::int64_t ms) { pace_ = ms; }
  /// To be called twice a second. `shown`: when the frame on show was taken; 0: there is none.
  void refresh(UnixMs shown);

  /// The source whose history is on show; as long as nothing is stored, the one that is open. Empty: none, or a
  /// database of another program is not read yet.
  QString source() const;
  /// By which its times are shown; before it is known, that of the machine.
  charts::Clock clock() const;
  /// Whose pictures belong to it; nullopt: its database was not read yet.
  std::optional<monitor::PictureOwner> owner() const;
  /// What the database says of it; nothing where it was not read yet.
  SourceFacts facts() const;
  /// When those of them were taken that belong to it, s.
  std::vector<double> timesOf(const std::vector<StoredPicture>& pictures) const;
  /// How far from a moment of the chart a picture may be, in seconds.
  double nearness() const { return std::max(2.0, (period_.second - period_.first) / 50); }

 signals:
  void sourceChanged();
  /// Our own database is on show, or another one.
  void foreignChanged();
  /// There may be new samples of the source on show.
  void grown();
  /// What Day/night shows; nullopt: nothing is known of the source on show yet.
  void judged(const std::optional<mpm::gui::JudgedHistory>& history);
  void failed(const QString& message);

 private:
  void showOwn();
  void refreshStatistics();
  std::pair<double, double> periodToJudge() const;
  void takeSource();

  const LiveMonitor* const live_;
  EventsModel* const events_;
  History* const history_;
  HistorySources* const sources_;
  std::optional<QString> opened_;                                    // the source that this program has open
  QString foreign_;                                                  // the path of another program's database on show
  std::vector<monitor::Event> live_events_;                          // of the source that is open, ascending
  std::int64_t pace_ = 2000, next_chart_ = 0, next_statistics_ = 0;  // steady ms
  std::pair<double, double> period_, judged_;                        // that the chart and Day/night show, s
};

}  // namespace mpm::gui
