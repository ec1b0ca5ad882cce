// SPDX-License-Identifier: Apache-2.0
#include "gui/views/merge_view.h"

#include "gui/models/theme.h"

namespace mpm::gui {

int MergeView::step() const {
  return frame() && frame()->hasGrid() ? std::min(selection().step(), frame()->lookup.steps() - 1) : 0;
}

void MergeView::paintPicture(QPainter& painter, const Viewport& view) {
  if (!frame()->hasGrid()) {
    painter.setPen(theme().on_canvas);
    painter.drawText(rect(), Qt::AlignCenter, tr("No merge map for this picture"));
    return;
  }
  const MergeLookup& lookup = frame()->lookup;
  if (std::exchange(stale_, false) || shown_step_ != step()) {
    shown_step_ = step();
    fill_ = mergeFill(lookup, shown_step_, coloring_, frame()->patch_colors);
    borders_ = mergeBorders(lookup, shown_step_);
  }
  const Size2 grid = lookup.grid();
  const auto cellOf = [&](int token) {
    const int x = token % grid.width, y = token / grid.width;
    return QRect(view.corner(x, y, grid), view.corner(x + 1, y + 1, grid) - QPoint(1, 1));
  };
  painter.setClipRect(rect());
  for (int token = 0; token < lookup.tokens(); ++token)
    if (const QRect cell = cellOf(token); cell.intersects(rect())) painter.fillRect(cell, QColor(fill_[token]));
  QVector<QLine> lines;
  for (const GridLine& line : borders_)
    lines.append({view.corner(line.x1, line.y1, grid), view.corner(line.x2, line.y2, grid)});
  // The mean colours of a picture need a light line between them, flat fills a dark one.
  painter.setPen(QPen(coloring_ == MergeColoring::kMean ? QColor(255, 255, 255, 170) : QColor(0, 0, 0, 150), 0));
  painter.drawLines(lines);

  if (coloring_ == MergeColoring::kSize && cellOf(0).width() >= 2 * fontMetrics().averageCharWidth() + 6) {
    for (int token = 0; token < lookup.tokens(); ++token) {
      const int size = lookup.size(shown_step_, token);
      if (size < 2) continue;
      painter.setPen(readableOn(QColor(fill_[token])));
      painter.drawText(cellOf(token), Qt::AlignCenter, QString::number(size));
    }
  }
  if (coloring_ != MergeColoring::kMean) paintKey(painter);
  paintMeaning(painter, view.pictureRect());
}

// Says above the picture what the cells are, where the window leaves space.
void MergeView::paintMeaning(QPainter& painter, const QRectF& picture) {
  const QString meaning =
      shown_step_ == 0 ? tr("Each cell is one token: a patch that the network works on.")
                       : tr("Each cell is one token: patches that look alike to the network were averaged, and from "
                            "this block on it works on the cells alone.");
  QRect above(0, 0, width(), static_cast<int>(picture.top()));
  if (!banner().isEmpty()) return;
  above.adjust(16, 2, -16, -2);
  const QRect needed = fontMetrics().boundingRect(above, Qt::AlignCenter | Qt::TextWordWrap, meaning);
  if (!above.contains(needed)) return;
  painter.setPen(theme().on_canvas);
  painter.drawText(above, Qt::AlignCenter | Qt::TextWordWrap, meaning);
}

void MergeView::paintKey(QPainter& painter) {
  std::vector<std::pair<QColor, QString>> entries;
  if (coloring_ == MergeColoring::kSize) {
    const QString labels[kSizeBins] = {tr("1 patch"), tr("2"), tr("3–4"), tr("5–8"), tr("9 and more")};
    for (int bin = 0; bin < kSizeBins; ++bin) entries.emplace_back(QColor(sizeColor(bin)), labels[bin]);
  } else {
    entries.emplace_back(QColor(insertionColor(0)), tr("not merged"));
    for (int k = 1; k <= step(); ++k)
      entries.emplace_back(QColor(insertionColor(k)), tr("before block %1").arg(frame()->lookup.block(k)));
  }
  const int row = fontMetrics().height() + 4;
  int width_needed = 0;
  for (const auto& [color, text] : entries)
    width_needed = std::max(width_needed, fontMetrics().horizontalAdvance(text));
  const int count = static_cast<int>(entries.size());
  const QRect box(8, height() - count * row - 20, width_needed + row + 24, count * row + 12);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(QColor(0, 0, 0, 190));
  painter.drawRoundedRect(box, 6, 6);
  for (int i = 0; i < count; ++i) {
    const int y = box.top() + 6 + i * row;
    painter.setPen(QPen(QColor(255, 255, 255, 150), 1));
    painter.setBrush(entries[i].first);
    painter.drawRect(QRect(box.left() + 8, y + 3, row - 8, row - 8));
    painter.setPen(Qt::white);
    painter.drawText(QRect(box.left() + row + 8, y, width_needed + 8, row), Qt::AlignVCenter | Qt::AlignLeft,
                     entries[i].second);
  }
}

}  // namespace mpm::gui
