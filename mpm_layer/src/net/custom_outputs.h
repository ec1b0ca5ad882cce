// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "layers/reuse_session.h"
#include "mpm/read_net.hpp"
#include "net/graph_marks.h"

namespace mpm {

/// The values of a converted graph that a caller reads, for whom the names in ReadOptions::outputs do not suffice. It
/// may add nodes to the graph.
using ChooseOutputs = std::function<std::vector<std::string>(onnx::GraphProto&, const ModelInfo&)>;

/// How a net is told which rows to compute.
struct ReuseNet {
  std::shared_ptr<ReuseSession> session;
  PatchPlaces places;
};

/// readNet(), with the outputs that `choose` returns instead of ReadOptions::outputs. With `reuse` the net reuses rows
/// of earlier frames; throws mpm::Error for a model or a device that cannot.
LoadedNet readNet(const std::string& onnx_path, const ReadOptions& options, const ChooseOutputs& choose,
                  ReuseNet* reuse = nullptr);

}  // namespace mpm
