// SPDX-License-Identifier: Apache-2.0
#include "base/size_text.h"
#include "onnx/emit/emitter.h"
#include "onnx/recognise/positions.h"

namespace mpm::onnx_graph {

Names Emitter::rotaryTables(const Rotation& rotation, const std::string& name) {
  const Shape native{trunk_.embedding.grid_h, trunk_.embedding.grid_w}, grid{info_.grid.height, info_.grid.width};
  std::optional<Rotation> resized;
  if (retargeted_) {
    resized = resizedRotation(rotation, native, grid);
    if (!resized) {
      throw Error("its rotary positions are constants for " + mpm::toString(sizeOf(*graph_.shape(graph_.image))) +
                  " px: export the model for " + mpm::toString(info_.input) + " px" + kHeightFirst +
                  ", or with symbolic sizes");
    }
  }
  const Rotation& used = resized ? *resized : rotation;
  const std::int64_t patches = info_.tokens();
  const Shape shape{used.tables, patches, used.pairs};
  if (reduction_.positions == MergedPositions::kCentroid) {
    const auto angles = anglesOf(used, grid);
    if (!angles)
      throw Error("its rotary positions are not angles in equal steps, which positions=centroid needs: use mean");
    return {net_.weights(name + ".angle", shape, *angles)};
  }
  const auto ofPatches = [&](const std::vector<float>& values) {
    std::vector<float> result;
    for (std::int64_t t = 0; t < used.tables; ++t) {
      const auto end = values.begin() + (t + 1) * used.rows * used.pairs;
      result.insert(result.end(), end - patches * used.pairs, end);
    }
    return result;
  };
  return {net_.weights(name + ".cosine", shape, ofPatches(used.cosine)),
          net_.weights(name + ".sine", shape, ofPatches(used.sine))};
}

std::string Emitter::rotations(const Rotation& rotation, const Tokens& in) {
  std::string& name = rotations_[{&rotation, in.state}];
  if (!name.empty()) return name;
  name = net_.unique((in.state == states_.front() ? "backbone" : in.state.substr(0, in.state.rfind('/'))) + "/rotary");
  Names& tables = tables_[&rotation];
  if (tables.empty()) tables = rotaryTables(rotation, name);
  Names inputs{in.state};
  inputs.insert(inputs.end(), tables.begin(), tables.end());
  return net_.op("RotaryPositions", inputs, {name},
                 {{"merged", mpm::toString(reduction_.positions.value_or(MergedPositions::kMean))}});
}

/// A node for the embedding or a block: its inputs and attributes, as they are appended.
struct Emitter::BlockNode {
  NetWriter& net;
  std::string name;
  Names inputs;
  NetWriter::Attributes attributes;

  void setWhen(const std::string& attribute, bool is) {
    if (is) attributes.emplace_back(attribute, std::int64_t{1});
  }
  void weights(const std::string& of, const Shape& shape, const std::vector<float>& values) {
    inputs.push_back(net.weights(name + "." + of, shape, values));
  }
  void norm(const std::string& of, const NormPart& part) {
    const auto width = std::ssize(part.weight);
    weights(of + ".weight", {width}, part.weight);
    weights(of + ".bias", {width}, part.bias);
  }
  void kind(const std::string& of, const NormPart& part) {
    attributes.emplace_back(of + "_eps", part.eps);
    setWhen(of + "_rms", part.rms);
  }
  /// A norm that a block may have.
  void optionalNorm(const std::string& of, const std::optional<NormPart>& part) {
    if (!part) return;
    setWhen(of, true);
    kind(of, *part);
    norm(of, *part);
  }
  void linear(const std::string& of, LinearPart& part) {
    weights(of + ".weight", {part.out, part.in}, part.weight);
    weights(of + ".bias", {part.out}, part.bias);
    part = {};
  }

  void attention(Block& block) {
    attributes.insert(
        attributes.end(),
        {{"heads", block.heads}, {"head_dim", block.head_dim}, {"scale", static_cast<float>(block.scale)}});
    kind("norm1", block.norm1);
    norm("norm1", block.norm1);
    linear("qkv", block.qkv);
    if (block.q_norm) {
      setWhen("qk_norm", true);
      setWhen("norm_per_head", block.normPerHead());
      kind("qk_norm", *block.q_norm);
      norm("q_norm", *block.q_norm);
      norm("k_norm", *block.k_norm);
    }
    optionalNorm("attention_norm", block.attention_norm);
    linear("proj", block.proj);
  }

  void mlp(Block& block) {
    attributes.emplace_back("activation", block.activation);
    setWhen("gated", block.gated);
    kind("norm2", block.norm2);
    norm("norm2", block.norm2);
    linear("fc1", block.fc1);
    optionalNorm("mlp_norm", block.mlp_norm);
    linear("fc2", block.fc2);
  }
};

Emitter::Tokens Emitter::embed(const std::string& name, const std::string& image, Size2 size,
                               const std::vector<float>& position, std::int64_t special) {
  const Embedding& embedding = trunk_.embedding;
  BlockNode node{net_,
                 name,
                 {image},
                 {{"height", std::int64_t{size.height}},
                  {"width", std::int64_t{size.width}},
                  {"stride_h", embedding.stride_h},
                  {"stride_w", embedding.stride_w},
                  {"special_tokens", special},
                  precision()}};
  node.weights("weight", embedding.weight.shape, *embedding.weight.floats);
  node.weights("position", {std::ssize(position) / trunk_.dim, trunk_.dim}, position);
  if (special > 0) node.weights("special", {special, trunk_.dim}, embedding.specials);
  if (embedding.norm) node.weights("bias", {trunk_.dim}, embedding.bias);
  node.optionalNorm("norm", embedding.norm);
  if (embedding.pad_h > 0 || embedding.pad_w > 0) {
    node.attributes.emplace_back("pad_h", embedding.pad_h);
    node.attributes.emplace_back("pad_w", embedding.pad_w);
  }
  net_.op("PatchEmbed", node.inputs, {name, name + "/state"}, node.attributes);
  return {name, name + "/state", special};
}

std::string Emitter::windowAttention(Block& block, const Tokens& in, const std::string& name) {
  if (retargeted_) {
    throw Error("its windows or relative positions are for " + mpm::toString(sizeOf(*graph_.shape(graph_.image))) +
                " px: export the model for " + mpm::toString(info_.input) + " px" + kHeightFirst);
  }
  BlockNode node{net_, name, {in.name, in.state}, {{"special_tokens", in.special}, precision()}};
  node.attention(block);
  const auto shared = [&](std::string& constant, const std::string& of, const Shape& shape, const auto& values) {
    if (constant.empty()) constant = net_.weights(name + "." + of, shape, {values.begin(), values.end()});
    node.inputs.push_back(constant);
  };
  const auto rows = std::ssize(block.window_rows);
  shared(windows_[block.window_rows], "windows", {block.windows, rows / block.windows}, block.window_rows);
  if (block.pair_bias) {
    const PairBias& bias = *block.pair_bias;
    node.setWhen("position_bias", true);
    node.setWhen("position_index", bias.index != nullptr);
    node.weights("position_bias", {bias.heads, bias.entries}, bias.table);
    if (bias.index) shared(indices_[bias.index.get()], "position_index", {bias.tokens, bias.tokens}, *bias.index);
  }
  if (block.relative_positions) {
    const RelativePositions& positions = *block.relative_positions;
    node.setWhen("relative_positions", true);
    node.weights("row_positions", {2 * positions.height - 1, block.head_dim}, positions.rows);
    node.weights("column_positions", {2 * positions.width - 1, block.head_dim}, positions.columns);
  }
  return net_.op("WindowAttention", node.inputs, {name}, node.attributes);
}

std::string Emitter::block(Block& block, const Tokens& in, const std::string& name, bool key_bias,
                           const std::string& part, bool keys) {
  BlockNode node{net_, name, {in.name, in.state}, {{"special_tokens", in.special}, precision()}};
  Names outputs{name};
  if (part != "mlp") {
    if (block.rotation) {
      node.inputs.push_back(rotations(*block.rotation, in));
      node.attributes.emplace_back("rotary_tables", block.rotation->tables);
    }
    node.attention(block);
    node.attributes.emplace_back("key_bias", std::int64_t{key_bias ? 1 : 0});
  }
  if (part != "attention") node.mlp(block);
  node.setWhen("parallel", block.parallel);
  if (part != "whole") node.attributes.emplace_back("part", part);
  if (keys) {
    node.setWhen("keys", true);
    outputs.push_back(name + "/keys");
  }
  return net_.op("TransformerBlock", node.inputs, outputs, node.attributes);
}

}  // namespace mpm::onnx_graph
