// SPDX-License-Identifier: Apache-2.0
// Operators that some OpenCV lacks or computes wrong, as our own (docs/ops.md, "Heads").
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>

#include "base/element_functions.h"
#include "onnx/emit/node_emitter.h"
#include "onnx/fold/fold.h"
#include "onnx/model/data_movement.h"
#include "onnx/recognise/canonical.h"
#include "onnx/recognise/meaning.h"

namespace mpm::onnx_graph {
namespace {

/// Functions of HeadElementwise of a tensor and numbers: attributes of the ONNX operators, with their defaults.
const std::map<std::string_view, std::vector<std::pair<const char*, float>>> kWithNumbers = {
    {"Celu", {{"alpha", 1.0f}}},
    {"HardSigmoid", {{"alpha", 0.2f}, {"beta", 0.5f}}},
    {"Selu", {{"alpha", 1.67326319217681884765625f}, {"gamma", 1.05070102214813232421875f}}},
    {"ThresholdedRelu", {{"alpha", 1.0f}}}};

/// OpenCV 4 gives a constant at least two dimensions.
Tensor asOperand(const Tensor& constant) {
  Shape shape = constant.shape;
  if (shape.size() < 2) shape.insert(shape.begin(), 2 - shape.size(), 1);
  return Tensor::of(shape, constant.reshaped(shape).broadcastTo(shape));
}

/// The equation of a product of matrices of these ranks, the axes in front broadcast.
std::optional<Equation> matMulEquation(std::size_t left, std::size_t right) {
  constexpr std::string_view kBatch = "abcdefgh";
  const std::size_t rank = std::max(left, right);
  if (left < 2 || right < 2 || rank - 2 > kBatch.size()) return std::nullopt;
  const std::string batch(kBatch.substr(0, rank - 2));
  return Equation{{batch.substr(rank - left) + "xy", batch.substr(rank - right) + "yz"}, batch + "xz"};
}

}  // namespace

std::string NodeEmitter::headOp(const std::string& type, const std::vector<int>& values, const Names& inputs,
                                const std::string& name, NetWriter::Attributes attributes) {
  Names activations, constants;
  Integers places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* constant = graph_.constant(values[i]);
    if (!constant) {
      activations.push_back(inputs[i]);
      continue;
    }
    constants.push_back(net_.constant(name + ".operand", asOperand(*constant)));
    places.push_back(static_cast<std::int64_t>(i));
  }
  activations.insert(activations.end(), constants.begin(), constants.end());
  if (!places.empty()) attributes.emplace_back("constants", places);
  return net_.op(type, activations, {name}, attributes);
}

std::string NodeEmitter::function(const std::string& function, const std::string& x, const std::vector<float>& numbers,
                                  const std::string& name) {
  Names operands{x};
  Integers places;
  for (const float number : numbers) {
    operands.push_back(net_.constant(name + ".number", Tensor::of({1, 1}, std::vector<float>{number})));
    places.push_back(std::ssize(operands) - 1);
  }
  NetWriter::Attributes attributes{{"function", function}};
  if (!places.empty()) attributes.emplace_back("constants", places);
  return net_.op("HeadElementwise", operands, {name}, attributes);
}

bool NodeEmitter::mayBeWhole(const Node& node) const {
  const auto whole = [&](int value) { return !graph_.constant(value) && graph_.mayBeIntegers(value); };
  if (node.op == "Resize") return node.text("mode", "nearest") != "nearest" && whole(node.inputs[0]);
  if (isOneOf(node.op, {"ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"})) return whole(node.inputs[0]);
  return node.op == "Div" && whole(node.inputs[0]) && whole(node.inputs[1]);
}

bool NodeEmitter::headElementwise(const Node& node, const Names& inputs, const std::string& name) {
  // An operand of another rank than the result has its batch along another axis.
  const Shape& out = *graph_.shape(node.outputs[0]);
  const auto noteRanks = [&] {
    for (const int value : node.inputs)
      if (value >= 0 && !graph_.constant(value) && graph_.shape(value)->size() != out.size()) one_image_ = true;
    return true;
  };
  if (out.size() < 2) return false;
  const bool sums = node.op == "Sum" || node.op == "Mean";
  if (isOneOf(node.op, {"Add", "Max", "Min"}) || sums) {
    if (node.inputs.size() < 2) return false;
    std::vector<std::size_t> order(inputs.size());  // constants last
    std::iota(order.begin(), order.end(), 0);
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return !graph_.constant(node.inputs[i]); });
    std::string so_far = inputs[order[0]];
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      const bool last = i + 1 == inputs.size() && node.op != "Mean";
      so_far = headOp("HeadElementwise", {-1, node.inputs[order[i]]}, {so_far, inputs[order[i]]},
                      last ? name : net_.unique(name + ".part"), {{"function", sums ? std::string("Add") : node.op}});
    }
    if (node.op == "Mean") function("Div", so_far, {static_cast<float>(inputs.size())}, name);
    return noteRanks();
  }
  if (node.op == "Clip") {
    std::vector<float> limits = {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
    for (std::size_t i = 0; i < 2; ++i) {
      if (node.input(i + 1) < 0) continue;
      const Tensor* constant = graph_.constant(node.input(i + 1));
      if (!constant || constant->size() != 1 || (constant->isFloat() && graph_.mayBeIntegers(node.inputs[0])))
        return false;
      limits[i] = static_cast<float>(constant->at(0));
    }
    function("Clip", inputs[0], limits, name);
    return true;
  }
  if (const auto found = kWithNumbers.find(node.op); found != kWithNumbers.end()) {
    std::vector<float> numbers;
    for (const auto& [attribute, otherwise] : found->second) numbers.push_back(node.number(attribute, otherwise));
    function(node.op, inputs[0], numbers, name);
    return true;
  }
  if (node.op == "Cast") {
    if (node.integer("to", 0) != onnx::TensorProto::BOOL)
      function("Trunc", inputs[0], {}, name);
    else
      function("Not", function("Not", inputs[0], {}, net_.unique(name + ".not")), {}, name);
    return true;
  }
  const auto* const known = elementFunction<float>(node.op);
  if (!known || known->kind == FunctionKind::kNamed || mayBeWhole(node)) return false;
  const bool whole = node.op == "Div" && (holdsIntegers(node.inputs[0]) || holdsIntegers(node.inputs[1]));
  const std::string named = node.op == "Mod" && node.integer("fmod", 0) != 0 ? "Fmod" : node.op;
  const std::string result = whole ? net_.unique(name + ".exact") : name;
  headOp("HeadElementwise", node.inputs, inputs, result, {{"function", named}});
  if (whole) function("Trunc", result, {}, name);
  return noteRanks();
}

/// By indices that the net computes.
bool NodeEmitter::headGather(const Node& node, const Names& inputs, const std::string& name) {
  const Shape& x = *graph_.shape(node.inputs[0]);
  const bool constant = graph_.constant(node.inputs[0]) != nullptr;
  const std::int64_t axis = node.op == "GatherND"
                                ? node.integer("batch_dims", 0)
                                : static_cast<std::int64_t>(frontAxis(node, node.integer("axis", 0), x.size()));
  // Rows of a table are the one thing that a constant can give to each image of a batch. RF-DETR takes its best places
  // from a constant, too, by an index for each element.
  const bool rows = node.op == "Gather" && axis == 0 && x.size() >= 2, by_element = node.op == "GatherElements";
  if (graph_.constant(node.inputs[1]) || (constant && !rows && !by_element)) return false;
  one_image_ = one_image_ || (constant ? by_element : node.op == "Gather" || axis == 0);
  headOp("HeadGather", node.inputs, inputs, name, {{"function", node.op}, {"axis", axis}});
  return true;
}

std::string NodeEmitter::take(const std::string& from, std::vector<float> indices, std::size_t axis,
                              const std::string& name, std::optional<float> fill) {
  one_image_ = one_image_ || axis == 0;
  const auto count = std::ssize(indices);
  NetWriter::Attributes attributes{
      {"function", std::string("Max")}, {"axis", static_cast<std::int64_t>(axis)}, {"constants", Integers{1}}};
  if (fill) attributes.emplace_back("fill", *fill);
  return net_.op("HeadWindow", {from, net_.constant(name + ".indices", Tensor::of({count, 1}, std::move(indices)))},
                 {name}, attributes);
}

/// `node` moves whole slices along axes. OpenCV 4 gives a tensor of one axis another one.
bool NodeEmitter::headTakes(const Node& node, const Names& inputs, const Names& names) {
  const auto movements = moveData(graph_, node, true);
  if (!movements || graph_.shape(node.inputs[0])->size() < 2) return false;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const Movement& movement = (*movements)[k];
    if (movement.from.empty() || movement.shape.empty()) return false;
    if (!takeAlongAxes({node.inputs[0], movement.from}, inputs[0], movement.shape, names[k])) return false;
  }
  return true;
}

bool NodeEmitter::takeElements(const Gathered& gathered, const std::string& x, const Shape& out,
                               const std::string& name) {
  const std::int64_t count = elements(out);
  const Shape row{1, elements(*graph_.shape(gathered.origin))};
  if (row[1] > 1 << 24) return false;  // a float holds no larger index
  const std::vector<float> indices(gathered.from.begin(), gathered.from.end());
  const std::string flat = reshape(x, *graph_.shape(gathered.origin), row, net_.unique(name + ".row"));
  reshape(take(flat, indices, 1, net_.unique(name + ".taken")), {1, count}, out, name);
  return true;
}

std::optional<NodeEmitter::Gathered> NodeEmitter::gatheredFrom(const Node& node) const {
  std::vector<const Node*> chain;
  bool gathers = false;
  for (const Node* at = &node; at && movesData(*at) && movedInputs(*at).size() == 1 && at->outputs.size() == 1;
       at = graph_.producer(at->inputs[0])) {
    if (gathers && at->op != "Transpose") break;
    chain.push_back(at);
    gathers = gathers || at->op == "GatherND" || at->op == "GatherElements";
  }
  if (!gathers) return std::nullopt;
  Gathered result{chain.back()->inputs[0], {}};
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    const auto movements = moveData(graph_, **at, true);
    if (!movements) return std::nullopt;
    const Movement& movement = movements->front();
    Integers from(elements(movement.shape));
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::int64_t before = movement.in_order ? static_cast<std::int64_t>(i) : movement.from[i];
      from[i] = result.from.empty() ? before : result.from[before];
    }
    result.from = std::move(from);
  }
  return result;
}

/// The windows of an adaptive pooling are of this kind: {B, C, h, w} -> {B, C, rows, in a row, columns, in a column}.
bool NodeEmitter::takeAlongAxes(const Gathered& gathered, std::string x, const Shape& out, const std::string& name) {
  const Shape& in = *graph_.shape(gathered.origin);
  const Shape in_steps = strides(in), out_steps = strides(out);
  const std::int64_t total = elements(out);
  // The place along axis `axis` of the input that element i of the result comes from.
  const auto placeOf = [&](std::int64_t i, std::size_t axis) { return gathered.from[i] / in_steps[axis] % in[axis]; };
  const auto dependsOn = [&](std::size_t axis, std::size_t out_axis) {
    const std::int64_t stride = out_steps[out_axis];
    for (std::int64_t i = 0; i < total && in[axis] > 1 && out[out_axis] > 1; ++i)
      if (placeOf(i, axis) != placeOf(i - i / stride % out[out_axis] * stride, axis)) return true;
    return false;
  };
  // Consecutive axes of the result for each axis of the input, as indices along it.
  std::vector<Integers> indices;
  std::size_t begin = 0;
  for (std::size_t axis = 0; axis < in.size(); ++axis) {
    std::size_t end = axis == 0 && in[0] == 1 && !out.empty() && out[0] == 1 ? 1 : begin;  // the batch
    for (std::size_t other = 0; other < out.size(); ++other) {
      if (!dependsOn(axis, other)) continue;
      if (other < begin) return false;
      end = std::max(end, other + 1);
    }
    if (axis + 1 == in.size()) end = out.size();
    const std::int64_t stride = elementsFrom(out, end);
    std::int64_t count = 1;
    for (; begin < end; ++begin) count *= out[begin];
    indices.emplace_back();
    for (std::int64_t i = 0; i < count; ++i) indices.back().push_back(placeOf(i * stride, axis));
  }
  Shape now = in;
  std::vector<std::size_t> changed;
  for (std::size_t axis = 0; axis < in.size(); ++axis) {
    now[axis] = std::ssize(indices[axis]);
    if (now[axis] != in[axis] || !isCounting(indices[axis])) changed.push_back(axis);
  }
  for (const std::size_t axis : changed) {
    const bool last = axis == changed.back() && now == out;
    x = take(x, {indices[axis].begin(), indices[axis].end()}, axis, last ? name : net_.unique(name + ".taken"));
  }
  if (x != name) reshape(x, now, out, name);
  return true;
}

bool NodeEmitter::headNode(const Node& node, const Names& inputs, const Names& names) {
  const auto shaped = [&](int value) { return value < 0 || graph_.shape(value) != nullptr; };
  if (!std::ranges::all_of(node.inputs, shaped) || !graph_.shape(node.input(0)) ||
      !std::ranges::all_of(node.outputs, shaped) || !graph_.shape(node.outputs[0]))
    return false;
  const Shape &in = *graph_.shape(node.inputs[0]), &out = *graph_.shape(node.outputs[0]);
  const std::string& name = names[0];
  if (node.domain == kCanonical) {
    if (in != out) return false;
    if (node.op == "Activation") {
      net_.op("HeadActivate", {inputs[0]}, {name}, {{"activation", node.activation}});
      return true;
    }
    if (node.op != "L2Normalize") return false;
    const std::string length = net_.op("HeadReduce", {inputs[0]}, {net_.unique(name + ".length")},
                                       {{"function", std::string("ReduceL2")}, {"axes", Integers{std::ssize(in) - 1}}});
    const std::string divisor = function("Max", length, {node.eps}, net_.unique(name + ".divisor"));
    net_.op("HeadElementwise", {inputs[0], divisor}, {name}, {{"function", std::string("Div")}});
    return true;
  }
  if (!node.domain.empty()) return false;
  if ((elementReduction(node.op) && !mayBeWhole(node)) || isOneOf(node.op, {"ArgMax", "ArgMin"})) {
    const auto reduced = reducedAxes(graph_, node, in.size()).value_or(std::vector<std::size_t>{});
    if (reduced.empty() || out.empty()) return false;
    if (std::ranges::find(reduced, 0u) != reduced.end()) one_image_ = true;
    net_.op("HeadReduce", {inputs[0]}, {name},
            {{"function", node.op},
             {"axes", Integers(reduced.begin(), reduced.end())},
             {"keepdims", node.integer("keepdims", 1)},
             {"last", node.integer("select_last_index", 0)}});
    return true;
  }
  if (node.op == "LogSoftmax") {
    const auto [first, last] = softmaxAxes(graph_, node, in.size());
    Integers axes(last - first + 1);
    std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(first));
    const std::string sums = net_.op("HeadReduce", {inputs[0]}, {net_.unique(name + ".sums")},
                                     {{"function", std::string("ReduceLogSumExp")}, {"axes", axes}});
    net_.op("HeadElementwise", {inputs[0], sums}, {name}, {{"function", std::string("Sub")}});
    return true;
  }
  if (node.op == "MatMul" || node.op == "Einsum") {
    if (node.inputs.size() != 2) return false;
    const Shape &left = in, &right = *graph_.shape(node.inputs[1]);
    auto equation = node.op == "MatMul" ? matMulEquation(left.size(), right.size())
                                        : plainEquation(node, left.size(), right.size());
    if (!equation || left.size() < 2 || right.size() < 2 || out.empty()) return false;
    Names from = inputs;
    std::map<char, std::int64_t> sides;  // of each axis; one of 1 is repeated
    for (std::size_t i = 0; i < 2; ++i) {
      std::string& letters = equation->of[i];
      const Shape& shape = i == 0 ? left : right;
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        sides[letters[axis]] = std::max(sides[letters[axis]], shape[axis]);
      // The images stay apart when the first axis of every tensor is the same.
      if (!graph_.constant(node.inputs[i]) && letters[0] != equation->made[0]) one_image_ = true;
      if (const std::string* last = madeLast(inputs[i])) {
        std::rotate(letters.begin() + 1, letters.begin() + 2, letters.begin() + 4);
        from[i] = *last;
      }
    }
    Integers of_axes;
    for (const auto& [letter, side] : sides) of_axes.push_back(side);
    headOp("HeadEinsum", node.inputs, from, name,
           {{"equation", equation->of[0] + "," + equation->of[1] + "->" + equation->made}, {"sides", of_axes}});
    return true;
  }
  if (node.op == "TopK") {
    const auto axis = static_cast<std::int64_t>(frontAxis(node, node.integer("axis", -1), in.size()));
    net_.op("HeadTopK", {inputs[0]}, names,
            {{"axis", axis}, {"k", out[axis]}, {"largest", node.integer("largest", 1)}});
    return true;
  }
  if (node.op == "GridSample") {
    const std::string mode = node.text("mode", "linear");
    headOp("HeadGridSample", node.inputs, inputs, name,
           {{"mode", mode.starts_with("bi") ? mode.substr(2) : mode},  // bilinear and bicubic until opset 20
            {"padding", node.text("padding_mode", "zeros")},
            {"align_corners", node.integer("align_corners", 0)}});
    if (graph_.constant(node.inputs[0])) one_image_ = true;  // one map, and places of each image
    return true;
  }
  if (node.op.starts_with("Gather") && headGather(node, inputs, name)) return true;
  if (isOneOf(node.op, {"Expand", "Tile", "Slice", "Gather", "Split"})) return headTakes(node, inputs, names);
  return headElementwise(node, inputs, name) || mapNode(node, inputs, names);
}

}  // namespace mpm::onnx_graph
