// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace mpm {

/// The network input for each byte of an image of three channels. A byte has 256 values, so the arithmetic is done
/// once, and the CPU and every device have the same numbers.
struct PixelValues {
  std::array<std::array<float, 256>, 3> of_byte{};  ///< by channel of the net
  std::array<int, 3> image_channel{};               ///< of the image, by channel of the net
};

}  // namespace mpm
