// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/linear.h"
#include "kernels/cuda/merging.h"

namespace mpm::cuda {

/// Segmenter's last step (kernels/mask_scores.h) with its weights on the device. Operands are floats.
class MaskScores {
 public:
  /// On the host: `proj_patch`, `proj_classes` {e, d}; the norm's `weight`, `bias` {classes}.
  MaskScores(const Stream& stream, MatrixView<const float> proj_patch, MatrixView<const float> proj_classes,
             const float* weight, const float* bias, int classes, float eps, Precision precision);

  /// tokens {rows of `with_classes`, d}, classes in front of every image -> scores {rows of `patches`, classes}, where
  /// `patches` is the same state without special rows.
  void run(const Stream& stream, Gemm& gemm, const float* tokens, const TokenState& with_classes,
           const TokenState& patches, float* scores);

 private:
  int classes_;
  float eps_;
  Linear proj_patch_, proj_classes_;
  Buffer<float> weight_, bias_, class_rows_, class_keys_, projected_;
};

}  // namespace mpm::cuda
