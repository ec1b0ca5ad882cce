// SPDX-License-Identifier: Apache-2.0
#include "gui/views/wrapping_row.h"

namespace mpm::gui {

QSize WrappingRow::sizeHint() const {
  QSize size(0, 0);
  for (const QLayoutItem* item : items_) {
    if (item->isEmpty()) continue;
    size = {size.width() + (size.width() > 0 ? spacing() : 0) + item->sizeHint().width(),
            std::max(size.height(), item->sizeHint().height())};
  }
  return size;
}

QSize WrappingRow::minimumSize() const {
  QSize size(0, 0);
  for (const QLayoutItem* item : items_)
    if (!item->isEmpty()) size = size.expandedTo(item->minimumSize());
  return size;
}

void WrappingRow::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  place(rect, true);
}

int WrappingRow::place(const QRect& rect, bool move) const {
  int x = rect.x(), y = rect.y(), row_height = 0;
  for (QLayoutItem* item : items_) {
    if (item->isEmpty()) continue;
    const QSize size =
        item->sizeHint().boundedTo(QSize(std::max(rect.width(), item->minimumSize().width()), QLAYOUTSIZE_MAX));
    if (x > rect.x() && x + size.width() > rect.x() + rect.width()) {
      x = rect.x();
      y += row_height + spacing();
      row_height = 0;
    }
    if (move) item->setGeometry(QRect(QPoint(x, y), size));
    x += size.width() + spacing();
    row_height = std::max(row_height, size.height());
  }
  return y + row_height - rect.y();
}

}  // namespace mpm::gui
