// SPDX-License-Identifier: Apache-2.0
#include "gui/views/look.h"

#include <QSvgRenderer>

namespace mpm::gui {
namespace {

class LineEngine : public QIconEngine {
 public:
  explicit LineEngine(QByteArray drawing) : drawing_(std::move(drawing)) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
    QColor color = theme().text;
    if (mode == QIcon::Disabled) color = theme().palette().color(QPalette::Disabled, QPalette::Text);
    if (state == QIcon::On) color = theme().on_accent;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const double side = std::min(rect.width(), rect.height());
    const QPointF corner = rect.center() + QPointF(0.5, 0.5) - QPointF(side, side) / 2;
    QSvgRenderer(QByteArray(drawing_).replace("currentColor", color.name().toLatin1()))
        .render(painter, QRectF(corner, QSizeF(side, side)));
    painter->restore();
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap result(size);
    result.fill(Qt::transparent);
    QPainter painter(&result);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return result;
  }
  QIconEngine* clone() const override { return new LineEngine(*this); }

 private:
  QByteArray drawing_;  // SVG
};

// Fusion with check boxes, radio buttons and the arrow of a tool bar that is too narrow in the colours of the theme.
// Fusion's own outline is a darker shade of the window, which is invisible on a dark window.
class ThemedStyle : public QProxyStyle {
 public:
  ThemedStyle() : QProxyStyle(QStringLiteral("Fusion")) {}
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override {
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
  QIcon standardIcon(StandardPixmap which, const QStyleOption* option, const QWidget* widget) const override {
    return which == SP_ToolBarHorizontalExtensionButton ? icon("next")
                                                        : QProxyStyle::standardIcon(which, option, widget);
  }
  // Fusion's pictures of a floppy disk and a red cross fit no theme.
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* more) const override {
    return hint == SH_DialogButtonBox_ButtonsHaveIcons ? 0 : QProxyStyle::styleHint(hint, option, widget, more);
  }
  // The arrow needs space for a finger: Fusion's is hidden by the padding that buttons have here.
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
    return metric == PM_ToolBarExtensionExtent ? 28 : QProxyStyle::pixelMetric(metric, option, widget);
  }
  // A class or a file may be called "<b>": a label is plain text unless it says that it is not.
  void polish(QWidget* widget) override {
    QProxyStyle::polish(widget);
    if (auto* label = qobject_cast<QLabel*>(widget); label && label->textFormat() == Qt::AutoText)
      label->setTextFormat(Qt::PlainText);
  }
  using QProxyStyle::polish;
};

int percent = 100;  // of the font of the desktop

}  // namespace

int lookPercent() { return percent; }

void applyLook(const Theme& look, int font_percent) {
  percent = font_percent;
  setTheme(look);
  static const QFont desktop = QApplication::font();
  QFont font = desktop;
  font.setPointSizeF(desktop.pointSizeF() * font_percent / 100.0);
  static bool styled = false;
  if (!std::exchange(styled, true)) QApplication::setStyle(new ThemedStyle);
  if (QApplication::font() != font) QApplication::setFont(font);  // each of these asks every widget
  QApplication::setPalette(look.palette());
  qApp->setStyleSheet(look.styleSheet());
}

QIcon icon(const QString& name) {
  QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
  return file.open(QIODevice::ReadOnly) ? QIcon(new LineEngine(file.readAll())) : QIcon();
}

QIcon plainIcon(const QPixmap& picture) {
  QIcon icon(picture);
  icon.addPixmap(picture, QIcon::Selected);
  return icon;
}

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

void mark(QWidget* widget, const char* property, const QVariant& value) {
  widget->setProperty(property, value);
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

void makePrimary(QPushButton* button) { mark(button, "primary", true); }

void paintFocus(QPainter& painter, const QWidget* widget) {
  if (!widget->hasFocus()) return;
  painter.setPen(QPen(theme().accent, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(widget->rect().adjusted(0, 0, -1, -1));
}

}  // namespace mpm::gui
