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
#include <QProxyStyle>
#include <QPushButton>
#include <QRegularExpression>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QStyleOption>
#include <QTableView>
#include <QVariant>
#include <utility>
#include <vector>

namespace mpm::gui {
namespace {

constexpr char kValueName[] = "value_name";

Theme& current() {
  static Theme theme = lightTheme();
  return theme;
}

// In the order of Glyph, on a field of 24 x 24: M, L, C and Z as in SVG, O for an ellipse (centre, radii), R for a
// rectangle (left, top, width, height, radius of its corners). F fills what follows, H half.
// NOLINTBEGIN(bugprone-suspicious-missing-comma): long glyphs
constexpr const char* kGlyphs[] = {
    "R 2.5 6.5 13 11 2 M 15.5 10.5 21.5 7.5 21.5 16.5 15.5 13.5 Z",
    "R 3 4.5 18 15 2 F M 10 8.5 15.5 12 10 15.5 Z",
    "M 2.5 18.5 2.5 5.5 9 5.5 11 8 21.5 8 21.5 18.5 Z",
    "O 12 12 9 9 O 12 12 4 9 M 3 12 21 12",
    "R 2.5 9 5 6 1 R 9.5 9 5 6 1 R 16.5 9 5 6 1 M 7.5 12 9.5 12 M 14.5 12 16.5 12",
    "O 12 12 4 4 M 12 5 12 2.5 M 17 7 18.7 5.3 M 19 12 21.5 12 M 17 17 18.7 18.7 M 12 19 12 21.5 M 7 17 5.3 18.7 "
    "M 5 12 2.5 12 M 7 7 5.3 5.3",
    "F R 6 5 3.5 14 0 R 14.5 5 3.5 14 0",
    "R 3 4.5 18 15 2 M 4 18 9.5 11.5 13 15.5 16 12.5 20.5 17.5 O 15.5 8.7 1.6 1.6",
    "R 3 4.5 18 15 2 F M 4 18.5 4 13 9 9 14 14 20 11 20 18.5 Z",
    "R 3 3 12.5 12.5 2 H R 8.5 8.5 12.5 12.5 2",
    "R 3 4.5 18 15 2 M 12 2.5 12 21.5 H R 12.5 5 8 14 0",
    "R 2.5 7 19 12.5 2 M 8 7 9.5 4.5 14.5 4.5 16 7 O 12 13 3.7 3.7",
    "O 12 12 8.5 8.5 F O 12 12 4 4",
    "M 12 15 12 3.5 M 7.5 8 12 3.5 16.5 8 M 4 13 4 20 20 20 20 13",
    "O 6 5 2 2 O 18 5 2 2 O 6 12 2 2 O 18 12 2 2 O 6 19 2 2 O 18 19 2 2 M 8 5 16 5 M 8 5 16 12 M 8 5 16 19 "
    "M 8 12 16 5 M 8 12 16 12 M 8 12 16 19 M 8 19 16 5 M 8 19 16 12 M 8 19 16 19",
    "O 12 12 8.5 8.5 F M 12 3.5 C 16.7 3.5 20.5 7.3 20.5 12 20.5 16.7 16.7 20.5 12 20.5 Z",
    "O 12 12 9 9 M 9 9.7 C 9 5.5 15.3 5.8 15.1 9.6 15 12 12 11.8 12 14 F O 12 17 0.6 0.6",
    "M 6 6 18 18 M 18 6 6 18",
    "M 14.5 5.5 8 12 14.5 18.5",
    "M 9.5 5.5 16 12 9.5 18.5",
    "M 3 8 17 8 M 13 4 17 8 13 12 M 21 16 7 16 M 11 12 7 16 11 20",
    "R 3 4.5 18 15 2 M 8.5 4.5 8.5 19.5 M 8.5 14 21 14",
    "M 4 20 5.5 15 16 4.5 19.5 8 9 18.5 Z M 14 6.5 17.5 10",
    "R 4 4 7 7 1 R 13 13 7 7 1 R 13 4 7 7 1 F R 4 13 7 7 1",
    "M 20 4 11 13 C 8 13 7 15 7 17 7 19 5 20 4 20 8 21 12 20 12 16 12 14.5 11.5 13.5 11 13",
    "M 12 4 20 10 17 20 6 18 4 9 Z",
    "M 9 20 3.5 14.5 13.5 4.5 20.5 11.5 12 20 Z M 8.5 9.5 15.5 16.5",
    "M 4.5 12.5 10 18 19.5 6.5",
    "M 12 3 12 21 M 3 12 21 12 M 9 6 12 3 15 6 M 9 18 12 21 15 18 M 6 9 3 12 6 15 M 18 9 21 12 18 15",
    "M 8 4.5 4 8.5 8 12.5 M 4 8.5 14 8.5 C 18 8.5 20 11 20 13.5 20 16.5 18 18.5 14 18.5",
    "M 16 4.5 20 8.5 16 12.5 M 20 8.5 10 8.5 C 6 8.5 4 11 4 13.5 4 16.5 6 18.5 10 18.5",
    "R 3 4.5 18 15 2 M 4 12 11.5 4.5 M 5 19 19.5 5 M 12.5 19.5 20.5 11.5"};
// NOLINTEND(bugprone-suspicious-missing-comma)

void paintGlyph(const char* drawing, QPainter& p) {
  QPainterPath path;
  std::vector<double> n;  // the numbers of the command so far
  char command = 0;
  for (const QByteArray& word : QByteArray(drawing).split(' ')) {
    if (word[0] >= 'A') {
      command = word[0];
      if (command == 'Z') path.closeSubpath();
      if (command != 'F' && command != 'H') continue;
      p.drawPath(std::exchange(path, {}));
      p.setBrush(p.pen().color());
      if (command == 'H') p.setOpacity(p.opacity() * 0.55);
      continue;
    }
    n.push_back(word.toDouble());
    if (command == 'M' && n.size() == 2)
      path.moveTo(n[0], n[1]);
    else if (command == 'L' && n.size() == 2)
      path.lineTo(n[0], n[1]);
    else if (command == 'C' && n.size() == 6)
      path.cubicTo(n[0], n[1], n[2], n[3], n[4], n[5]);
    else if (command == 'O' && n.size() == 4)
      path.addEllipse(QPointF(n[0], n[1]), n[2], n[3]);
    else if (command == 'R' && n.size() == 5)
      path.addRoundedRect(QRectF(n[0], n[1], n[2], n[3]), n[4], n[4]);
    else
      continue;
    n.clear();
    if (command == 'M') command = 'L';
  }
  p.drawPath(path);
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
    paintGlyph(kGlyphs[static_cast<int>(glyph_)], *painter);
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
  explicit ContentScroll(QWidget* content) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
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

// A property that the style sheet looks at; it does not look again by itself.
void mark(QWidget* widget, const char* property, const QVariant& value) {
  widget->setProperty(property, value);
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

// Fusion with check boxes, radio buttons and the arrow of a tool bar that is too narrow in the colours of the theme.
// Fusion's own outline is a darker shade of the window, which is invisible on a dark window.
class ThemedStyle : public QProxyStyle {
 public:
  ThemedStyle() : QProxyStyle(QStringLiteral("Fusion")) {}
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
  QIcon standardIcon(StandardPixmap which, const QStyleOption* option, const QWidget* widget) const override {
    return which == SP_ToolBarHorizontalExtensionButton ? icon(Glyph::kNext)
                                                        : QProxyStyle::standardIcon(which, option, widget);
  }
  // The arrow needs space for a finger: Fusion's is hidden by the padding that buttons have here.
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
    return metric == PM_ToolBarExtensionExtent ? 28 : QProxyStyle::pixelMetric(metric, option, widget);
  }
};

void ThemedStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                                const QWidget* widget) const {
  const bool radio = element == PE_IndicatorRadioButton;
  if (!radio && element != PE_IndicatorCheckBox && element != PE_IndicatorItemViewItemCheck)
    return QProxyStyle::drawPrimitive(element, option, painter, widget);

  const Theme& look = theme();
  const bool enabled = option->state.testFlag(State_Enabled), on = option->state.testFlag(State_On);
  const bool reached = option->state.testAnyFlags(State_MouseOver | State_HasFocus);
  const QColor off = look.palette().color(QPalette::Disabled, QPalette::Text);
  const QColor fill = on && enabled ? look.accent : enabled ? look.field : look.window;
  const QColor border = !enabled ? off : on || reached ? look.accent : look.muted;
  const QColor mark = enabled ? look.on_accent : off;

  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const QRectF box = QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5);
  painter->setPen(QPen(border, 1));
  painter->setBrush(fill);
  if (radio)
    painter->drawEllipse(box);
  else
    painter->drawRoundedRect(box, 2.5, 2.5);
  const auto at = [&](double x, double y) { return box.topLeft() + QPointF(x * box.width(), y * box.height()); };
  painter->setPen(QPen(mark, box.width() / 7, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  if (on && radio) {
    painter->setPen(Qt::NoPen);
    painter->setBrush(mark);
    painter->drawEllipse(box.center(), box.width() / 5, box.height() / 5);
  } else if (on) {
    painter->setBrush(Qt::NoBrush);
    painter->drawPolyline(QPolygonF({at(0.22, 0.52), at(0.42, 0.72), at(0.78, 0.3)}));
  } else if (option->state.testFlag(State_NoChange) && !radio) {
    painter->drawLine(at(0.25, 0.5), at(0.75, 0.5));
  }
  painter->restore();
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

void setValue(QLabel* label, const QString& text) {
  if (label->text() == text) return;
  label->setText(text);
  namedValue(label, label->property(kValueName).toString());
}

QString breakable(QString text) {
  static const QRegularExpression ends(QStringLiteral("([:,])"));
  return text.replace(ends, QStringLiteral("\\1\u200b"));
}

QLabel* wrapped(QLabel* label) {
  label->setWordWrap(true);
  return label;
}

QLabel* mutedLabel(const QString& text) {
  auto* label = new QLabel(text);
  label->setProperty("muted", true);
  return label;
}

QLabel* headingLabel(const QString& text) {
  auto* label = new QLabel(text);
  label->setProperty("heading", true);
  return label;
}

QScrollArea* scrolled(QWidget* content) { return new ContentScroll(content); }

void fitToWindow(QDialog* dialog, QSize size) {
  constexpr QSize kFrame(0, 40);  // the title of the window
  if (!size.isValid()) size = dialog->sizeHint();
  if (const QScreen* screen = dialog->screen()) size = size.boundedTo(screen->availableSize() - kFrame);
  if (const QWidget* parent = dialog->parentWidget())
    size = size.boundedTo((parent->window()->size() - kFrame).expandedTo(QSize(480, 320)));
  dialog->resize(size);
}

void openDialog(QDialog* dialog) {
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
}

void makePlain(QTableView* table, int air) {
  new RowHeight(table, air);
  table->verticalHeader()->hide();
  table->setShowGrid(false);
  table->setTabKeyNavigation(false);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

void setBadge(QLabel* label, const char* kind) {
  const QString value = QString::fromLatin1(kind);
  if (label->property("badge").toString() == value) return;
  mark(label, "badge", value);
}

void makePrimary(QPushButton* button) { mark(button, "primary", true); }

}  // namespace mpm::gui
