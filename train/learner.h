// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "network_config.h"

namespace mpm::train {

struct LearnerOptions {
  NetworkConfig network;
  bool muon = false;       ///< for the matrices of the blocks; AdamW for the rest
  bool bf16 = false;       ///< matrix products
  double average = 0.999;  ///< decay of the moving average of the weights that is the result; 0: no average
  int label_stride = 1;    ///< the loss uses one pixel of each square with this side, another one at each step
  std::vector<float> class_weights;  ///< of the loss; empty: all 1
  int threads = 0;                   ///< of LibTorch; 0: its default
};

/// The network, its loss and its optimiser, behind a header that does not know LibTorch. Not thread-safe. All tensors
/// of the network live in one flat buffer, so that a step of AdamW, clipping and averaging is a handful of operations.
class Learner {
 public:
  /// `weights` holds every tensor of parameters().
  Learner(const LearnerOptions& options, const TensorMap& weights);
  ~Learner();

  /// One step, which returns the loss before it. `images` {B, H, W} CV_8UC3 BGR, `labels` {B, H, W} CV_8U. `step`
  /// (0-based) chooses the pixels that count. Throws mpm::Error when the loss or its gradient is not finite.
  double step(const cv::Mat& images, const cv::Mat& labels, int step, double learning_rate);

  /// The average where there is one.
  TensorMap weights() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// "LibTorch 2.15.0, 2 threads".
std::string libTorchSummary();
/// True where bf16 matrix products are faster than fp32 ones: LibTorch 2 on a CPU with AVX512-BF16 or AMX.
bool bf16IsFast();

}  // namespace mpm::train
