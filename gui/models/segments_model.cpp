// SPDX-License-Identifier: Apache-2.0
#include "gui/models/segments_model.h"

#include <QLocale>
#include <algorithm>
#include <utility>

namespace mpm::gui {

SegmentsModel::SegmentsModel(const LegendModel* legend, QObject* parent)
    : QAbstractTableModel(parent), legend_(legend) {
  connect(legend, &LegendModel::paintChanged, this, [this] {
    if (!segments_.empty()) emit dataChanged(index(0, kName), index(rowCount() - 1, kName), {Qt::DecorationRole});
  });
}

void SegmentsModel::setSegments(std::vector<Segment> segments, std::size_t pixels) {
  std::stable_sort(segments.begin(), segments.end(),
                   [](const Segment& a, const Segment& b) { return a.area > b.area; });
  const bool same_rows = segments.size() == segments_.size();  // the table keeps its place
  if (!same_rows) beginResetModel();
  segments_ = std::move(segments);
  pixels_ = std::max<std::size_t>(pixels, 1);
  if (!same_rows) return endResetModel();
  if (!segments_.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
}

int SegmentsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(segments_.size());
}
int SegmentsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant SegmentsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Segment& segment = segments_[index.row()];
  const bool known = segment.label < legend_->classes();
  switch (role) {
    case Qt::DisplayRole:
      if (index.column() == kName) return known ? legend_->name(segment.label) : QVariant();
      if (index.column() == kScore) return tr("%1 %").arg(QLocale().toString(100 * segment.score, 'f', 0));
      return tr("%1 %").arg(
          QLocale().toString(100.0 * static_cast<double>(segment.area) / static_cast<double>(pixels_), 'f', 1));
    case Qt::DecorationRole:
      return index.column() == kName && known ? QVariant(legend_->color(segment.label)) : QVariant();
    case Qt::TextAlignmentRole:
      return index.column() == kName ? QVariant() : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    default:
      return {};
  }
}

QVariant SegmentsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == kName ? tr("Segment") : section == kScore ? tr("Score") : tr("Area");
}

}  // namespace mpm::gui
