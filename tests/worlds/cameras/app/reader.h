// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QJsonObject>

namespace mpm::worlds {

/// What the app shows of one source of a database, as its models say it to the panels: sources, what is known of this
/// one, day and night over "period" ([first, last], ms), events, the chart of "span" ([from, to), ms) in at most
/// "buckets", the last sample, the one nearest to "moment", and the calendar of "year". "region" and "keys" (of a
/// quantity, or with "class" of a class) say what is drawn, the first of them also in the calendar; "states" of the
/// calendar: {"head", "state"}.
QJsonObject read(const QJsonObject& asked);

}  // namespace mpm::worlds
