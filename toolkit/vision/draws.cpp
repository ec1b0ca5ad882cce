// SPDX-License-Identifier: Apache-2.0
#include "vision/draws.h"

namespace mpm {
namespace {

double normalQuantile(double probability) {
  double z = 0;
  for (int i = 0; i < 60; ++i) {  // Newton from the middle; the steps shrink because the density only falls outwards
    const double step = (0.5 * std::erfc(-z / std::sqrt(2.0)) - probability) /
                        (std::exp(-z * z / 2) / std::sqrt(2 * 3.14159265358979323846));
    z -= std::fmax(-0.5, std::fmin(0.5, step));
  }
  return z;
}

}  // namespace

const std::array<float, 4096>& normalQuantiles() {
  static const std::array<float, 4096> quantiles = [] {
    std::array<double, 4096> z{};
    double square = 0;
    for (int i = 0; i < 4096; ++i) {
      z[i] = i < 2048 ? normalQuantile((i + 0.5) / 4096) : -z[4095 - i];
      square += z[i] * z[i];
    }
    std::array<float, 4096> result{};
    for (int i = 0; i < 4096; ++i) result[i] = static_cast<float>(z[i] / std::sqrt(square / 4096));
    return result;
  }();
  return quantiles;
}

}  // namespace mpm
