// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <string>
#include <vector>

#include "mpm/read_net.hpp"

namespace mpm {

/// The values of a converted graph that a caller reads, for whom the names in ReadOptions::outputs do not suffice.
using ChooseOutputs = std::function<std::vector<std::string>(const onnx::GraphProto&, const ModelInfo&)>;

/// readNet(), with the outputs that `choose` returns instead of ReadOptions::outputs.
LoadedNet readNet(const std::string& onnx_path, const ReadOptions& options, const ChooseOutputs& choose);

}  // namespace mpm
