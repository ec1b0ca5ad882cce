// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/choose_outputs.h"

namespace mpm {

/// True for the tasks of a PanopticSegmenter.
inline bool isSegmentTask(std::optional<Task> task) { return task == Task::kPanoptic || task == Task::kInstance; }

/// The outputs that a Segmenter, a PanopticSegmenter and a DepthEstimator read. Those of the latter two throw
/// mpm::Error for a model of another kind.
std::vector<std::string> labelOutputs(const onnx::GraphProto& graph, const ModelInfo& info);
std::vector<std::string> queryOutputs(const onnx::GraphProto& graph, const ModelInfo& info);
std::vector<std::string> depthOutputs(const onnx::GraphProto& graph, const ModelInfo& info);

}  // namespace mpm
