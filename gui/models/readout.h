// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "charts/chart.h"
#include "gui/models/live_frame.h"

namespace mpm::gui {

/// How the app writes a day, and with it a time to the minute and to the second.
inline constexpr QStringView kDayFormat = u"d MMM yyyy", kMinuteFormat = u"d MMM yyyy HH:mm",
                             kSecondFormat = u"d MMM yyyy HH:mm:ss";

QStringList texts(const std::vector<std::string>& list);
/// What the clock shows, in a QDateTime that calls it UTC.
QDateTime dateTime(UnixMs time, const charts::OptionalClock& clock);
/// "8 Jul 2013 05:54:10"; by the clock of an archive, with "UTC+02:00".
QString timeText(UnixMs time, const charts::OptionalClock& clock, QStringView format = kSecondFormat);
/// The label of a quantity, in the user's language.
QString quantityName(const monitor::Quantity& quantity);
/// In the user's language: "1,234.5".
inline QString number(double value, int decimals = 0) { return QLocale().toString(value, 'f', decimals); }
/// "12.5 s", "3 min 20 s", "2 h 05 min", "4 d 3 h".
QString spanText(double seconds);
/// "m", "relative", "relative, larger is nearer".
QString unitName(DepthUnit unit);
/// "2.35 m", "0.4 (relative)".
QString depthValue(double depth, DepthUnit unit);

/// The depth or segment at a place of the picture, 0..1: "2.35 m", "car, 92 %". Empty for other models.
QString readout(const LiveFrame& frame, QPointF at);

/// "computed for this frame", "kept for 12 frames": the row of the patch at that place. Empty without reuse.
QString rowAge(const LiveFrame& frame, QPointF at);

}  // namespace mpm::gui
