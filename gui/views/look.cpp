// SPDX-License-Identifier: Apache-2.0
#include "gui/views/look.h"

#include <QApplication>
#include <QDialog>
#include <QEvent>
#include <QHeaderView>
#include <QIconEngine>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QStyle>
#include <QTableView>
#include <QVariant>
#include <utility>

#include "gui/views/themed_style.h"

namespace mpm::gui {
namespace {

constexpr char kValueName[] = "value_name";

Theme& current() {
  static Theme theme = lightTheme();
  return theme;
}

// On a field of 24 x 24.
void paintGlyph(Glyph glyph, QPainter& p) {
  const auto line = [&p](std::initializer_list<QPointF> points) { p.drawPolyline(QPolygonF(QList<QPointF>(points))); };
  const QBrush solid(p.pen().color());
  switch (glyph) {
    case Glyph::kCamera:
      p.drawRoundedRect(QRectF(2.5, 6.5, 13, 11), 2, 2);
      p.drawPolygon(QPolygonF(QList<QPointF>{{15.5, 10.5}, {21.5, 7.5}, {21.5, 16.5}, {15.5, 13.5}}));
      break;
    case Glyph::kVideo:
      p.drawRoundedRect(QRectF(3, 4.5, 18, 15), 2, 2);
      p.setBrush(solid);
      p.drawPolygon(QPolygonF(QList<QPointF>{{10, 8.5}, {15.5, 12}, {10, 15.5}}));
      break;
    case Glyph::kFolder:
      p.drawPolygon(QPolygonF(QList<QPointF>{{2.5, 18.5}, {2.5, 5.5}, {9, 5.5}, {11, 8}, {21.5, 8}, {21.5, 18.5}}));
      break;
    case Glyph::kNetwork:
      p.drawEllipse(QRectF(3, 3, 18, 18));
      p.drawEllipse(QRectF(8, 3, 8, 18));
      line({{3, 12}, {21, 12}});
      break;
    case Glyph::kPipeline:
      for (double x : {2.5, 9.5, 16.5}) p.drawRoundedRect(QRectF(x, 9, 5, 6), 1, 1);
      line({{7.5, 12}, {9.5, 12}});
      line({{14.5, 12}, {16.5, 12}});
      break;
    case Glyph::kDemo: {
      p.drawEllipse(QPointF(12, 12), 4, 4);
      for (int i = 0; i < 8; ++i) {
        p.save();
        p.translate(12, 12);
        p.rotate(45 * i);
        p.drawLine(QPointF(0, -7), QPointF(0, -9.5));
        p.restore();
      }
      break;
    }
    case Glyph::kPause:
      p.setBrush(solid);
      p.drawRect(QRectF(6, 5, 3.5, 14));
      p.drawRect(QRectF(14.5, 5, 3.5, 14));
      break;
    case Glyph::kImage:
    case Glyph::kSnapshot:
      if (glyph == Glyph::kSnapshot) {
        p.drawRoundedRect(QRectF(2.5, 7, 19, 12.5), 2, 2);
        line({{8, 7}, {9.5, 4.5}, {14.5, 4.5}, {16, 7}});
        p.drawEllipse(QPointF(12, 13), 3.7, 3.7);
        break;
      }
      p.drawRoundedRect(QRectF(3, 4.5, 18, 15), 2, 2);
      line({{4, 18}, {9.5, 11.5}, {13, 15.5}, {16, 12.5}, {20.5, 17.5}});
      p.drawEllipse(QPointF(15.5, 8.7), 1.6, 1.6);
      break;
    case Glyph::kMask:
      p.drawRoundedRect(QRectF(3, 4.5, 18, 15), 2, 2);
      p.setBrush(solid);
      p.drawPolygon(QPolygonF(QList<QPointF>{{4, 18.5}, {4, 13}, {9, 9}, {14, 14}, {20, 11}, {20, 18.5}}));
      break;
    case Glyph::kOverlay:
      p.drawRoundedRect(QRectF(3, 3, 12.5, 12.5), 2, 2);
      p.setBrush(solid);
      p.setOpacity(p.opacity() * 0.55);
      p.drawRoundedRect(QRectF(8.5, 8.5, 12.5, 12.5), 2, 2);
      break;
    case Glyph::kCurtain:
      p.drawRoundedRect(QRectF(3, 4.5, 18, 15), 2, 2);
      line({{12, 2.5}, {12, 21.5}});
      p.setBrush(solid);
      p.setOpacity(p.opacity() * 0.55);
      p.drawRect(QRectF(12.5, 5, 8, 14));
      break;
    case Glyph::kRecord:
      p.drawEllipse(QPointF(12, 12), 8.5, 8.5);
      p.setBrush(solid);
      p.drawEllipse(QPointF(12, 12), 4, 4);
      break;
    case Glyph::kExport:
      line({{12, 15}, {12, 3.5}});
      line({{7.5, 8}, {12, 3.5}, {16.5, 8}});
      line({{4, 13}, {4, 20}, {20, 20}, {20, 13}});
      break;
    case Glyph::kModel:
      for (double y : {5.0, 12.0, 19.0})
        for (double x : {6.0, 18.0}) p.drawEllipse(QPointF(x, y), 2, 2);
      for (double a : {5.0, 12.0, 19.0})
        for (double b : {5.0, 12.0, 19.0}) p.drawLine(QPointF(8, a), QPointF(16, b));
      break;
    case Glyph::kTheme: {
      p.drawEllipse(QPointF(12, 12), 8.5, 8.5);
      p.setBrush(solid);
      QPainterPath half;
      half.moveTo(12, 3.5);
      half.arcTo(QRectF(3.5, 3.5, 17, 17), 90, -180);
      half.closeSubpath();
      p.drawPath(half);
      break;
    }
    case Glyph::kHelp: {
      p.drawEllipse(QPointF(12, 12), 9, 9);
      QPainterPath hook;
      hook.moveTo(9, 9.7);
      hook.cubicTo(9, 5.5, 15.3, 5.8, 15.1, 9.6);
      hook.cubicTo(15, 12, 12, 11.8, 12, 14);
      p.drawPath(hook);
      p.setBrush(solid);
      p.drawEllipse(QPointF(12, 17), 0.6, 0.6);
      break;
    }
    case Glyph::kClose:
      line({{6, 6}, {18, 18}});
      line({{18, 6}, {6, 18}});
      break;
    case Glyph::kPrevious:
      line({{14.5, 5.5}, {8, 12}, {14.5, 18.5}});
      break;
    case Glyph::kNext:
      line({{9.5, 5.5}, {16, 12}, {9.5, 18.5}});
      break;
    case Glyph::kCompare:
      line({{3, 8}, {17, 8}});
      line({{13, 4}, {17, 8}, {13, 12}});
      line({{21, 16}, {7, 16}});
      line({{11, 12}, {7, 16}, {11, 20}});
      break;
    case Glyph::kLayout:
      p.drawRoundedRect(QRectF(3, 4.5, 18, 15), 2, 2);
      line({{8.5, 4.5}, {8.5, 19.5}});
      line({{8.5, 14}, {21, 14}});
      break;
  }
}

class GlyphEngine : public QIconEngine {
 public:
  explicit GlyphEngine(Glyph glyph) : glyph_(glyph) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
    QColor color = theme().text;
    if (mode == QIcon::Disabled) color = theme().palette().color(QPalette::Disabled, QPalette::Text);
    if (state == QIcon::On) color = theme().on_accent;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const double side = std::min(rect.width(), rect.height());
    painter->translate(rect.center() + QPointF(0.5, 0.5) - QPointF(side, side) / 2);
    painter->scale(side / 24, side / 24);
    painter->setPen(QPen(color, 1.7, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter->setBrush(Qt::NoBrush);
    paintGlyph(glyph_, *painter);
    painter->restore();
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap result(size);
    result.fill(Qt::transparent);
    QPainter painter(&result);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return result;
  }
  QIconEngine* clone() const override { return new GlyphEngine(*this); }

 private:
  Glyph glyph_;
};

class ContentScroll : public QScrollArea {
 public:
  QSize sizeHint() const override { return widget()->sizeHint() + QSize(verticalScrollBar()->sizeHint().width(), 2); }
  QSize minimumSizeHint() const override { return {160, 80}; }
};

// A property that the style sheet looks at; it does not look again by itself.
void mark(QWidget* widget, const char* property, const QVariant& value) {
  widget->setProperty(property, value);
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

class RowHeight : public QObject {
 public:
  RowHeight(QTableView* table, int air) : QObject(table), table_(table), air_(air) {
    table->installEventFilter(this);
    apply();
  }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) apply();
    return QObject::eventFilter(object, event);
  }

 private:
  void apply() {
    table_->verticalHeader()->setMinimumSectionSize(0);
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + air_);
  }
  QTableView* table_;
  int air_;
};

}  // namespace

const Theme& theme() { return current(); }

void applyLook(const Theme& look, int font_percent) {
  current() = look;
  static const QFont desktop = QApplication::font();
  QFont font = desktop;
  font.setPointSizeF(desktop.pointSizeF() * font_percent / 100.0);
  static bool styled = false;
  if (!std::exchange(styled, true)) QApplication::setStyle(new ThemedStyle);
  if (QApplication::font() != font) QApplication::setFont(font);  // each of these asks every widget
  QApplication::setPalette(look.palette());
  qApp->setStyleSheet(look.styleSheet());
}

QIcon icon(Glyph glyph) { return QIcon(new GlyphEngine(glyph)); }

QLabel* namedValue(QLabel* label, const QString& name) {
  label->setProperty(kValueName, name);
  const QString text = label->text();
  label->setAccessibleName(text.isEmpty() ? name : QStringLiteral("%1: %2").arg(name, text));
  return label;
}

QString valueName(const QLabel* label) { return label->property(kValueName).toString(); }

void setValue(QLabel* label, const QString& text) {
  if (label->text() == text) return;
  label->setText(text);
  namedValue(label, valueName(label));
}

QLabel* mutedLabel(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("muted", true);
  return label;
}

QLabel* headingLabel(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("heading", true);
  return label;
}

QScrollArea* scrolled(QWidget* content) {
  auto* area = new ContentScroll;
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidget(content);
  return area;
}

void fitToWindow(QDialog* dialog, QSize size) {
  constexpr QSize kFrame(0, 40);  // the title of the window
  if (!size.isValid()) size = dialog->sizeHint();
  if (const QScreen* screen = dialog->screen()) size = size.boundedTo(screen->availableSize() - kFrame);
  if (const QWidget* parent = dialog->parentWidget())
    size = size.boundedTo((parent->window()->size() - kFrame).expandedTo(QSize(480, 320)));
  dialog->resize(size);
}

void rowsFollowFont(QTableView* table, int air) { new RowHeight(table, air); }

void setBadge(QLabel* label, const char* kind) {
  const QString value = QString::fromLatin1(kind);
  if (label->property("badge").toString() == value) return;
  mark(label, "badge", value);
}

void makePrimary(QPushButton* button) { mark(button, "primary", true); }

}  // namespace mpm::gui
