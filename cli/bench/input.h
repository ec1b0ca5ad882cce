// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <optional>
#include <vector>

#include "cli/bench/variant.h"
#include "cli/frames.h"

namespace mpm::cli {

/// The input of every variant. Of a sequence each round has its own.
class Input {
 public:
  Input(const BenchArguments& arguments, const ModelInfo& model);

  /// Throws mpm::Error at the end of a sequence.
  const Round& next();

 private:
  std::vector<cv::Mat> images() const;
  cv::Mat tensorOf(const std::vector<cv::Mat>& pictures) const;

  const BenchArguments& arguments_;
  const ModelInfo& model_;
  Round round_;
  std::optional<Frames> frames_;
};

}  // namespace mpm::cli
