// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/linear.h"
#include "kernels/parallel.h"

namespace mpm {

/// Maps with the channels of a pixel side by side: {batch, height, width, channels}.
template <typename T>
struct MapsView {
  T* data = nullptr;
  int batch = 0, height = 0, width = 0, channels = 0;
  T* pixel(int image, int y, int x) const {
    return data + ((static_cast<std::ptrdiff_t>(image) * height + y) * width + x) * channels;
  }
};

/// ONNX's Conv or ConvTranspose, and what stands around it. Pointers are borrowed until the constructor of Convolution
/// returns.
struct ConvolutionSpec {
  int channels = 0, outputs = 0, groups = 1;
  bool transposed = false;
  int kernel[2] = {1, 1}, strides[2] = {1, 1}, dilations[2] = {1, 1};
  int pads[2] = {0, 0};           ///< before each axis
  const float* weight = nullptr;  ///< {outputs, channels / groups, kernel}
  const float* bias = nullptr;    ///< {outputs}
  bool relu_input = false;        ///< x is max(x, 0)
  std::optional<Activation> activation;
  Precision precision = Precision::kFp32;  ///< int8: of wide convolutions; others take besideBlocks()
};

/// y = activation(convolution(x) + addends). Pixels are gathered as rows, a tile at a time, and multiplied by packed
/// weights. A transposed convolution with stride s is s * s convolutions, each of which makes every s-th pixel.
class Convolution {
 public:
  explicit Convolution(const ConvolutionSpec& spec);

  /// The size of y says how much is padded behind. `addends`: each as large as y, and may not overlap it. Same bytes
  /// for any number of threads. Thread-safe.
  void run(const MapsView<const float>& x, const std::vector<const float*>& addends, const MapsView<float>& y,
           const Parallel& parallel) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace mpm
