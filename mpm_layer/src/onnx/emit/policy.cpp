// SPDX-License-Identifier: Apache-2.0
#include "onnx/emit/emitter.h"

#include "mpm/error.hpp"
#include "onnx/emit/node_emitter.h"
#include "onnx/fold/fold.h"
#include "onnx/model/model_file.h"
#include "onnx/recognise/canonical.h"

namespace mpm::onnx_graph {
namespace {

/// Throws mpm::Error when the file fixes a side of its input that is another one in `image`.
void requireInput(const onnx::GraphProto& graph, const std::string& name, const Shape& image) {
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (input.name() != name) continue;
    const auto& declared = input.type().tensor_type().shape();
    bool fits = declared.dim_size() == 0 || declared.dim_size() == 4;
    for (int i = 0; fits && i < declared.dim_size(); ++i)
      fits = declared.dim(i).dim_value() == 0 || declared.dim(i).dim_value() == image[i];
    if (!fits)
      throw Error("its input '" + name + "' has another size than that of the model, " + toString(image) +
                  ": export it for this size, or with symbolic sizes");
  }
}

PolicyScores write(const ModelInfo& info, std::int64_t channels, const std::string& image, const std::string& name,
                   NetWriter& net) {
  const std::filesystem::path file = info.reduction.policy;
  onnx::ModelProto model = readModelFile(file);
  Graph graph = readGraph(model, folderOf(file));
  const Shape input{1, channels, info.input.height, info.input.width};
  requireInput(model.graph(), graph.values[graph.image].name, input);
  foldConstants(graph, input);
  canonicalise(graph);
  if (graph.outputs.size() != 1)
    throw Error("found " + std::to_string(graph.outputs.size()) + " outputs, expected the scores alone");
  const Shape expected{1, 1, info.grid.height / 2, info.grid.width / 2};
  const Shape* const found = graph.shape(graph.outputs[0]);
  if (!found || *found != expected)
    throw Error("its output '" + graph.output_names[0] + "' is " + (found ? toString(*found) : "of unknown shape") +
                " for an image " + toString(input) + ", expected " + toString(expected) +
                ", a score for each 2x2 window of patches");
  // In fp32 whatever the net's precision is, so that rounding decides no window.
  NodeEmitter nodes(graph, net, name + "/", mpm::toString(Precision::kFp32), true);
  nodes.write(graph.outputs, {name}, image, {});
  return {name, nodes.oneImage()};
}

}  // namespace

PolicyScores writePolicy(const ModelInfo& info, std::int64_t channels, const std::string& image,
                         const std::string& name, NetWriter& net) {
  try {
    return write(info, channels, image, name, net);
  } catch (const Error& error) {
    throw Error("policy '" + info.reduction.policy + "': " + error.what());
  }
}

}  // namespace mpm::onnx_graph
