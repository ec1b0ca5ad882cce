// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QProxyStyle>

namespace mpm::gui {

/// Fusion with check boxes, radio buttons and the arrow of a tool bar that is too narrow in the colours of the theme in
/// force. Its own outline is a darker shade of the window, which on a dark window nobody sees.
class ThemedStyle : public QProxyStyle {
 public:
  ThemedStyle() : QProxyStyle(QStringLiteral("Fusion")) {}
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
  QIcon standardIcon(StandardPixmap icon, const QStyleOption* option, const QWidget* widget) const override;
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
};

}  // namespace mpm::gui
