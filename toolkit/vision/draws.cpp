// SPDX-License-Identifier: Apache-2.0
#include "vision/draws.h"

#include <boost/math/special_functions/erf.hpp>
#include <cmath>

namespace mpm {

const std::array<float, 4096>& normalQuantiles() {
  static const std::array<float, 4096> quantiles = [] {
    std::array<double, 4096> z{};
    double square = 0;
    for (int i = 0; i < 4096; ++i) {
      z[i] = i < 2048 ? -std::sqrt(2.0) * boost::math::erfc_inv((2 * i + 1) / 4096.0) : -z[4095 - i];
      square += z[i] * z[i];
    }
    std::array<float, 4096> result{};
    for (int i = 0; i < 4096; ++i) result[i] = static_cast<float>(z[i] / std::sqrt(square / 4096));
    return result;
  }();
  return quantiles;
}

}  // namespace mpm
