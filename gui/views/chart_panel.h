// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/history.h"
#include "gui/models/legend_model.h"
#include "gui/views/time_chart.h"

namespace mpm::gui {

/// The chart with the choice of what it draws, of which source, over how long.
class ChartPanel : public QWidget {
  Q_OBJECT
 public:
  ChartPanel(History* history, QWidget* parent = nullptr);

  TimeChart* chart() const { return chart_; }
  /// Which source's samples to draw, by the name it has in the database; picked again when it appears there. Where
  /// another program's database has no such source, it is the last one.
  void setSourceName(const QString& name);
  /// The database is another one.
  void forgetSources();
  /// A class has its colour of the picture here too; one that is missing has a colour by its place.
  void setClassColors(ClassColors colors);
  std::optional<std::int64_t> source() const;
  /// Sets "now", in seconds, for the source that is being watched where its time is not the clock's; nullopt: the
  /// clock's. For any other source, and for an archive, it is the last sample.
  void setPresent(const QString& watched, std::optional<double> present);
  double present() const;
  /// Says above the chart that another program's database is on show, with a button that leads back to the live source,
  /// or, with none watched, to our own database. An empty name: it is our own.
  void setForeign(const QString& name, bool watching);
  /// The name of the source on show; empty: none.
  QString sourceName() const { return sources_->currentData(Qt::ToolTipRole).toString(); }
  /// Its name in the list of sources.
  QString sourceText() const { return sources_->currentText(); }
  /// The region whose numbers are drawn; empty: the whole picture.
  QString region() const { return regions_->currentData().toString(); }
  std::optional<monitor::SourceRecord> record() const;
  /// Asks for what is new; moves the axis on while it follows the clock. A chart that is not seen keeps what it has.
  void refresh();

  /// The last hour, day...; the end is always the present.
  enum class Span { kHour, kDay, kWeek, kAll };
  /// A person chose it: it comes back with restore(), and for each source but archives, which are shown as a whole.
  void chooseSpan(Span span);
  void showSpan(Span span);
  /// The lines and the period on show, under the keys of the settings.
  QVariantMap state() const;
  /// Takes over what state() gave; what is missing or makes no sense becomes the default.
  void restore(const QSettings& stored);

 signals:
  void sourcePicked(qint64 source);
  /// A person picked it.
  void sourceChosen();
  void backRequested();

 protected:
  bool event(QEvent* event) override;

 private:
  void fillSources();
  void takeSources(const std::vector<monitor::SourceRecord>& sources);
  void clearSource();
  void takePicked(qint64 id);
  void setClasses(const QStringList& names);
  void setRegions(const QStringList& names);
  void pickRegion(int index);
  QToolButton* menuButton(const QString& text, const QString& tip);
  void ask(double from, double to, int max_buckets);
  void updateSeries();
  void askAgain();
  void follow();
  bool ended() const;

  History* history_;
  TimeChart* chart_;
  QWidget* foreign_bar_;
  QLabel* foreign_;
  QPushButton* back_;
  QComboBox *sources_, *regions_;
  QButtonGroup* spans_;
  QToolButton *values_, *areas_, *follow_;  // the menu of values_ has an action for each quantity, named by its key
  Span span_ = Span::kHour, chosen_span_ = Span::kHour;
  bool whole_ = false;             // an archive is on show
  std::optional<double> present_;  // of watched_
  QString wanted_, watched_, wanted_region_;
  QStringList classes_, wanted_classes_;  // of the source; of any, whose areas are drawn
  ClassColors colors_;
  std::vector<monitor::SourceRecord> records_;
  using ListedSource = std::tuple<qint64, QString, QString>;  // its id, title and name
  std::vector<ListedSource> listed_;                          // rows of sources_
};

}  // namespace mpm::gui
