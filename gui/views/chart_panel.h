// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/history_sources.h"
#include "gui/models/legend_model.h"
#include "gui/views/time_chart.h"

namespace mpm::gui {

/// The chart with the choice of what it draws, of which source, over how long.
class ChartPanel : public QWidget {
  Q_OBJECT
 public:
  /// `sources`: those of the database that `history` reads.
  ChartPanel(History* history, HistorySources* sources, QWidget* parent = nullptr);

  TimeChart* chart() const { return chart_; }
  /// A class has its colour of the picture here too; one that is missing has a colour by its place.
  void setClassColors(ClassColors colors);
  /// What the list of sources calls the one on show.
  QString sourceText() const { return list_->currentText(); }
  /// The region whose numbers are drawn; empty: the whole picture.
  QString region() const { return regions_->currentData().toString(); }
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

 protected:
  bool event(QEvent* event) override;

 private:
  void addQuantities();
  void arrange();
  void connectParts();
  void fillList();
  void takeSource();
  QStringList classes() const;
  void setClasses(const QStringList& names);
  void setRegions(const QStringList& names);
  void pickRegion(int index);
  QToolButton* menuButton(const QString& text, const QString& tip);
  void ask(double from, double to, int max_buckets);
  void updateSeries();
  void askAgain();
  void follow();

  History* const history_;
  HistorySources* const sources_;
  TimeChart* const chart_;
  QComboBox* const list_;  // of the sources
  QComboBox* const regions_;
  QToolButton* const values_;
  QToolButton* const areas_;
  QToolButton* const follow_;
  QButtonGroup* const spans_;
  // What a person chose to see of any source; the numbers are those of the actions of values_.
  struct Chosen {
    Span span = Span::kHour;
    QStringList areas{};  // classes
    QString region{};     // empty: the whole picture
  };

  Chosen chosen_;
  Span span_ = Span::kHour;  // on show
  bool whole_ = false;       // an archive is on show
  ClassColors colors_;
};

}  // namespace mpm::gui
