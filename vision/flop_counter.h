// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/dnn.hpp>
#include <string>
#include <vector>

#include "mpm/export.hpp"
#include "mpm/options.hpp"
#include "mpm/segmenter.hpp"

namespace mpm {

/// Floating-point operations that the ai.mpm ops of a converted net execute for one image, 2 per multiply-add of the
/// matrix products (linear layers, attention, patch embedding, similarities), as the papers of the field count them.
/// Only live rows count, so the number falls with the tokens. Ops of other domains behind the ViT are not counted.
class MPM_API FlopCounter {
 public:
  /// `converted_model`: what convertModel() returns. Throws mpm::Error when it is not that.
  explicit FlopCounter(const std::string& converted_model);
  ~FlopCounter();
  FlopCounter(FlopCounter&&) noexcept;
  FlopCounter& operator=(FlopCounter&&) noexcept;

  /// `tokens`: N, then N' after each insertion (one row of "token_counts"). Throws mpm::Error when their number is not
  /// that of the model's insertions + 1.
  double count(const std::vector<double>& tokens) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What this machine's GEMM library reaches on all of OpenCV's threads, FLOP/s: the best of several runs of about
/// `seconds` in all, over tiles that stay in a core's cache.
MPM_API double gemmPeak(Precision precision, double seconds);

/// Where the last forward of a net of readNet() went, which took `forward_ms`: backbone, merge, restore and head of the
/// result, all of it backbone where OpenCV keeps no profile or the layers run on a GPU.
MPM_API StageTimes forwardTimes(cv::dnn::Net& net, double forward_ms);

}  // namespace mpm
