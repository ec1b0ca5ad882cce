// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpm/model_info.hpp"
#include "onnx/emit/net_writer.h"

namespace mpm::onnx_graph {

/// The scores of the 2x2 windows of patches of `image`.
struct PolicyScores {
  std::string name;        ///< tensor {B, 1, grid height / 2, grid width / 2}
  bool one_image = false;  ///< the network mixes the images of a batch
};

/// Writes the policy network in the file `info.reduction.policy` into `net`, its nodes as NAME/...; it reads the tensor
/// `image`, {B, channels, H, W} of the size of the network input. Throws mpm::Error naming the file, for a file that is
/// no ONNX and for a network of another input or output.
PolicyScores writePolicy(const ModelInfo& info, std::int64_t channels, const std::string& image,
                         const std::string& name, NetWriter& net);

}  // namespace mpm::onnx_graph
