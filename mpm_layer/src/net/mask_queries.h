// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/parallel.h"
#include "kernels/view.h"
#include "net/image_net.h"

namespace mpm {

/// The result of a head of mask queries for an image.
struct MaskQueries {
  MatrixView<const float> masks;    ///< {queries, grid.height * grid.width}, logits
  MatrixView<const float> classes;  ///< {queries, classes + 1}, logits; the last is "no object"
  Size2 grid;                       ///< px of a mask
};

/// Reads the result of the last pass of a net with the head kMaskQueries, whose answers are the outputs of the model.
/// Throws mpm::Error when their shapes do not fit.
MaskQueries maskQueries(const ImageNet& net);

/// Shares of 1, {count}.
std::vector<double> softmax(const float* logits, int count);

/// Class scores of pixels from queries with a mask and a class each (MaskFormer, EoMT): for pixel p and class c the sum
/// over queries of softmax(classes)_c times sigmoid(mask)_p. The softmax is over the classes and "no object", the last.
/// masks {queries, pixels}, classes {queries, count + 1} -> scores {pixels, count}.
void maskQueryScores(MatrixView<const float> masks, MatrixView<const float> classes, const Parallel& parallel,
                     std::vector<float>& scores);

}  // namespace mpm
