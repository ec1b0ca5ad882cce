// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

namespace mpm::gui {

/// A row that goes on below when it is full, so that no window has to be as wide as all of it. Hidden widgets take no
/// space.
class WrappingRow : public QLayout {
 public:
  WrappingRow() { setContentsMargins(0, 0, 0, 0); }
  ~WrappingRow() override { qDeleteAll(items_); }

  void addItem(QLayoutItem* item) override { items_.append(item); }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override { return index < count() && index >= 0 ? items_.takeAt(index) : nullptr; }

  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return place(QRect(0, 0, width, 0), false); }
  QSize sizeHint() const override;
  QSize minimumSize() const override;
  void setGeometry(const QRect& rect) override;

 private:
  /// Lays the rows out in `rect`, for real if `move`; returns their height.
  int place(const QRect& rect, bool move) const;

  QList<QLayoutItem*> items_;
};

}  // namespace mpm::gui
