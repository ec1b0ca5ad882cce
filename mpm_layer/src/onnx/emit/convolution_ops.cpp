// SPDX-License-Identifier: Apache-2.0
// Convolutions, and what stands around them, on maps with channels last, {B, H, W, C}: a pixel is a row, as a token
// is. Each result is also written with channels first; NetWriter drops what nothing reads.
#include <algorithm>
#include <cmath>

#include "onnx/emit/node_emitter.h"
#include "onnx/recognise/canonical.h"

namespace mpm::onnx_graph {
namespace {

Shape lastOf(const Shape& shape) { return {shape[0], shape[2], shape[3], shape[1]}; }

/// True for a Transpose of rows, {.., C}, to channels, {C, ..}. Axes of one element do not count.
bool movesChannelsFirst(const Node& node, const Shape& in) {
  const auto order = node.integers("perm");
  if (node.op != "Transpose" || !node.domain.empty() || !order || order->size() != in.size()) return false;
  Integers from, to;
  for (std::int64_t axis = 0; axis < std::ssize(in); ++axis) {
    if (in[axis] != 1) from.push_back(axis);
    if (in[(*order)[axis]] != 1) to.push_back((*order)[axis]);
  }
  if (from.size() < 2) return false;
  std::rotate(from.begin(), from.end() - 1, from.end());
  return from == to;
}

}  // namespace

std::string NodeEmitter::channelsFirst(const std::string& last, const Shape& shape, const std::string& name) {
  channels_last_[name] = last;
  if (shape[1] == 1 || shape[2] * shape[3] == 1) return reshape(last, lastOf(shape), shape, name);
  return net_.stock("Transpose", {last}, {name}, {{"perm", Integers{0, 3, 1, 2}}});
}

std::string NodeEmitter::channelsLast(int value, const std::string& tensor) {
  std::string& last = channels_last_[tensor];
  if (!last.empty()) return last;
  const Shape& shape = *graph_.shape(value);
  last = net_.unique(tensor + ".channels_last");
  if (shape[1] == 1 || shape[2] * shape[3] == 1) return reshape(tensor, shape, lastOf(shape), last);
  const Node* maker = graph_.producer(value);
  while (maker && reshapes(graph_, *maker)) maker = graph_.producer(maker->inputs[0]);
  // Only where all elements are of one map are the rows its pixels in order: {C, N} as {2, C, N / 2} are no two maps.
  if (maker && shape[0] == 1 && graph_.shape(maker->inputs[0]) && made_.contains(maker->inputs[0])) {
    const Shape& rows = *graph_.shape(maker->inputs[0]);
    if (movesChannelsFirst(*maker, rows) && rows.back() == shape[1])
      return reshape(made_.at(maker->inputs[0]), rows, lastOf(shape), last);
  }
  return net_.stock("Transpose", {tensor}, {last}, {{"perm", Integers{0, 2, 3, 1}}});
}

const std::string* NodeEmitter::madeLast(const std::string& tensor) const {
  const auto found = channels_last_.find(tensor);
  return found != channels_last_.end() ? &found->second : nullptr;
}

NodeEmitter::Convolved* NodeEmitter::openConvolution(int value, const std::string& tensor) {
  const std::string* last = madeLast(tensor);
  const auto found = last ? convolved_.find(*last) : convolved_.end();
  return found != convolved_.end() && reads_[value] == 1 && found->second.activation.empty() ? &found->second : nullptr;
}

std::string NodeEmitter::convolve(Convolved convolution, const std::string& name) {
  Names inputs{convolution.x};
  inputs.insert(inputs.end(), convolution.addends.begin(), convolution.addends.end());
  inputs.push_back(convolution.weight);
  inputs.push_back(convolution.bias);
  NetWriter::Attributes attributes = convolution.attributes;
  if (!convolution.activation.empty()) attributes.emplace_back("activation", convolution.activation);
  net_.op("HeadConvolve", inputs, {name}, attributes);
  convolved_[name] = std::move(convolution);
  return name;
}

void NodeEmitter::setWeights(Convolved& convolution, std::vector<float> weight, std::vector<float> bias,
                             const std::string& name) {
  convolution.weight = net_.weights(name + ".weight", convolution.shape, weight);
  convolution.bias = net_.weights(name + ".bias", {convolution.shape[0]}, bias);
  convolution.weights = Tensor::of(convolution.shape, std::move(weight));
  convolution.biases = Tensor::of({convolution.shape[0]}, std::move(bias));
}

std::string NodeEmitter::convolution(const Node& node, const Names& inputs, const std::string& name) {
  const Tensor& given = *graph_.constant(node.inputs[1]);
  const Shape &in = *graph_.shape(node.inputs[0]), &out = *graph_.shape(node.outputs[0]);
  const bool transposed = node.op == "ConvTranspose";
  const std::int64_t groups = node.integer("group", 1), area = given.shape[2] * given.shape[3];
  const std::int64_t in_group = in[1] / groups, out_group = out[1] / groups;
  std::vector<float> weight(elements({out[1], in_group, area})), bias(out[1], 0.0f);
  for (std::int64_t o = 0; o < out[1]; ++o) {
    for (std::int64_t c = 0; c < in_group; ++c) {
      for (std::int64_t k = 0; k < area; ++k) {
        const std::int64_t from =
            transposed ? (o / out_group * in_group + c) * out_group + o % out_group : o * in_group + c;
        weight[(o * in_group + c) * area + k] = static_cast<float>(given.at(from * area + k));
      }
    }
  }
  if (const Tensor* constant = graph_.constant(node.input(2))) {
    if (constant->shape != Shape{out[1]})
      refuse(node, "a bias of shape " + toString(constant->shape), std::to_string(out[1]) + ", one number per channel");
    bias = constant->broadcastTo({out[1]});
  }
  const Integers pads =
      transposed ? *transposedPads(node, in, given.shape) : slidingPads(graph_, node, {given.shape[2], given.shape[3]});
  Convolved made;
  made.shape = {out[1], in_group, given.shape[2], given.shape[3]};
  made.attributes = {{"size", Integers{out[2], out[3]}},
                     {"stride", node.integers("strides", {1, 1})},
                     {"dilation", node.integers("dilations", {1, 1})},
                     {"pad", Integers{pads[0], pads[1]}},
                     {"groups", groups},
                     precision_};
  if (transposed) made.attributes.emplace_back("transposed", std::int64_t{1});
  setWeights(made, std::move(weight), std::move(bias), name);
  made.x = channelsLast(node.inputs[0], inputs[0]);
  const Node* before = graph_.producer(node.inputs[0]);
  if (before && before->domain == kCanonical && before->activation == "relu" && !convolved_.contains(made.x)) {
    const auto source = made_.find(before->inputs[0]);
    if (const std::string* last = source != made_.end() ? madeLast(source->second) : nullptr) {
      made.x = *last;
      made.attributes.emplace_back("relu_input", std::int64_t{1});
    }
  }
  const std::string last = net_.unique(name + ".channels_last");
  // A convolution of single pixels and a resize, whose weights add up to 1, give the same in either order.
  const bool pixels = area == 1 && in == Shape{out[0], in[1], out[2], out[3]} && pads == Integers(4, 0);
  if (pixels && before && before->op == "Resize" && madeLast(inputs[0]) && reads_[node.inputs[0]] == 1) {
    const Shape& small = *graph_.shape(before->inputs[0]);
    const bool of_pixels = small[0] == in[0] && small[1] == in[1];  // and not along the channels, too
    if (of_pixels && small[2] * small[3] < in[2] * in[3]) {
      made.x = channelsLast(before->inputs[0], made_.at(before->inputs[0]));
      made.attributes[0] = {"size", Integers{small[2], small[3]}};
      resize(*before, convolve(std::move(made), net_.unique(name + ".before_resize")), last, true);
      return channelsFirst(last, out, name);
    }
  }
  return channelsFirst(convolve(std::move(made), last), out, name);
}

bool NodeEmitter::mapsNode(const Node& node, const Names& inputs, const std::string& name) {
  const Shape *in = graph_.shape(node.input(0)), *out = graph_.shape(node.outputs[0]);
  if (!in || !out || in->size() != 4 || out->size() != 4 || node.outputs.size() != 1) return false;
  const bool ours = node.domain == kCanonical;
  if (graph_.constant(node.inputs[0]) && !isOneOf(node.op, {"Add"})) return false;
  if (const auto order = node.integers("perm"); node.op == "Transpose" && order) {
    if (*order == Integers{0, 2, 3, 1} && madeLast(inputs[0]))
      reshape(*madeLast(inputs[0]), *out, *out, name);
    else if (*order == Integers{0, 3, 1, 2})
      channelsFirst(inputs[0], *out, name);
    else
      return false;
    return true;
  }
  if (isOneOf(node.op, {"Conv", "ConvTranspose"})) {
    const Tensor* bias = graph_.constant(node.input(2));
    if (!graph_.constant(node.input(1)) || (node.input(2) >= 0 && !bias)) return false;
    convolution(node, inputs, name);
    return true;
  }
  const auto isMap = [&](std::size_t i) {
    return !graph_.constant(node.inputs[i]) && *graph_.shape(node.inputs[i]) == *out;
  };
  const bool adds = node.op == "Add" && !ours && isMap(0) && isMap(1);
  const bool joins = node.op == "Concat" && node.integer("axis", 0) == 1;
  const bool pools = isOneOf(node.op, {"MaxPool", "AveragePool"});
  std::size_t maps = pools ? 1 : 0;
  for (std::size_t i = 0; i < (adds || joins ? inputs.size() : 1); ++i) maps += madeLast(inputs[i]) ? 1 : 0;
  if (maps == 0) return false;
  const std::string last = net_.unique(name + ".channels_last");
  if (ours && node.op == "Activation") {
    if (const Convolved* open = openConvolution(node.inputs[0], inputs[0])) {
      Convolved activated = *open;
      activated.activation = node.activation;
      convolve(std::move(activated), last);
    } else {
      net_.op("HeadActivate", {*madeLast(inputs[0])}, {last}, {{"activation", node.activation}});
    }
  } else if (adds) {
    std::size_t with = 2;
    for (std::size_t i = 0; i < 2 && with == 2; ++i)
      if (openConvolution(node.inputs[i], inputs[i]) && inputs[0] != inputs[1]) with = i;
    if (with < 2) {
      Convolved sum = *openConvolution(node.inputs[with], inputs[with]);
      sum.addends.push_back(channelsLast(node.inputs[1 - with], inputs[1 - with]));
      convolve(std::move(sum), last);
    } else {
      net_.stock("Add", {channelsLast(node.inputs[0], inputs[0]), channelsLast(node.inputs[1], inputs[1])}, {last});
    }
  } else if (joins) {
    if (std::ranges::any_of(node.inputs, [&](int value) { return graph_.constant(value); })) return false;
    Names parts;
    for (std::size_t i = 0; i < inputs.size(); ++i) parts.push_back(channelsLast(node.inputs[i], inputs[i]));
    net_.stock("Concat", parts, {last}, {{"axis", std::int64_t{3}}});
  } else if (node.op == "Resize") {
    if (!resize(node, *madeLast(inputs[0]), last, true)) return false;
  } else if (pools) {
    if (!pool(node, channelsLast(node.inputs[0], inputs[0]), last)) return false;
  } else if (node.op == "BatchNormalization") {
    const Convolved* open = openConvolution(node.inputs[0], inputs[0]);
    if (!open || !open->addends.empty()) return false;
    const Tensor* of[4];
    for (std::size_t i = 0; i < 4; ++i)
      if (!(of[i] = graph_.constant(node.input(i + 1)))) return false;
    Convolved normed = *open;
    std::vector<float> weight = *normed.weights.floats, bias = *normed.biases.floats;
    const std::int64_t width = std::ssize(weight) / (*out)[1];
    for (std::int64_t o = 0; o < (*out)[1]; ++o) {
      const double scale = of[0]->at(o) / std::sqrt(of[3]->at(o) + static_cast<double>(node.number("epsilon", 1e-5f)));
      bias[o] = static_cast<float>((static_cast<double>(bias[o]) - of[2]->at(o)) * scale + of[1]->at(o));
      for (std::int64_t k = 0; k < width; ++k)
        weight[o * width + k] = static_cast<float>(static_cast<double>(weight[o * width + k]) * scale);
    }
    setWeights(normed, std::move(weight), std::move(bias), name);
    convolve(std::move(normed), last);
  } else {
    return false;
  }
  channelsFirst(last, *out, name);
  return true;
}

}  // namespace mpm::onnx_graph
