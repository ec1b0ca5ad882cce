// SPDX-License-Identifier: Apache-2.0
#include "gui/views/themed_style.h"

#include <QPainter>
#include <QStyleOption>

#include "gui/views/look.h"

namespace mpm::gui {

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

QIcon ThemedStyle::standardIcon(StandardPixmap which, const QStyleOption* option, const QWidget* widget) const {
  return which == SP_ToolBarHorizontalExtensionButton ? icon(Glyph::kNext)
                                                      : QProxyStyle::standardIcon(which, option, widget);
}

// The arrow needs room for a finger: Fusion's is hidden by the padding that buttons have here.
int ThemedStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
  return metric == PM_ToolBarExtensionExtent ? 28 : QProxyStyle::pixelMetric(metric, option, widget);
}

}  // namespace mpm::gui
