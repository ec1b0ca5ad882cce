// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/pixel_values.h"

namespace mpm::cuda {

/// Converts 8-bit pixels to network input on the device. Only a quarter of the bytes has to be uploaded.
class Normaliser {
 public:
  Normaliser(const Stream& stream, const PixelValues& values);

  /// pixels {count, 3} on the device -> planes {3, count}.
  void run(const Stream& stream, const unsigned char* pixels, int count, float* planes) const;

 private:
  Buffer<float> of_byte_;  // {3, 256}
  int image_channel_[3];
};

}  // namespace mpm::cuda
