// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "vec3.h"

namespace mpm::scene {

/// Sunlight in clear air over a round Earth: Rayleigh and Mie scattering once, ozone absorption, and a guess at the
/// light scattered more often. Colours and gradients of the sky at every height of the sun follow from it, dawn
/// included.
class Atmosphere {
 public:
  Atmosphere();

  /// Share of the sun's light that reaches `altitude` (km) when the sine of the sun's elevation there is `sine`; 0 in
  /// the Earth's shadow.
  Vec3 transmittance(float altitude, float sine) const;

  /// Light that comes from direction `view` (unit, y up) when the sun is at `sun`, in units of sunlight above the air.
  Vec3 radiance(Vec3 view, Vec3 sun) const;

 private:
  static constexpr int kAltitudes = 24, kSines = 128;
  std::array<Vec3, kAltitudes * kSines> table_;
};

}  // namespace mpm::scene
