// SPDX-License-Identifier: Apache-2.0
#include "onnx/fold/fold.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/element_functions.h"
#include "onnx/model/data_movement.h"
#include "onnx/model/model_file.h"

namespace mpm::onnx_graph {
namespace {

/// The constants of the first three inputs; null where one is not constant.
std::array<const Tensor*, 3> firstConstants(const Graph& graph, const Node& node) {
  return {graph.constant(node.input(0)), graph.constant(node.input(1)), graph.constant(node.input(2))};
}

/// The largest or the smallest integer for a number beyond it, 0 for NaN.
std::int64_t wholeNumber(double value) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (std::isnan(value)) return 0;
  if (value >= kTwo63) return std::numeric_limits<std::int64_t>::max();
  if (value < -kTwo63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

/// The tensor of compute(i) for each element, floats or whole numbers.
template <class Compute>
Tensor filled(bool is_float, const Shape& shape, std::int64_t count, Compute compute) {
  std::vector<float> floats(is_float ? count : 0);
  Integers ints(is_float ? 0 : count);
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(compute(i));
  for (std::size_t i = 0; i < ints.size(); ++i) ints[i] = wholeNumber(compute(i));
  return is_float ? Tensor::of(shape, std::move(floats)) : Tensor::of(shape, std::move(ints));
}

Tensor shapeTensor(const Node& node, const Shape& shape) {
  const auto rank = std::ssize(shape);
  const auto clamp = [rank](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + rank : index, 0, rank);
  };
  const std::int64_t begin = clamp(node.integer("start", 0));
  const std::int64_t end = std::max(begin, clamp(node.integer("end", rank)));
  Integers sides(shape.begin() + begin, shape.begin() + end);
  return Tensor::of({end - begin}, std::move(sides));
}

std::optional<std::vector<Tensor>> evaluateMovement(const Graph& graph, const Node& node, FoldBudget& budget) {
  const auto shapes = moveData(graph, node, false);
  if (!shapes) return std::nullopt;
  for (const Movement& movement : *shapes)
    if (!movement.in_order) budget.take(movement.shape);
  const auto movements = moveData(graph, node, true);
  if (!movements) return std::nullopt;  // two updates have one place
  std::vector<Tensor> sources, results;
  for (const int value : movedInputs(node)) {
    sources.push_back(*graph.constant(value));
    if (sources.back().isFloat() != sources[0].isFloat()) refuse(node, "integers and floats together", "one type");
  }
  const Tensor all = joined(sources);
  for (const Movement& movement : *movements)
    results.push_back(movement.in_order ? all.reshaped(movement.shape) : all.picked(movement.shape, movement.from));
  return results;
}

std::optional<Tensor> evaluateReduction(const Graph& graph, const Node& node, FoldBudget& budget) {
  const ElementReduction* const reduction = elementReduction(node.op);
  const Tensor* source = reduction ? graph.constant(node.input(0)) : nullptr;
  if (!source || source->size() == 0) return std::nullopt;
  const auto axes = reducedAxes(graph, node, source->shape.size());
  if (!axes) return std::nullopt;
  Shape kept = source->shape;
  for (const std::size_t axis : *axes) kept[axis] = 1;
  const auto count = static_cast<std::size_t>(budget.take(kept));
  budget.take(source->shape);
  std::vector<double> sums(count, reduction->start);
  const Integers target = broadcastIndices(kept, source->shape);
  for (std::size_t i = 0; i < target.size(); ++i) {
    double& sum = sums[target[i]];
    sum = reduction->step(sum, source->at(static_cast<std::int64_t>(i)));
  }
  const double share = static_cast<double>(source->size()) / static_cast<double>(count);
  return filled(source->isFloat(), inferShapes(graph, node)->front(), std::ssize(sums),
                [&](std::size_t i) { return reduction->finish(sums[i], share); });
}

/// A product of constants, such as a learned query times the weights of its projection: MatMul, and Gemm without
/// factors.
std::optional<Tensor> evaluateMatMul(const Graph& graph, const Node& node, FoldBudget& budget) {
  const auto [left, right, bias] = firstConstants(graph, node);
  if (!left || !right || !left->isFloat() || !right->isFloat() || left->shape.size() < 2 || right->shape.size() != 2)
    return std::nullopt;
  const bool turned = node.integer("transB", 0) != 0;
  const std::int64_t depth = right->shape[turned ? 1 : 0], cols = right->shape[turned ? 0 : 1];
  if (left->shape.back() != depth || node.integer("transA", 0) != 0 || node.number("alpha", 1) != 1 ||
      node.number("beta", 1) != 1 || (node.input(2) >= 0 && !bias))
    return std::nullopt;
  Shape shape = left->shape;
  shape.back() = cols;
  budget.take({elements(shape), std::max<std::int64_t>(depth / 16, 1)});
  std::vector<float> values = bias ? bias->broadcastTo(shape) : std::vector<float>(elements(shape));
  for (std::int64_t i = 0; i < elements(shape); ++i) {
    const std::int64_t row = i / cols, column = i % cols;
    double sum = values[i];
    for (std::int64_t k = 0; k < depth; ++k)
      sum += left->at(row * depth + k) * right->at(turned ? column * depth + k : k * cols + column);
    values[i] = static_cast<float>(sum);
  }
  return Tensor::of(std::move(shape), std::move(values));
}

/// An Einsum of two constants, such as the angles of rotary positions: places times frequencies.
std::optional<Tensor> evaluateEinsum(const Graph& graph, const Node& node, FoldBudget& budget) {
  const std::array<const Tensor*, 2> operands = {graph.constant(node.input(0)), graph.constant(node.input(1))};
  for (const Tensor* operand : operands)
    if (!operand || !operand->isFloat() || node.inputs.size() != 2) return std::nullopt;
  const auto equation = plainEquation(node, operands[0]->shape.size(), operands[1]->shape.size());
  if (!equation) return std::nullopt;
  std::string letters = equation->made;  // then those that are summed over
  for (const char letter : equation->of[0] + equation->of[1])
    if (letters.find(letter) == std::string::npos) letters += letter;
  Shape sides(letters.size(), 0);
  std::array<Integers, 2> steps;
  for (std::size_t k = 0; k < 2; ++k) {
    const Integers stride = strides(operands[k]->shape);
    steps[k].resize(letters.size(), 0);
    for (std::size_t axis = 0; axis < stride.size(); ++axis) {
      const std::size_t at = letters.find(equation->of[k][axis]);
      const std::int64_t side = operands[k]->shape[axis];
      if (sides[at] != 0 && sides[at] != side) return std::nullopt;
      sides[at] = side;
      steps[k][at] = stride[axis];
    }
  }
  if (std::ranges::count(sides, 0) > 0) return std::nullopt;
  const auto rank = static_cast<std::ptrdiff_t>(equation->made.size());
  const Shape shape(sides.begin(), sides.begin() + rank), summed(sides.begin() + rank, sides.end());
  budget.take({elements(shape), std::max<std::int64_t>(elements(summed) / 16, 1)});
  std::array<Integers, 2> first, next;  // where each sum begins, and where its terms are from there
  for (std::size_t k = 0; k < 2; ++k) {
    first[k] = strided(shape, {steps[k].begin(), steps[k].begin() + rank});
    next[k] = strided(summed, {steps[k].begin() + rank, steps[k].end()});
  }
  std::vector<float> values(first[0].size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double sum = 0;
    for (std::size_t n = 0; n < next[0].size(); ++n)
      sum += operands[0]->at(first[0][i] + next[0][n]) * operands[1]->at(first[1][i] + next[1][n]);
    values[i] = static_cast<float>(sum);
  }
  return Tensor::of(shape, std::move(values));
}

/// The layer norm of learned queries, before they read the image.
std::optional<Tensor> evaluateLayerNorm(const Graph& graph, const Node& node, FoldBudget& budget) {
  const auto [x, weight, bias] = firstConstants(graph, node);
  if (!x || !x->isFloat() || !weight || (node.input(2) >= 0 && !bias) || x->shape.empty()) return std::nullopt;
  const std::int64_t width = x->shape.back();
  if (frontAxis(node, node.integer("axis", -1), x->shape.size()) + 1 != x->shape.size() || weight->size() != width ||
      (bias && bias->size() != width))
    return std::nullopt;
  std::vector<float> values(budget.take(x->shape));
  for (std::int64_t row = 0; row < elements(x->shape); row += width) {
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < width; ++i) mean += x->at(row + i) / static_cast<double>(width);
    for (std::int64_t i = 0; i < width; ++i)
      variance += std::pow(x->at(row + i) - mean, 2) / static_cast<double>(width);
    const double length = std::sqrt(variance + static_cast<double>(node.number("epsilon", 1e-5f)));
    for (std::int64_t i = 0; i < width; ++i)
      values[row + i] = static_cast<float>((x->at(row + i) - mean) / length * weight->at(i) + (bias ? bias->at(i) : 0));
  }
  return Tensor::of(x->shape, std::move(values));
}

/// Weights stored as whole numbers: one scale for all, one per slice of an axis, or one per block along it.
std::optional<Tensor> evaluateDequantize(const Graph& graph, const Node& node, FoldBudget& budget) {
  const auto [x, scale, zero] = firstConstants(graph, node);
  if (!x || !scale || !x->ints || !scale->isFloat() || (node.input(2) >= 0 && !zero)) return std::nullopt;
  std::int64_t sides = 1, inner = 1, block = 1;
  if (scale->size() > 1) {
    const std::size_t axis = frontAxis(node, node.integer("axis", 1), x->shape.size());
    sides = x->shape[axis];
    inner = elementsFrom(x->shape, axis + 1);
    block = std::max<std::int64_t>(node.integer("block_size", 0), 1);
  }
  const bool blocks = scale->size() > 1 && node.integer("block_size", 0) > 0;
  const std::int64_t count = budget.take(x->shape), per_axis = (sides + block - 1) / block;
  const std::int64_t scales = !blocks ? sides : count / std::max<std::int64_t>(sides, 1) * per_axis;
  if (scale->size() != scales || (zero && zero->size() != scales))
    refuse(node, "scales of shape " + toString(scale->shape), "one, or one per slice of the axis");
  std::vector<float> values(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t along = i / inner % sides / block;
    const std::int64_t s = !blocks ? along : (i / (inner * sides) * per_axis + along) * inner + i % inner;
    const double from = zero ? zero->at(s) : 0;
    values[i] = static_cast<float>((x->at(i) - from) * scale->at(s));
  }
  return Tensor::of(x->shape, std::move(values));
}

std::optional<Tensor> evaluateRange(const Graph& graph, const Node& node, FoldBudget& budget) {
  const auto [start, limit, step] = firstConstants(graph, node);
  if (!start || !limit || !step || start->size() != 1 || limit->size() != 1 || step->size() != 1) return std::nullopt;
  const double delta = step->at(0);
  const double steps = std::ceil((limit->at(0) - start->at(0)) / delta);
  if (delta == 0 || !(steps < 1e9)) refuse(node, "a range without end", "a finite one");
  const auto count = static_cast<std::int64_t>(std::max(steps, 0.0));
  budget.take({count});
  return filled(start->isFloat(), {count}, count,
                [&, first = start->at(0)](std::size_t i) { return first + static_cast<double>(i) * delta; });
}

std::optional<Tensor> evaluateConstantOfShape(const Graph& graph, const Node& node, FoldBudget& budget) {
  const auto sides = integersOf(graph, node.input(0));
  if (!sides) return std::nullopt;
  const auto count = static_cast<std::size_t>(budget.take(*sides));
  const onnx::AttributeProto* value = node.attribute("value");
  if (value && value->t().data_location() == onnx::TensorProto::EXTERNAL) return std::nullopt;
  const Tensor fill = value ? readTensor(value->t(), {}, "its value") : Tensor::of({}, std::vector<float>{0});
  if (fill.size() != 1) refuse(node, std::to_string(fill.size()) + " values", "one");
  return fill.picked(*sides, Integers(count, 0));
}

using Elementwise = ElementFunction<double>;

std::int64_t integerBinary(const std::string& op, const Elementwise& function, std::int64_t a, std::int64_t b,
                           const Node& node) {
  std::int64_t result = 0;
  if (op == "Add" && !__builtin_add_overflow(a, b, &result)) return result;
  if (op == "Sub" && !__builtin_sub_overflow(a, b, &result)) return result;
  if (op == "Mul" && !__builtin_mul_overflow(a, b, &result)) return result;
  if (op == "Equal") return a == b;
  if (op == "Less") return a < b;
  if (op == "LessOrEqual") return a <= b;
  if (op == "Greater") return a > b;
  if (op == "GreaterOrEqual") return a >= b;
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Div" || op == "Mod") {
    if (b == 0) refuse(node, "a division by zero", "another divisor");
    if (b == -1) return op == "Mod" ? 0 : integerBinary("Sub", function, 0, a, node);
    if (op == "Div") return a / b;
    const std::int64_t rest = a % b;
    return node.integer("fmod", 0) == 0 && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  return wholeNumber(function.value(static_cast<double>(a), static_cast<double>(b), 0));
}

Tensor applyBinary(const Node& node, const Tensor& a, const Tensor& b, const Elementwise& function,
                   FoldBudget& budget) {
  const Shape shape = broadcast(a.shape, b.shape);
  const std::int64_t count = budget.take(shape);
  const Integers left = broadcastIndices(a.shape, shape);
  const Integers right = broadcastIndices(b.shape, shape);
  if (a.isFloat() || b.isFloat()) {
    return filled(a.isFloat() && function.kind != FunctionKind::kTruth, shape, count,
                  [&](std::size_t i) { return function.value(a.at(left[i]), b.at(right[i]), 0); });
  }
  Integers result(count);
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = integerBinary(node.op, function, (*a.ints)[left[i]], (*b.ints)[right[i]], node);
  return Tensor::of(shape, std::move(result));
}

Tensor applyWhere(const Tensor& condition, const Tensor& yes, const Tensor& no, FoldBudget& budget) {
  const Shape shape = broadcast(condition.shape, broadcast(yes.shape, no.shape));
  Integers from(budget.take(shape));
  const Integers which = broadcastIndices(condition.shape, shape);
  const Integers left = broadcastIndices(yes.shape, shape);
  const Integers right = broadcastIndices(no.shape, shape);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = condition.at(which[i]) != 0 ? left[i] : yes.size() + right[i];
  return joined({yes, no}).picked(shape, from);
}

Tensor applyCast(const Node& node, const Tensor& x) {
  const bool to_float = castsToFloat(node), to_bool = node.integer("to", 0) == onnx::TensorProto::BOOL;
  if (to_float == x.isFloat() && !to_bool) return x;
  if (to_float) return Tensor::of(x.shape, std::vector<float>(x.ints->begin(), x.ints->end()));
  return filled(false, x.shape, x.size(), [&](std::size_t i) {
    const double value = x.at(static_cast<std::int64_t>(i));
    return to_bool ? static_cast<double>(value != 0) : value;
  });
}

/// Elementwise ops, comparisons, Where, Cast; nullopt for any other op.
std::optional<Tensor> evaluateElementwise(const Graph& graph, const Node& node, FoldBudget& budget) {
  const auto [a, b, c] = firstConstants(graph, node);
  if (!a) return std::nullopt;
  if (node.op == "Cast") {
    budget.take(a->shape);
    return applyCast(node, *a);
  }
  if (node.op == "Where" && b && c && b->isFloat() == c->isFloat()) return applyWhere(*a, *b, *c, budget);
  const bool fmod = node.op == "Mod" && node.integer("fmod", 0) != 0;
  const Elementwise* const function = elementFunction<double>(fmod ? "Fmod" : node.op);
  if (!function || (function->kind == FunctionKind::kNamed && !fmod) || function->operands > 2) return std::nullopt;
  if (function->operands == 1) {
    budget.take(a->shape);
    return filled(a->isFloat() && function->kind != FunctionKind::kTruth, a->shape, a->size(),
                  [&, x = a](std::size_t i) { return function->value(x->at(static_cast<std::int64_t>(i)), 0, 0); });
  }
  if (!b && node.inputs.size() != 1) return std::nullopt;
  Tensor result = *a;  // Min and Max take any number of operands
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const Tensor* next = graph.constant(node.inputs[i]);
    if (!next) return std::nullopt;
    result = applyBinary(node, result, *next, *function, budget);
  }
  return result;
}

/// The outputs of a node whose inputs are all constant; nullopt where the op is not known.
std::optional<std::vector<Tensor>> evaluate(const Graph& graph, const Node& node, FoldBudget& budget) {
  if (!node.domain.empty()) return std::nullopt;
  if (movesData(node) && node.op != "Cast") return evaluateMovement(graph, node, budget);
  const auto one = [](std::optional<Tensor> tensor) {
    return tensor ? std::optional<std::vector<Tensor>>({std::move(*tensor)}) : std::nullopt;
  };
  if (node.op == "MatMul" || node.op == "Gemm") return one(evaluateMatMul(graph, node, budget));
  if (node.op == "Einsum") return one(evaluateEinsum(graph, node, budget));
  if (node.op == "LayerNormalization" && node.outputs.size() == 1) return one(evaluateLayerNorm(graph, node, budget));
  if (node.op == "DequantizeLinear") return one(evaluateDequantize(graph, node, budget));
  if (node.op == "Range") return one(evaluateRange(graph, node, budget));
  if (node.op == "ConstantOfShape") return one(evaluateConstantOfShape(graph, node, budget));
  if (node.op == "Resize") return one(evaluateResize(graph, node, budget));
  if (node.op.starts_with("Reduce")) return one(evaluateReduction(graph, node, budget));
  return one(evaluateElementwise(graph, node, budget));
}

/// The operand that a Where of a constant condition, a sum with zeros or a product with ones gives, else -1. A mask
/// that hides nothing is such a constant.
int operandOf(const Graph& graph, const Node& node) {
  const auto uniform = [&](std::size_t i) {
    const Tensor* tensor = graph.constant(node.input(i));
    return tensor ? tensor->uniform() : std::nullopt;
  };
  if (node.op == "Where") {
    const auto condition = uniform(0);
    return condition && node.inputs.size() == 3 ? node.inputs[*condition != 0 ? 1 : 2] : -1;
  }
  const bool sum = node.op == "Add" || node.op == "Sub", product = node.op == "Mul" || node.op == "Div";
  if ((!sum && !product) || node.inputs.size() != 2) return -1;
  const double neutral = sum ? 0 : 1;
  if (uniform(1) == neutral) return node.inputs[0];
  return (node.op == "Add" || node.op == "Mul") && uniform(0) == neutral ? node.inputs[1] : -1;
}

/// The value that readers of `node` can read instead, or -1.
int sameAs(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] < 0) return -1;
  const auto when = [&](bool same) { return same ? node.inputs[0] : -1; };
  if (node.op == "Identity" || node.op == "Dropout") return when(true);
  if (node.op == "Cast") return when(castsToFloat(node));
  if (node.op == "Expand" || node.op == "Tile" || node.op == "Reshape") {
    const auto movement = moveData(graph, node, false);
    return when(movement && (*movement)[0].in_order && (*movement)[0].shape == *graph.shape(node.inputs[0]));
  }
  const int operand = operandOf(graph, node);
  const Shape* shape = graph.shape(operand);
  const auto made = shape ? inferShapes(graph, node) : std::nullopt;
  return made && made->front() == *shape ? operand : -1;
}

/// Forgets results of folding when their last reader is folded too: the bias tables of BEiT pass through several nodes.
class Intermediates {
 public:
  explicit Intermediates(const Graph& graph) : readers_(graph.values.size()), cost_(graph.values.size(), kKept) {
    const auto count = [&](int value) {
      if (value >= 0) ++readers_[value];
    };
    for (const Node& node : graph.nodes) std::for_each(node.inputs.begin(), node.inputs.end(), count);
    std::for_each(graph.outputs.begin(), graph.outputs.end(), count);
    for (const Branch& branch : graph.branches) count(branch.condition);
  }

  /// Readers of `value` read `source` instead.
  void replace(int value, int source) {
    if (source >= 0) readers_[source] += readers_[value] - 1;
  }

  /// `node` was folded into constants, which took `cost` elements.
  void folded(Graph& graph, const Node& node, std::int64_t cost, FoldBudget& budget) {
    for (const int value : node.inputs) {
      if (value < 0 || --readers_[value] > 0) continue;
      std::int64_t& own = cost_[value];
      if (own == kKept) continue;
      const Tensor& tensor = *graph.constant(value);
      const bool shared = std::max(tensor.floats.use_count(), tensor.ints.use_count()) > 1;
      (shared ? cost : budget.left) += own;  // the result of a Reshape has the same elements
      own = kKept;
      graph.values[value].constant.reset();
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] >= 0) cost_[node.outputs[i]] = i == 0 ? cost : 0;
  }

 private:
  static constexpr std::int64_t kKept = -1;

  std::vector<int> readers_;
  Integers cost_;  ///< kKept: not made by folding
};

/// True when the value is a constant condition.
std::optional<bool> condition(const Graph& graph, int value) {
  const Tensor* tensor = graph.constant(value);
  return tensor && tensor->size() == 1 ? std::optional(tensor->at(0) != 0) : std::nullopt;
}

/// Whether a node of this branch runs; nullopt when that is not known.
std::optional<bool> runs(const Graph& graph, int branch, const std::vector<int>& alias) {
  std::optional<bool> result = true;
  while (branch >= 0) {
    const Branch& one = graph.branches[branch];
    const auto found = condition(graph, alias[one.condition]);
    if (found && *found != one.when) return false;
    if (!found) result = std::nullopt;
    branch = one.outer;
  }
  return result;
}

}  // namespace

std::int64_t FoldBudget::take(const Shape& shape) {
  const std::int64_t count = elements(shape, std::int64_t{1} << 28);
  if (count > left) throw Error("folding its constants takes more memory than its weights allow");
  left -= count;
  return count;
}

std::optional<std::vector<std::size_t>> reducedAxes(const Graph& graph, const Node& node, std::size_t rank) {
  if (node.op.starts_with("Arg")) return std::vector{frontAxis(node, node.integer("axis", 0), rank)};
  const auto given = attributeOrInput(graph, node, "axes", 1);
  if (!given && node.input(1) >= 0) return std::nullopt;
  std::vector<std::size_t> axes;
  if (given && !given->empty()) {
    axes = frontAxes(node, *given, rank);
  } else if (node.integer("noop_with_empty_axes", 0) == 0) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
  }
  return axes;
}

void foldConstants(Graph& graph, const Shape& image) {
  graph.values[graph.image].shape = image;
  FoldBudget budget{(std::int64_t{1} << 24) + 4 * graph.weights};
  Intermediates intermediates(graph);
  std::vector<int> alias(graph.values.size());
  std::iota(alias.begin(), alias.end(), 0);
  const auto isConstant = [&](int value) { return value < 0 || graph.constant(value) != nullptr; };
  for (Node& node : graph.nodes) {
    for (int& value : node.inputs)
      if (value >= 0) value = alias[value];
    const std::optional<bool> known_to_run = runs(graph, node.branch, alias);
    node.dead = known_to_run == false;
    if (node.dead || node.outputs.empty() || node.outputs[0] < 0) continue;
    Value& first = graph.values[node.outputs[0]];
    const std::int64_t left = budget.left;
    try {
      const Shape* source = graph.shape(node.input(0));
      if ((node.op == "Shape" || node.op == "Size") && node.domain.empty() && source) {
        first.constant = node.op == "Shape" ? shapeTensor(node, *source) : Tensor::of({}, Integers{elements(*source)});
        first.shape = first.constant->shape;
        node.dead = true;
      } else if (const auto yes = condition(graph, node.input(0));
                 yes && node.op == "If" && node.domain.empty() && node.inputs.size() == 1 + 2 * node.outputs.size()) {
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
          alias[node.outputs[i]] = node.inputs[1 + i + (*yes ? 0 : node.outputs.size())];
        for (const int value : node.outputs)
          if (value >= 0) intermediates.replace(value, alias[value]);
        node.dead = true;
      } else if (auto tensors =
                     std::ranges::all_of(node.inputs, isConstant) ? evaluate(graph, node, budget) : std::nullopt) {
        for (std::size_t i = 0; i < tensors->size() && i < node.outputs.size(); ++i) {
          if (node.outputs[i] < 0) continue;
          Value& value = graph.values[node.outputs[i]];
          value.shape = (*tensors)[i].shape;
          value.constant = std::move((*tensors)[i]);
        }
        node.dead = tensors->size() >= node.outputs.size();
        if (node.dead) intermediates.folded(graph, node, left - budget.left, budget);
      } else if (const int same = sameAs(graph, node); same >= 0) {
        alias[node.outputs[0]] = same;
        intermediates.replace(node.outputs[0], same);
        node.dead = true;
      } else if (const auto shapes = inferShapes(graph, node)) {
        for (std::size_t i = 0; i < shapes->size() && i < node.outputs.size(); ++i) {
          elements((*shapes)[i]);
          if (node.outputs[i] >= 0) graph.values[node.outputs[i]].shape = (*shapes)[i];
        }
      }
    } catch (const Error& error) {
      if (!known_to_run) continue;
      rethrow(node, error);
    }
  }
  for (int& value : graph.outputs) value = alias[value];
  graph.dropUnused();
}

}  // namespace mpm::onnx_graph
