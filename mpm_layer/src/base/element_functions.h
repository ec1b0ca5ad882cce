// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

/// ONNX's functions of elements and its reductions: constants are folded in double, layers of heads compute in float.
namespace mpm {

/// Truth values are numbers here: false is 0, true is 1.
template <typename T>
T truth(bool value) {
  return value ? T(1) : T(0);
}
template <typename T>
T softplus(T a) {
  return std::max(a, T(0)) + std::log1p(std::exp(-std::abs(a)));
}
template <typename T>
T hardSigmoid(T a, T factor, T offset) {
  return std::clamp(factor * a + offset, T(0), T(1));
}

enum class FunctionKind {
  kOperator,  ///< an ONNX operator with these operands
  kTruth,     ///< the same, whose result is a truth value
  kNamed,     ///< an operator whose other operands are attributes in ONNX, or no operator of ONNX
};

template <typename T>
struct ElementFunction {
  std::string_view name;
  int operands;
  FunctionKind kind;
  T (*value)(T, T, T);
};

template <typename T>
inline constexpr ElementFunction<T> kElementFunctions[] = {
    {"Abs", 1, FunctionKind::kOperator, [](T a, T, T) { return std::abs(a); }},
    {"Ceil", 1, FunctionKind::kOperator, [](T a, T, T) { return std::ceil(a); }},
    {"Cos", 1, FunctionKind::kOperator, [](T a, T, T) { return std::cos(a); }},
    {"Erf", 1, FunctionKind::kOperator, [](T a, T, T) { return std::erf(a); }},
    {"Exp", 1, FunctionKind::kOperator, [](T a, T, T) { return std::exp(a); }},
    {"Floor", 1, FunctionKind::kOperator, [](T a, T, T) { return std::floor(a); }},
    {"HardSwish", 1, FunctionKind::kOperator, [](T a, T, T) { return a * hardSigmoid(a, T(1) / 6, T(0.5)); }},
    {"IsNaN", 1, FunctionKind::kTruth, [](T a, T, T) { return truth<T>(std::isnan(a)); }},
    {"Log", 1, FunctionKind::kOperator, [](T a, T, T) { return std::log(a); }},
    {"Mish", 1, FunctionKind::kOperator, [](T a, T, T) { return a * std::tanh(softplus(a)); }},
    {"Neg", 1, FunctionKind::kOperator, [](T a, T, T) { return -a; }},
    {"Not", 1, FunctionKind::kTruth, [](T a, T, T) { return truth<T>(a == 0); }},
    {"Reciprocal", 1, FunctionKind::kOperator, [](T a, T, T) { return 1 / a; }},
    {"Relu", 1, FunctionKind::kOperator, [](T a, T, T) { return a > 0 ? a : 0; }},
    {"Round", 1, FunctionKind::kOperator, [](T a, T, T) { return std::nearbyint(a); }},
    {"Sigmoid", 1, FunctionKind::kOperator, [](T a, T, T) { return 1 / (1 + std::exp(-a)); }},
    {"Sign", 1, FunctionKind::kOperator, [](T a, T, T) { return truth<T>(a > 0) - truth<T>(a < 0); }},
    {"Sin", 1, FunctionKind::kOperator, [](T a, T, T) { return std::sin(a); }},
    {"Softplus", 1, FunctionKind::kOperator, [](T a, T, T) { return softplus(a); }},
    {"Softsign", 1, FunctionKind::kOperator, [](T a, T, T) { return a / (1 + std::abs(a)); }},
    {"Sqrt", 1, FunctionKind::kOperator, [](T a, T, T) { return std::sqrt(a); }},
    {"Tanh", 1, FunctionKind::kOperator, [](T a, T, T) { return std::tanh(a); }},
    {"Trunc", 1, FunctionKind::kNamed, [](T a, T, T) { return std::trunc(a); }},
    {"Add", 2, FunctionKind::kOperator, [](T a, T b, T) { return a + b; }},
    {"And", 2, FunctionKind::kTruth, [](T a, T b, T) { return truth<T>(a != 0 && b != 0); }},
    {"Celu", 2, FunctionKind::kNamed, [](T a, T b, T) { return (a > 0) ? a : b * std::expm1(a / b); }},
    {"Div", 2, FunctionKind::kOperator, [](T a, T b, T) { return a / b; }},
    {"Equal", 2, FunctionKind::kTruth, [](T a, T b, T) { return truth<T>(a == b); }},
    {"Fmod", 2, FunctionKind::kNamed, [](T a, T b, T) { return std::fmod(a, b); }},
    {"Greater", 2, FunctionKind::kTruth, [](T a, T b, T) { return truth<T>(a > b); }},
    {"GreaterOrEqual", 2, FunctionKind::kTruth, [](T a, T b, T) { return truth<T>(a >= b); }},
    {"Less", 2, FunctionKind::kTruth, [](T a, T b, T) { return truth<T>(a < b); }},
    {"LessOrEqual", 2, FunctionKind::kTruth, [](T a, T b, T) { return truth<T>(a <= b); }},
    {"Max", 2, FunctionKind::kOperator, [](T a, T b, T) { return std::isnan(a) || (a > b) ? a : b; }},
    {"Min", 2, FunctionKind::kOperator, [](T a, T b, T) { return std::isnan(a) || (a < b) ? a : b; }},
    {"Mod", 2, FunctionKind::kOperator, [](T a, T b, T) { return a - b * std::floor(a / b); }},
    {"Mul", 2, FunctionKind::kOperator, [](T a, T b, T) { return a * b; }},
    {"Or", 2, FunctionKind::kTruth, [](T a, T b, T) { return truth<T>(a != 0 || b != 0); }},
    {"PRelu", 2, FunctionKind::kOperator, [](T a, T b, T) { return a < 0 ? a * b : a; }},
    {"Pow", 2, FunctionKind::kOperator, [](T a, T b, T) { return std::pow(a, b); }},
    {"Sub", 2, FunctionKind::kOperator, [](T a, T b, T) { return a - b; }},
    {"ThresholdedRelu", 2, FunctionKind::kNamed, [](T a, T b, T) { return (a > b) ? a : 0; }},
    {"Xor", 2, FunctionKind::kTruth, [](T a, T b, T) { return truth<T>((a != 0) != (b != 0)); }},
    {"Clip", 3, FunctionKind::kNamed, [](T a, T b, T c) { return std::min(std::max(a, b), c); }},
    {"HardSigmoid", 3, FunctionKind::kNamed, [](T a, T b, T c) { return hardSigmoid(a, b, c); }},
    {"Selu", 3, FunctionKind::kNamed, [](T a, T b, T c) { return c * (a > 0 ? a : b * std::expm1(a)); }},
    {"Where", 3, FunctionKind::kOperator, [](T a, T b, T c) { return a != 0 ? b : c; }},
};

/// Null: there is no such function.
template <typename T>
const ElementFunction<T>* elementFunction(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kElementFunctions<T>), std::end(kElementFunctions<T>),
                                         [&](const auto& function) { return function.name == name; });
  return found == std::end(kElementFunctions<T>) ? nullptr : found;
}

/// A sum, product or extreme value in double: `start`, then step() for each element, then finish().
struct ElementReduction {
  std::string_view name;  ///< of the ONNX operator
  double start;
  double (*step)(double, double);
  double (*finish)(double value, double count) = [](double value, double) { return value; };
};

constexpr double kLargest = std::numeric_limits<double>::infinity();

inline constexpr ElementReduction kElementReductions[] = {
    {"ReduceL1", 0, [](double s, double x) { return s + std::abs(x); }},
    {"ReduceL2", 0, [](double s, double x) { return s + x * x; }, [](double s, double) { return std::sqrt(s); }},
    {"ReduceLogSum", 0, [](double s, double x) { return s + x; }, [](double s, double) { return std::log(s); }},
    {"ReduceLogSumExp", -kLargest,
     [](double s, double x) {  // of logarithms, because exp() of a large number is infinite
       return s == x ? s + std::log(2.0) : s < x ? x + std::log1p(std::exp(s - x)) : s + std::log1p(std::exp(x - s));
     }},
    {"ReduceMax", -kLargest, [](double s, double x) { return std::isnan(x) || x > s ? x : s; }},
    {"ReduceMean", 0, [](double s, double x) { return s + x; }, [](double s, double n) { return s / n; }},
    {"ReduceMin", kLargest, [](double s, double x) { return std::isnan(x) || x < s ? x : s; }},
    {"ReduceProd", 1, [](double s, double x) { return s * x; }},
    {"ReduceSum", 0, [](double s, double x) { return s + x; }},
    {"ReduceSumSquare", 0, [](double s, double x) { return s + x * x; }},
};

inline const ElementReduction* elementReduction(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kElementReductions), std::end(kElementReductions),
                                         [&](const auto& reduction) { return reduction.name == name; });
  return found == std::end(kElementReductions) ? nullptr : found;
}

}  // namespace mpm
