// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/gemm.h"
#include "kernels/cuda/merging.h"

namespace mpm::cuda {

/// Last step of Segmenter's mask transformer (kernels/mask_scores.h). Operands are floats.
class MaskScores {
 public:
  /// On the host: `proj_patch`, `proj_classes` {e, d}; `norm` over {classes}.
  MaskScores(const Stream& stream, MatrixView<const float> proj_patch, MatrixView<const float> proj_classes,
             const NormWeights& norm, int classes, Precision precision);

  /// tokens {rows of `with_classes`, d} -> scores {rows of `patches`, classes}. Class rows precede each image in
  /// `with_classes`; `patches` is the same state without them.
  void run(const Stream& stream, Gemm& gemm, const float* tokens, const TokenState& with_classes,
           const TokenState& patches, float* scores);

 private:
  int classes_;
  Linear proj_patch_, proj_classes_;
  Norm norm_;
  Buffer<float> class_rows_, class_keys_, projected_;
};

}  // namespace mpm::cuda
