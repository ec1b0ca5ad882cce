// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <string>
#include <vector>

#include "network_config.h"

namespace mpm::train {

/// The forward pass of Segmenter on LibTorch. Weights are given per call, so that the same code serves the live
/// weights, their average and any precision.
class Network {
 public:
  using Weights = std::map<std::string, at::Tensor>;

  explicit Network(const NetworkConfig& config);

  struct Mode {
    at::ScalarType matmul = at::kFloat;  ///< of products and their results; norms and the residual stream are float32
    double drop_path = 0;                ///< > 0 only in training: residual branches of the last block dropped so often
  };

  /// `images` {B, 3, H, W}, normalised, H and W those of the config -> scores {B, classes, H / patch, W / patch}.
  at::Tensor operator()(const at::Tensor& images, const Weights& weights, Mode mode) const;

 private:
  NetworkConfig config_;
  at::Tensor cosines_, sines_;  // {tokens, head_dim} each, of rotary positions
};

}  // namespace mpm::train
