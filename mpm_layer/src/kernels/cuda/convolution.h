// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/convolution.h"
#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/gemm.h"

namespace mpm::cuda {

/// Memory of the device that the convolutions of a net share.
struct ConvolutionWorkspace {
  std::size_t most_gathered = std::size_t{64} << 20;  ///< bytes of rows at a time
  Buffer<unsigned char> gathered;
  Buffer<float> products;
};

/// The convolution of kernels/convolution.h on maps with channels last. Pixels are gathered as rows, some at a time,
/// and multiplied by the weights in cuBLASLt; a transposed one multiplies first, and each result gathers what falls on
/// it. With groups each result is a sum of its own. Operands of products have the precision of the spec.
class Convolution {
 public:
  /// What `spec` points at is on the host; copied.
  Convolution(const Stream& stream, const ConvolutionSpec& spec);

  /// x {batch, height, width, channels} -> y, whose size says how much is padded behind. `addends`: each as large as y.
  void run(const Stream& stream, Gemm& gemm, ConvolutionWorkspace& workspace, const MapsView<const float>& x,
           const std::vector<const float*>& addends, const MapsView<float>& y) const;

 private:
  void runGathered(const Stream& stream, Gemm& gemm, ConvolutionWorkspace& workspace, const MapsView<const float>& x,
                   const MapsView<float>& y) const;
  void runScattered(const Stream& stream, Gemm& gemm, ConvolutionWorkspace& workspace, const MapsView<const float>& x,
                    const MapsView<float>& y) const;

  ConvolutionSpec spec_;  // its pointers are null
  Linear linear_;         // without groups
  Buffer<float> weight_;  // with groups, as the spec has it
  Buffer<float> bias_;
};

}  // namespace mpm::cuda
