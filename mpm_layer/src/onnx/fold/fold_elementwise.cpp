// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/element_functions.h"
#include "onnx/fold/fold.h"
#include "onnx/model/data_movement.h"

namespace mpm::onnx_graph {
namespace {

using Elementwise = ElementFunction<double>;

std::int64_t integerBinary(const std::string& op, const Elementwise& function, std::int64_t a, std::int64_t b,
                           const Node& node) {
  std::int64_t result = 0;
  if (op == "Add" && !__builtin_add_overflow(a, b, &result)) return result;
  if (op == "Sub" && !__builtin_sub_overflow(a, b, &result)) return result;
  if (op == "Mul" && !__builtin_mul_overflow(a, b, &result)) return result;
  if (op == "Equal") return a == b;
  if (op == "Less") return a < b;
  if (op == "Greater") return a > b;
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  if (op == "Div" || op == "Mod") {
    if (b == 0) refuse(node, "a division by zero", "another divisor");
    if (b == -1) return op == "Mod" ? 0 : wholeNumber(-static_cast<double>(a));
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
  if (a.isFloat() || b.isFloat())
    return filled(a.isFloat() && function.kind != FunctionKind::kTruth, shape, count,
                  [&](std::size_t i) { return function.value(a.at(left[i]), b.at(right[i]), 0); });
  Integers result(count);
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = integerBinary(node.op, function, (*a.ints)[left[i]], (*b.ints)[right[i]], node);
  return Tensor::of(shape, std::move(result));
}

Tensor applyWhere(const Tensor& condition, const Tensor& yes, const Tensor& no, FoldBudget& budget) {
  const Shape shape = broadcast(condition.shape, broadcast(yes.shape, no.shape));
  budget.take(shape);
  const Integers which = broadcastIndices(condition.shape, shape);
  const Integers left = broadcastIndices(yes.shape, shape);
  const Integers right = broadcastIndices(no.shape, shape);
  std::vector<float> floats(yes.isFloat() ? which.size() : 0);
  Integers ints(yes.isFloat() ? 0 : which.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    const bool pick = condition.at(which[i]) != 0;
    if (yes.isFloat()) {
      floats[i] = static_cast<float>(pick ? yes.at(left[i]) : no.at(right[i]));
    } else {
      ints[i] = pick ? (*yes.ints)[left[i]] : wholeNumber(no.at(right[i]));
    }
  }
  return yes.isFloat() ? Tensor::of(shape, std::move(floats)) : Tensor::of(shape, std::move(ints));
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

}  // namespace

std::int64_t wholeNumber(double value) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (std::isnan(value)) return 0;
  if (value >= kTwo63) return std::numeric_limits<std::int64_t>::max();
  if (value < -kTwo63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

std::optional<Tensor> evaluateElementwise(const Graph& graph, const Node& node, FoldBudget& budget) {
  const auto [a, b, c] = firstConstants(graph, node);
  if (!a) return std::nullopt;
  if (node.op == "Cast") {
    budget.take(a->shape);
    return applyCast(node, *a);
  }
  if (node.op == "Where" && b && c) return applyWhere(*a, *b, *c, budget);
  const Elementwise* const function = elementFunction<double>(node.op);
  if (!function || function->kind == FunctionKind::kNamed) return std::nullopt;
  if (function->operands == 1) {
    budget.take(a->shape);
    return filled(a->isFloat() && function->kind != FunctionKind::kTruth, a->shape, a->size(),
                  [&, x = a](std::size_t i) { return function->value(x->at(static_cast<std::int64_t>(i)), 0, 0); });
  }
  if (function->operands == 2) {
    // Min and Max take any number of operands.
    Tensor result = *a;
    if (!b && node.inputs.size() != 1) return std::nullopt;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const Tensor* next = graph.constant(node.inputs[i]);
      if (!next) return std::nullopt;
      result = applyBinary(node, result, *next, *function, budget);
    }
    return result;
  }
  return std::nullopt;
}

}  // namespace mpm::onnx_graph
