// SPDX-License-Identifier: Apache-2.0
#include "onnx/emit/emitter.h"

#include "mpm/error.hpp"
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
    if (!fits) {
      throw Error("its input '" + name + "' has another size than that of the model, " + toString(image) +
                  ": export it for this size, or with symbolic sizes");
    }
  }
}

/// Writes the policy network in the file `info.reduction.policy` into `net`, its nodes as NAME/... and its scores of
/// the 2x2 windows as NAME, {B, 1, grid height / 2, grid width / 2}; it reads the tensor `image`, {B, channels, H, W}
/// of the size of the network input. Returns whether it mixes the images of a batch. Throws mpm::Error for a file that
/// is no ONNX and for a network of another input or output.
bool writePolicy(const ModelInfo& info, std::int64_t channels, const std::string& image, const std::string& name,
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
  if (!found || *found != expected) {
    throw Error("its output '" + graph.output_names[0] + "' is " + (found ? toString(*found) : "of unknown shape") +
                " for an image " + toString(input) + ", expected " + toString(expected) +
                ", a score for each 2x2 window of patches");
  }
  // In fp32 whatever the net's precision is, so that rounding decides no window.
  NodeEmitter nodes(graph, net, name + "/", mpm::toString(Precision::kFp32), true);
  nodes.write(graph.outputs, {name}, image, {});
  return nodes.oneImage();
}

}  // namespace

Names Emitter::scoredWindows(const std::string& name) {
  const Embedding& embedding = trunk_.embedding;
  const Shape& patch = embedding.weight.shape;
  if (embedding.stride_h != patch[2] || embedding.stride_w != patch[3] || embedding.pad_h > 0 || embedding.pad_w > 0) {
    throw Error("reduction '" + mpm::toString(info_.reduction) +
                "' needs patches side by side, but those of this model overlap or reach over the edge");
  }
  const std::string scores = name + "/policy";
  try {
    one_image_ = writePolicy(info_, patch[1], image_, scores, net_);
  } catch (const Error& error) {
    throw Error("policy '" + info_.reduction.policy + "': " + error.what());
  }
  // With half-pixel centres a bilinear resize by two is the mean of four, of pixels and of positions.
  const std::string half = net_.stock("AveragePool", {image_}, {name + "/half_image"},
                                      {{"kernel_shape", Integers{2, 2}}, {"strides", Integers{2, 2}}});
  const Size2 size{info_.input.height / 2, info_.input.width / 2}, grid{info_.grid.height / 2, info_.grid.width / 2};
  const auto position = resizedPositions(onGrid(trunk_.embedding.position), info_.grid, grid, trunk_.dim);
  return {scores, embed(name + "/patch_embed", half, size, position, 0).name};
}

}  // namespace mpm::onnx_graph
