// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "mpm/export.hpp"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"
#include "mpm/read_net.hpp"

namespace mpm {

/// How an image meets a net of fixed input size.
enum class Fit {
  kResize,  ///< one pass over the image resized to the input's size
  /// Sliding windows of the input's size over the image at its own scale (scaled up until one fits), windowStride()
  /// apart, logits averaged by count: Segmenter's evaluation. At most 2^30 px at that scale.
  kWindow,
};

struct SegmenterOptions : ConvertOptions {
  Fit fit = Fit::kResize;
  int threads = 0;       ///< 0: OpenCV's default; at most the CPUs. Sets cv::setNumThreads, global to the process.
  bool inspect = false;  ///< also fill Segmentation::token_score and pair_similarity (Fit::kResize only)
  /// With Fit::kWindow: px from window to window, in both directions, 1 to the window's shorter side. 0: 15/16 of a
  /// window (512: 480).
  int window_stride = 0;
};

/// px from window to window over a net whose input is `window`. Throws mpm::Error for a stride that windows cannot
/// have.
MPM_API Size2 windowStride(const SegmenterOptions& options, Size2 window);

/// What one image became.
struct Segmentation {
  cv::Mat labels;  ///< CV_8U class index, at the image's own size; an empty Mat when the model does not segment
  Size2 grid;      ///< image tokens
  /// Composed map after each insertion: cluster_of_token[k][i], {K, N}. Empty without merging. With Fit::kWindow: of
  /// the first window.
  std::vector<std::vector<int>> cluster_of_token;
  std::vector<double> tokens;  ///< N, then N' after each insertion; with Fit::kWindow the mean over the windows
  StageTimes ms;

  /// With SegmenterOptions::inspect, {N}: softmax over the classes of each image token's scores, at its best class,
  /// 0..1. Empty when the model does not segment.
  std::vector<float> token_score;
  /// With SegmenterOptions::inspect, {K, N}: cosine similarity of the pair that the token's cluster was formed from at
  /// each insertion, NaN where it was not paired there.
  std::vector<std::vector<float>> pair_similarity;
};

/// Image in, label map and merge maps out. Not thread-safe: one per thread.
class MPM_API Segmenter {
 public:
  /// `model`: a plain ViT ONNX or a converted one. Throws mpm::Error.
  explicit Segmenter(const std::string& model, const SegmenterOptions& options = {});
  ~Segmenter();
  Segmenter(Segmenter&&) noexcept;
  Segmenter& operator=(Segmenter&&) noexcept;

  /// `image`: CV_8UC3 BGR, as cv::imread and cv::VideoCapture give it; any size. The image is resized to the input's
  /// size, the scores to the image's (both bilinear). Throws mpm::Error on an empty image, one that does not fit into
  /// memory, or a NaN in the net.
  Segmentation segment(const cv::Mat& image);

  const ModelInfo& model() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm
