// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QProxyStyle>

namespace mpm {

/// Fusion with check boxes and radio buttons in the colours of the theme in force. Its own outline is a darker shade of
/// the window, which on a dark window nobody sees.
class IndicatorStyle : public QProxyStyle {
 public:
  IndicatorStyle() : QProxyStyle(QStringLiteral("Fusion")) {}
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
};

}  // namespace mpm
