// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <string>

#include "network_config.h"

namespace mpm::train {

/// Tensors of a network by name.
using Weights = std::map<std::string, at::Tensor>;

/// The forward pass of Segmenter: `images` {B, 3, H, W}, normalised, H and W those of the config -> scores
/// {B, classes, H / patch, W / patch}, float32. `matmul` is the type of matrix products and their results; norms and
/// the residual stream are float32.
at::Tensor scores(const NetworkConfig& config, const at::Tensor& images, const Weights& weights, at::ScalarType matmul);

}  // namespace mpm::train
