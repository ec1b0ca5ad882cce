// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/core.hpp>
#include <string>

#include "mpm/export.hpp"
#include "mpm/model_info.hpp"
#include "mpm/read_net.hpp"
#include "mpm/run_report.hpp"

namespace mpm {

class ImageNet;

struct DepthOptions {
  ReadOptions read = ReadOptions();  ///< outputs are ignored
  int threads = 0;       ///< CPU threads; 0: OpenCV's default. Calls cv::setNumThreads, which is global to the process.
  bool inspect = false;  ///< also fill DepthMap::pair_similarity
};

/// The result for one image. It shares no memory with the DepthEstimator or the image.
struct DepthMap : RunReport {
  cv::Mat depth;  ///< CV_32F, of the image's size; ModelFacts::depth says what its values mean
};

/// Estimates depth: resize, normalisation, net, depth at the image's size. Use one DepthEstimator from one thread at a
/// time.
class MPM_API DepthEstimator {
 public:
  /// `model`: a plain ViT ONNX file or a converted one. Throws mpm::Error when readNet() does, and for a model whose
  /// task is not depth.
  explicit DepthEstimator(const std::string& model, const DepthOptions& options = {});
  ~DepthEstimator();
  DepthEstimator(DepthEstimator&&) noexcept;
  DepthEstimator& operator=(DepthEstimator&&) noexcept;

  /// `image`: CV_8UC3 in BGR order, of any size. Resizing is bilinear, both of the image and of the depth. Throws
  /// mpm::Error for an empty image or another type, too little memory, and a NaN in the net.
  DepthMap estimate(const cv::Mat& image);

  const ModelInfo& model() const;

 private:
  friend struct EstimatorReader;
  explicit DepthEstimator(ImageNet net);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm
