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
#include "mpm/run_report.hpp"

namespace mpm {

class ImageNet;

/// How an image of any size is given to a net with a fixed input size.
enum class Fit {
  kResize,  ///< the image is resized to the network input, one pass
  /// Windows of the network input's size slide over the image at its own scale (scaled up until one fits),
  /// windowStride() apart; logits are averaged where windows overlap, as in Segmenter's evaluation. At most 2^30 px.
  kWindow,
};

struct SegmenterOptions {
  ReadOptions read = ReadOptions();  ///< outputs, convert.output and convert.scores are ignored
  Fit fit = Fit::kResize;
  int threads = 0;       ///< CPU threads; 0: OpenCV's default. Calls cv::setNumThreads, which is global to the process.
  bool inspect = false;  ///< also fill token_score and pair_similarity; only with Fit::kResize
  int short_side = 0;    ///< Fit::kWindow: resize images to this shorter side first, px; 0: their own scale
  int window_stride = 0;  ///< px between windows, 1 to the shorter side of a window; 0: 15/16 of a window (512: 480)
};

/// px between the windows of Fit::kWindow for a network input of size `window`. Throws mpm::Error when
/// SegmenterOptions::window_stride is negative or longer than the shorter side.
MPM_API Size2 windowStride(const SegmenterOptions& options, Size2 window);

/// The result for one image. It shares no memory with the Segmenter or the image.
struct Segmentation : RunReport {
  cv::Mat labels;  ///< CV_8U, class of each pixel, of the image's size; empty when the model does not segment

  /// With SegmenterOptions::inspect, {N}: the softmax probability of the best class of each image token, 0..1. Empty
  /// when the model does not segment.
  std::vector<float> token_score;
};

/// Segments images: resize, normalisation, net, labels at the image's size. Use one Segmenter from one thread at a
/// time.
class MPM_API Segmenter {
 public:
  /// `model`: a plain ViT ONNX file or a converted one. Throws mpm::Error when readNet() does, for options out of
  /// range, and for more than 256 classes.
  explicit Segmenter(const std::string& model, const SegmenterOptions& options = {});
  ~Segmenter();
  Segmenter(Segmenter&&) noexcept;
  Segmenter& operator=(Segmenter&&) noexcept;

  /// `image`: CV_8UC3 in BGR order, as cv::imread and cv::VideoCapture give it, of any size. Resizing is bilinear, both
  /// of the image and of the scores. Throws mpm::Error for an empty image or another type, too little memory, and a NaN
  /// in the net.
  Segmentation segment(const cv::Mat& image);

  const ModelInfo& model() const;

 private:
  friend struct EstimatorReader;
  Segmenter(ImageNet net, const SegmenterOptions& options);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm
