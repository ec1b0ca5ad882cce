// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <opencv2/core.hpp>
#include <vector>

#include "mpm/options.hpp"
#include "onnx/token_head.h"

namespace mpm::train {

/// The labels of a picture are counted in square cells, so many to the side of a patch.
inline constexpr int kCellsPerPatch = 4;

/// What the encoder says about a picture, and what its pixels are.
struct LabelledTokens {
  cv::Mat tokens;  ///< {grid.height * grid.width, dim} CV_32F, behind the last block
  cv::Mat cells;   ///< CV_8U {grid.height * kCellsPerPatch, grid.width * kCellsPerPatch}: class or `ignore`
};

struct HeadRecipe {
  Size2 grid{};
  int classes = 0;
  int ignore = 255;
  int hidden = 256;
  int steps = 150;
  int batch = 8;  ///< pictures per step, at most
  double lr = 5e-3;
  double weight_decay = 0.05;
  std::uint64_t seed = 1;
  std::vector<float> class_weights{};  ///< of the loss
  int threads = 0;                     ///< 0: LibTorch's default
  /// Training goes on from this head, of the same size, instead of from random weights.
  const TokenHead* start = nullptr;
};

/// Trains a head on the tokens of a frozen encoder with AdamW. The loss is the cross entropy of the scores, resized to
/// the cells as the model resizes them to pixels. The same for the same seed and number of threads. `step` is called
/// after each step; when it returns false, training ends early. Throws mpm::Error when training diverges.
TokenHead trainHead(const HeadRecipe& recipe, const std::vector<const LabelledTokens*>& pictures,
                    const std::function<bool()>& step);

/// The classes, CV_8U of `size`, that a head gives to the tokens of a picture.
cv::Mat predictLabels(const TokenHead& head, const cv::Mat& tokens, Size2 grid, Size2 size);

/// How sure the head is of each token, CV_32F {grid.height, grid.width}: the probability of the likeliest class minus
/// that of the second.
cv::Mat predictMargins(const TokenHead& head, const cv::Mat& tokens, Size2 grid);

}  // namespace mpm::train
