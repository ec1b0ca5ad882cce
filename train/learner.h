// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "network_config.h"
#include "tensor_map.h"

namespace mpm::train {

enum class MatmulPrecision { kFp32, kBf16 };
enum class OptimizerKind { kAdamW, kMuon };

/// How a network learns. The defaults are those of the default model.
struct LearnerOptions {
  NetworkConfig network;
  std::vector<float> mean = {0.5f, 0.5f, 0.5f}, std = {0.5f, 0.5f, 0.5f};  ///< of 0..1 values, RGB
  double weight_decay = 0.05;
  OptimizerKind optimizer = OptimizerKind::kAdamW;
  double beta1 = 0.9, beta2 = 0.98;  ///< of AdamW
  double momentum = 0.95;            ///< of Muon
  double clip = 1;                   ///< largest norm of the gradient
  double label_smoothing = 0;
  double drop_path = 0;
  double average = 0.999;  ///< decay of the moving average of the weights that is evaluated and exported; 0: none
  int ignore = 255;
  int label_stride = 1;  ///< the loss uses one pixel of each square with this side, another one at each step
  std::vector<float> class_weights;  ///< of the loss; empty: all 1
  MatmulPrecision precision = MatmulPrecision::kFp32;
  std::string device = "cpu";  ///< "cpu" or "cuda"
  int threads = 0;             ///< 0: LibTorch's default
};

/// What one step of training reports.
struct StepReport {
  double loss = 0;
  double gradient_norm = 0;  ///< before clipping
};

/// The network, its loss and its optimiser, behind a header that does not know LibTorch. Not thread-safe. All tensors
/// of the network live in one flat buffer, so that a step of AdamW, clipping and averaging is a handful of operations.
class Learner {
 public:
  /// Throws mpm::Error when the device or the precision is not there.
  Learner(const LearnerOptions& options, const TensorMap& weights);
  ~Learner();
  Learner(Learner&&) noexcept;
  Learner& operator=(Learner&&) noexcept;

  /// One step. `images` {B, H, W} CV_8UC3 BGR, `labels` {B, H, W} CV_8U. `step` (0-based) and `seed` fix what is random
  /// in it. Throws mpm::Error when the loss is not finite.
  StepReport step(const cv::Mat& images, const cv::Mat& labels, int step, std::uint64_t seed, double learning_rate);

  /// Labels {B, H, W} CV_8U of `images`, by the averaged weights where there is an average.
  cv::Mat predict(const cv::Mat& images);

  /// What predict uses and what is exported.
  TensorMap weights() const;

  /// Everything that the next step depends on: NAME, "adam.mean.NAME", "adam.square.NAME", "average.NAME".
  TensorMap state() const;
  /// Throws mpm::Error when a tensor is missing or has another shape.
  void setState(const TensorMap& state);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// "LibTorch 2.15.0, 2 threads, CUDA: no, bf16: yes".
std::string libTorchSummary();
/// True where bf16 matrix products are faster than fp32 ones: LibTorch 2 on a CPU with AVX512-BF16 or AMX, or CUDA.
bool bf16IsFast(const std::string& device);
bool cudaIsAvailable();

}  // namespace mpm::train
