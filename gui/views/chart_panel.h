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
  QStringList classes() const;
  void setClasses(const QStringList& names);
  void setRegions(const QStringList& names);
  void pickRegion(int index);
  QToolButton* menuButton(const QString& text, const QString& tip);
  void ask(double from, double to, int max_buckets);
  void updateSeries();
  void askAgain();
  void follow();
  bool ended() const;

  History* const history_;
  TimeChart* const chart_;
  QComboBox* const sources_;
  QComboBox* const regions_;
  QToolButton* const values_;
  QToolButton* const areas_;
  QToolButton* const follow_;
  QButtonGroup* const spans_;
  QWidget* const foreign_bar_;
  QLabel* const foreign_;
  QPushButton* const back_;
  // What a person chose to see of any source; the numbers are those of the actions of values_.
  struct Chosen {
    Span span = Span::kHour;
    QStringList areas{};  // classes
    QString region{};     // empty: the whole picture
  };
  // The "now" of the source that is watched.
  struct Present {
    QString source{};
    std::optional<double> time{};  // s; nullopt: the clock's
  };

  Chosen chosen_;
  Span span_ = Span::kHour;  // on show
  bool whole_ = false;       // an archive is on show
  Present present_;
  QString wanted_;  // a source that may not be there yet
  ClassColors colors_;
  std::vector<monitor::SourceRecord> records_;
};

}  // namespace mpm::gui
