// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "base/number_text.h"

namespace mpm {

/// "35 s", "12 min", "2.5 h", "3 days".
inline std::string durationText(double seconds) {
  if (std::round(seconds) < 120) return fixed(seconds, 0) + " s";
  if (std::round(seconds / 60) < 120) return fixed(seconds / 60, 0) + " min";
  const double tenths = std::round(seconds / 360);
  return tenths < 480 ? numberText(tenths / 10) + " h" : fixed(seconds / 86400, 0) + " days";
}

}  // namespace mpm
