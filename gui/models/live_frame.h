// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QRgb>
#include <QSize>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "gui/models/merge_lookup.h"
#include "monitor/capture/inference.h"

namespace mpm::gui {

/// The same frame with and without merging.
struct Comparison {
  double agreement = 0;  ///< share of the pixels with the same label, 0..1
  double speed_up = 0;   ///< time without merging / time with
  double merged_ms = 0, full_ms = 0;
  cv::Mat differs;  ///< CV_8U, 255 where the labels differ
};

/// Everything the windows show of one frame, made off the UI thread and never changed after.
struct LiveFrame {
  monitor::InferenceResult result;
  std::vector<cv::Mat> scales;  ///< the image, then half, quarter...: what a small view samples from without flicker
  MergeLookup lookup;
  std::vector<QRgb> patch_colors;
  std::vector<std::pair<int, double>> areas;  ///< class, share of the pixels
  std::optional<Comparison> comparison;
  cv::Mat overlay{};  ///< of a stored picture: the same with its classes as they were saved; empty: there is none

  const cv::Mat& image() const { return result.frame.image; }
  const cv::Mat& labels() const { return result.segmentation.labels; }
  QSize size() const { return {image().cols, image().rows}; }
  bool hasGrid() const { return lookup.steps() > 0; }
  /// The label most pixels of a patch have; nullopt when the model does not segment.
  std::optional<int> classOfToken(int token) const;
};

using LiveFramePtr = std::shared_ptr<const LiveFrame>;

/// Takes some ms: for the thread that made `result`.
LiveFramePtr makeLiveFrame(monitor::InferenceResult result);
/// An image without a result: before a model is there.
LiveFramePtr makeLiveFrame(const cv::Mat& image);
/// A stored picture: `tokens` and `ms` (of the whole) of its result are known, and its overlay; none of them need be.
LiveFramePtr makeLiveFrame(const cv::Mat& image, const cv::Mat& overlay, std::vector<double> tokens, double ms);

}  // namespace mpm::gui
