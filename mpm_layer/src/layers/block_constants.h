// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/attention.h"
#include "layers/mpm_layer.h"

namespace mpm {

/// Reads the constants of a block in the order of docs/ops.md. The weights point into them. Throws mpm::Error for one
/// of another shape.
class BlockConstants {
 public:
  explicit BlockConstants(const Blobs& constants) : constants_(constants) {}

  const cv::Mat& peek() const { return constants_[next_]; }
  const cv::Mat& next() { return constants_[next_++]; }
  void norm(NormWeights& weights, int size);
  void linear(LinearWeights& weights, int out, int in);
  /// Sets its `dim` too.
  void attention(AttentionSpec& spec);

 private:
  const float* vector(int size);

  const Blobs& constants_;
  std::size_t next_ = 0;
};

/// Number of the constants that BlockConstants::attention() takes.
int attentionConstants(const cv::dnn::LayerParams& params);
/// The attributes of attention. Throws mpm::Error for a missing one.
void readAttention(const cv::dnn::LayerParams& params, AttentionSpec& spec);
/// Attributes NAME_eps and NAME_rms.
void readNorm(const cv::dnn::LayerParams& params, const std::string& name, NormWeights& weights);

}  // namespace mpm
