// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "kernels/parallel.h"
#include "mpm/options.hpp"

namespace mpm {

/// Start positions of windows of `window` px over `length` >= window px, `stride` px apart. The last window ends at the
/// end.
std::vector<int> windowStarts(int length, int window, int stride);

/// Sliding windows over one image, each with the scores of its patches.
struct WindowScores {
  Size2 image;                     ///< px that the windows cover
  Size2 window;                    ///< px
  Size2 grid;                      ///< patches of a window
  std::vector<int> rows, columns;  ///< starts, px
  std::vector<cv::Mat> scores;     ///< {rows.size() * columns.size()} of {grid.height * grid.width, classes}, CV_32F
};

/// Computes the label of each pixel of `labels` (CV_8U; its size is the output size). The scores of every window are
/// resized to the window, averaged where windows overlap, resized to `labels`, and the argmax is taken. Only a few rows
/// of the {classes, H, W} tensor exist at a time, so memory is that of the scores.
void labelWindows(const WindowScores& windows, cv::Mat& labels, const Parallel& parallel);

/// Computes the scores without the argmax: `logits` {classes, size.height, size.width}, contiguous.
void resizeWindows(const WindowScores& windows, cv::Size size, float* logits, const Parallel& parallel);

}  // namespace mpm
