// SPDX-License-Identifier: Apache-2.0
#include "gui/models/span_text.h"

namespace mpm::gui {

QString spanText(double seconds) {
  const auto pad = [](qint64 n) { return QStringLiteral("%1").arg(n, 2, 10, QLatin1Char('0')); };
  if (seconds < 60)
    return QCoreApplication::translate("spanText", "%1 s").arg(QLocale().toString(seconds, 'f', seconds < 10 ? 1 : 0));
  const auto whole = static_cast<qint64>(seconds);
  if (seconds < 3600)
    return QCoreApplication::translate("spanText", "%1 min %2 s").arg(whole / 60).arg(pad(whole % 60));
  if (seconds < 86400)
    return QCoreApplication::translate("spanText", "%1 h %2 min").arg(whole / 3600).arg(pad(whole / 60 % 60));
  return QCoreApplication::translate("spanText", "%1 d %2 h").arg(whole / 86400).arg(whole / 3600 % 24);
}

}  // namespace mpm::gui
