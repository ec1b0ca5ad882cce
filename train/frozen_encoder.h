// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>

#include "mpm/read_net.hpp"

namespace mpm::train {

/// The encoder of a model, through the same code that will run the new model.
class FrozenEncoder {
 public:
  /// `model`: what readModelInfo() says of `path`.
  FrozenEncoder(const std::string& path, const ModelInfo& model, const Reduction& reduce);

  const ModelInfo& model() const { return net_.info; }

  /// {N, dim} CV_32F: the row of each image token behind the last block, merging undone. `image`: CV_8UC3 BGR.
  cv::Mat tokens(const cv::Mat& image);

 private:
  std::string last_block_;  // the output of the net
  LoadedNet net_;
};

}  // namespace mpm::train
