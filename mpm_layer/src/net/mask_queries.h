// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/parallel.h"
#include "kernels/view.h"

namespace mpm {

/// Class scores of pixels from queries with a mask and a class each (MaskFormer, EoMT): for pixel p and class c the sum
/// over queries of softmax(classes)_c times sigmoid(mask)_p. The softmax is over the classes and "no object", the last.
/// masks {queries, pixels}, classes {queries, count + 1} -> scores {pixels, count}.
void maskQueryScores(MatrixView<const float> masks, MatrixView<const float> classes, const Parallel& parallel,
                     std::vector<float>& scores);

}  // namespace mpm
