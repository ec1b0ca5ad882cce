// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/linear.h"
#include "kernels/parallel.h"
#include "kernels/view.h"

namespace mpm {

/// Segmenter's last step (Mask Transformer): patches P_p and classes P_c, both L2-normalised, their dot products, then
/// LayerNorm over the classes. `tokens` {C + rows, d}, class rows in front; `proj_patch`, `proj_classes` are d -> e;
/// `norm_weight`, `norm_bias` {C}; `scores` {rows, C}. A zero row stays zero.
void maskScores(MatrixView<const float> tokens, int classes, const PackedLinear& proj_patch,
                const PackedLinear& proj_classes, const float* norm_weight, const float* norm_bias, float eps,
                MatrixView<float> scores, const Parallel& parallel);

}  // namespace mpm
