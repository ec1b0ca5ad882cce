// SPDX-License-Identifier: Apache-2.0
#include "mpm/estimator.hpp"

#include "net/estimator_outputs.h"
#include "net/image_net.h"

namespace mpm {
namespace {

std::vector<std::string> outputsFor(std::optional<Task> wanted, const onnx::GraphProto& graph, const ModelInfo& info) {
  const std::optional<Task> task = wanted ? wanted : info.task;
  if (isSegmentTask(task)) return queryOutputs(graph, info);
  if (task == Task::kDepth) return depthOutputs(graph, info);
  if (wanted && !info.givesLabels()) throw Error("gives no labels (its head is '" + toString(info.head) + "')");
  return labelOutputs(graph, info);
}

}  // namespace

struct EstimatorReader {
  static Estimator read(const std::string& model, const EstimatorOptions& options) {
    PanopticOptions segments{.min_score = options.min_score, .min_overlap = options.min_overlap};
    segments.labels = options.labels;
    segments.validate();
    ImageNet net(
        model, options.read, options.threads, options.inspect && options.fit == Fit::kResize,
        [&](const onnx::GraphProto& graph, const ModelInfo& info) { return outputsFor(options.task, graph, info); });
    const std::optional<Task> task = options.task ? options.task : net.info().task;
    if (isSegmentTask(task)) {
      segments.task = task;
      return PanopticSegmenter(std::move(net), segments);
    }
    if (task == Task::kDepth) return DepthEstimator(std::move(net));
    return Segmenter(std::move(net), options);
  }
};

Estimator readEstimator(const std::string& model, const EstimatorOptions& options) {
  return withOurErrors([&] { return EstimatorReader::read(model, options); });
}

}  // namespace mpm
