// SPDX-License-Identifier: Apache-2.0
#include "gui/views/label_table_panel.h"

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "gui/views/tables.h"
#include "vision/times/name_times.h"

namespace mpm::gui {
namespace {

constexpr int kKeyRole = Qt::UserRole, kIndexRole = Qt::UserRole + 1;  // what is sorted by; the index in counts_

constexpr int kChip = 12;  // px

class SortedItem : public QTableWidgetItem {
 public:
  SortedItem(const QString& text, const QVariant& key) : QTableWidgetItem(text) { setData(kKeyRole, key); }
  bool operator<(const QTableWidgetItem& other) const override {
    return QVariant::compare(data(kKeyRole), other.data(kKeyRole)) == QPartialOrdering::Less;
  }
};

// Where the name of a picture holds a time: by the clock of the camera. One without an offset is what that clock
// showed.
QDateTime timeOf(const QString& picture, const charts::OptionalClock& clock) {
  const auto written = vision::timeInName(picture.toStdString());
  if (!written) return {};
  const vision::CameraClock utc;
  return dateTime(written->utc(utc), written->offset ? clock : charts::OptionalClock(utc));
}

}  // namespace

LabelTablePanel::LabelTablePanel(QWidget* parent)
    : QWidget(parent),
      table_(plainTable(tr("All labels"), {tr("Picture"), tr("Class"), tr("px"), QStringLiteral("%")}, 6)),
      none_(wrapped(mutedLabel(tr("No labels yet")))),
      remove_(pushButton(tr("Remove these labels"), tr("Those of this class in this picture (Delete)"), this,
                         &LabelTablePanel::remove)) {
  table_->horizontalHeaderItem(3)->setToolTip(tr("Share of the picture"));
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setTextElideMode(Qt::ElideNone);  // the frame of the current row takes 2 px
  table_->setIconSize(QSize(kChip, kChip));
  table_->setMinimumHeight(80);
  table_->sortByColumn(0, Qt::AscendingOrder);
  new QShortcut(Qt::Key_Delete, table_, this, &LabelTablePanel::remove, Qt::WidgetShortcut);
  remove_->setEnabled(false);
  fill(new QVBoxLayout(this), none_, table_, remove_)->setContentsMargins(8, 8, 8, 8);
  const auto go = [this](const QModelIndex& index) {
    const auto& count = counts_[index.siblingAtColumn(0).data(kIndexRole).toUInt()];
    emit picked(count.picture, count.label);
  };
  connect(table_, &QTableWidget::clicked, this, go);
  connect(table_, &QTableWidget::activated, this, go);
  connect(table_, &QTableWidget::currentItemChanged, this, [this](auto* item) { remove_->setEnabled(item); });
}

void LabelTablePanel::setLabels(const std::vector<LabelCount>& counts, const QStringList& names,
                                const std::vector<QColor>& colors, const charts::OptionalClock& clock) {
  const QString zone = clock ? QString::fromStdString(clock->zone()) : QString();
  if (counts == counts_ && names == names_ && colors == colors_ && zone == zone_) return;
  const int row = table_->currentRow();
  const LabelCount before = row < 0 ? LabelCount() : counts_[table_->item(row, 0)->data(kIndexRole).toUInt()];
  counts_ = counts;
  names_ = names;
  colors_ = colors;
  zone_ = zone;
  table_->setSortingEnabled(false);
  table_->setRowCount(static_cast<int>(counts.size()));
  QTableWidgetItem* same = nullptr;
  for (int i = 0; i < table_->rowCount(); ++i) {
    const LabelCount& one = counts[static_cast<std::size_t>(i)];
    const QDateTime time = timeOf(one.picture, clock);
    const QString name = names.value(one.label), percent = number(100 * one.share, 1);
    QPixmap swatch(kChip, kChip);
    swatch.fill(colors[static_cast<std::size_t>(one.label)]);
    auto* picture = new SortedItem(time.isValid() ? QLocale().toString(time, kMinuteFormat) : one.picture,
                                   time.toString(Qt::ISODate) + one.picture);
    picture->setData(kIndexRole, i);
    auto* label = new SortedItem(name, name);
    label->setIcon(plainIcon(swatch));
    QTableWidgetItem* const cells[] = {picture, label, new SortedItem(QLocale().toString(one.pixels), one.pixels),
                                       new SortedItem(percent, one.share)};
    for (int c = 0; c < 4; ++c) {
      if (c > 1) cells[c]->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      cells[c]->setToolTip(
          tr("%1: %2 px of %3, %4 % of the picture").arg(name, QLocale().toString(one.pixels), one.picture, percent));
      table_->setItem(i, c, cells[c]);
    }
    if (one.picture == before.picture && one.label == before.label) same = picture;
  }
  table_->setSortingEnabled(true);
  if (row >= 0) table_->setCurrentCell(same ? table_->row(same) : std::min(row, table_->rowCount() - 1), 0);
  none_->setVisible(counts.empty());
}

void LabelTablePanel::remove() {
  if (table_->currentRow() < 0) return;
  const LabelCount count = counts_[table_->item(table_->currentRow(), 0)->data(kIndexRole).toUInt()];
  emit removeRequested(count.picture, count.label);
}

}  // namespace mpm::gui
