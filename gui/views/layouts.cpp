// SPDX-License-Identifier: Apache-2.0
#include "gui/views/layouts.h"

#include "gui/views/labels.h"
#include "gui/views/look.h"

namespace mpm::gui {
namespace {

class ContentScroll : public QScrollArea {
 public:
  explicit ContentScroll(QWidget* content) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);  // a dialog begins with its first field
    setWidget(content);
    content->installEventFilter(this);
  }
  QSize sizeHint() const override { return widget()->sizeHint() + QSize(bar(), 2); }
  QSize minimumSizeHint() const override {
    constexpr int kWidest = 290;  // of 1280 px, the pictures need the half
    return {std::min(kWidest, widget()->minimumSizeHint().width() + bar()), 60};
  }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    if (object == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::eventFilter(object, event);
  }

 private:
  int bar() const { return verticalScrollBar()->sizeHint().width(); }
};

// Its keys are those of any scroll bar. Where all is seen it is hidden, and takes no focus.
class FocusedBar : public QScrollBar {
 public:
  FocusedBar() : QScrollBar(Qt::Vertical) { setFocusPolicy(Qt::TabFocus); }

 protected:
  void paintEvent(QPaintEvent* event) override {
    QScrollBar::paintEvent(event);
    QPainter painter(this);
    paintFocus(painter, this);
  }
};

class WrappingRow : public QLayout {
 public:
  ~WrappingRow() override { qDeleteAll(items_); }

  void addItem(QLayoutItem* item) override { items_.append(item); }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override { return index < count() && index >= 0 ? items_.takeAt(index) : nullptr; }

  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return place(QRect(0, 0, width, 0), false); }
  QSize sizeHint() const override {
    QSize size(0, 0);
    for (const QLayoutItem* item : items_) {
      if (!item->isEmpty()) {
        size = {size.width() + (size.width() > 0 ? spacing() : 0) + item->sizeHint().width(),
                std::max(size.height(), item->sizeHint().height())};
      }
    }
    return size;
  }
  QSize minimumSize() const override {
    QSize size(0, 0);
    for (const QLayoutItem* item : items_)
      if (!item->isEmpty()) size = size.expandedTo(item->minimumSize());
    return size;
  }
  void setGeometry(const QRect& rect) override {
    QLayout::setGeometry(rect);
    place(rect, true);
  }

 private:
  // Lays the rows out in `rect`, for real if `move`; returns their height.
  int place(const QRect& rect, bool move) const {
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

  QList<QLayoutItem*> items_;
};

}  // namespace

QLayout* wrappingRow(int spacing, const QWidgetList& widgets) {
  auto* row = unframed(new WrappingRow);
  row->setSpacing(spacing);
  for (QWidget* widget : widgets) row->addWidget(widget);
  return row;
}

QScrollArea* scrolled(QWidget* content, const QString& bar) {
  auto* area = new ContentScroll(content);
  if (bar.isEmpty()) return area;
  area->setVerticalScrollBar(named(new FocusedBar, bar));
  return area;
}

}  // namespace mpm::gui
