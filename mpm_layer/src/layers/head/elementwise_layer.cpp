// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string_view>

#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// One row of the result. Steps of the operands are 0 or 1.
struct RowOf {
  const float* x[3] = {};
  std::size_t step[3] = {};
  float* y = nullptr;
  std::size_t count = 0;
};

template <auto kFunction>
void row(const RowOf& r) {
  for (std::size_t i = 0; i < r.count; ++i)
    r.y[i] = kFunction(r.x[0][i * r.step[0]], r.x[1][i * r.step[1]], r.x[2][i * r.step[2]]);
}

struct Function {
  std::string_view name;  ///< of the ONNX operator
  int operands;
  void (*run)(const RowOf&);
};

/// Whole numbers and truth values are float32 in OpenCV 4, so they are here: false is 0, true is 1.
float truth(bool value) { return value ? 1.0f : 0.0f; }

float softplus(float a) { return std::max(a, 0.0f) + std::log1p(std::exp(-std::abs(a))); }
float hardSigmoid(float a, float factor, float offset) { return std::clamp(factor * a + offset, 0.0f, 1.0f); }

constexpr Function kFunctions[] = {
    {"Abs", 1, row<[](float a, float, float) { return std::abs(a); }>},
    {"Ceil", 1, row<[](float a, float, float) { return std::ceil(a); }>},
    {"Cos", 1, row<[](float a, float, float) { return std::cos(a); }>},
    {"Erf", 1, row<[](float a, float, float) { return std::erf(a); }>},
    {"Exp", 1, row<[](float a, float, float) { return std::exp(a); }>},
    {"Floor", 1, row<[](float a, float, float) { return std::floor(a); }>},
    {"HardSwish", 1, row<[](float a, float, float) { return a * hardSigmoid(a, 1 / 6.0f, 0.5f); }>},
    {"IsNaN", 1, row<[](float a, float, float) { return truth(std::isnan(a)); }>},
    {"Log", 1, row<[](float a, float, float) { return std::log(a); }>},
    {"Mish", 1, row<[](float a, float, float) { return a * std::tanh(softplus(a)); }>},
    {"Neg", 1, row<[](float a, float, float) { return -a; }>},
    {"Not", 1, row<[](float a, float, float) { return truth(a == 0); }>},
    {"Reciprocal", 1, row<[](float a, float, float) { return 1 / a; }>},
    {"Round", 1, row<[](float a, float, float) { return std::nearbyint(a); }>},
    {"Sigmoid", 1, row<[](float a, float, float) { return 1 / (1 + std::exp(-a)); }>},
    {"Sign", 1, row<[](float a, float, float) { return truth(a > 0) - truth(a < 0); }>},
    {"Sin", 1, row<[](float a, float, float) { return std::sin(a); }>},
    {"Softplus", 1, row<[](float a, float, float) { return softplus(a); }>},
    {"Softsign", 1, row<[](float a, float, float) { return a / (1 + std::abs(a)); }>},
    {"Sqrt", 1, row<[](float a, float, float) { return std::sqrt(a); }>},
    {"Tanh", 1, row<[](float a, float, float) { return std::tanh(a); }>},
    {"Trunc", 1, row<[](float a, float, float) { return std::trunc(a); }>},
    {"Add", 2, row<[](float a, float b, float) { return a + b; }>},
    {"And", 2, row<[](float a, float b, float) { return truth(a != 0 && b != 0); }>},
    {"Celu", 2, row<[](float a, float b, float) { return (a > 0) ? a : b * std::expm1(a / b); }>},
    {"Div", 2, row<[](float a, float b, float) { return a / b; }>},
    {"Equal", 2, row<[](float a, float b, float) { return truth(a == b); }>},
    {"Fmod", 2, row<[](float a, float b, float) { return std::fmod(a, b); }>},
    {"Greater", 2, row<[](float a, float b, float) { return truth(a > b); }>},
    {"GreaterOrEqual", 2, row<[](float a, float b, float) { return truth(a >= b); }>},
    {"Less", 2, row<[](float a, float b, float) { return truth(a < b); }>},
    {"LessOrEqual", 2, row<[](float a, float b, float) { return truth(a <= b); }>},
    {"Max", 2, row<[](float a, float b, float) { return std::isnan(a) || (a > b) ? a : b; }>},
    {"Min", 2, row<[](float a, float b, float) { return std::isnan(a) || (a < b) ? a : b; }>},
    {"Mod", 2, row<[](float a, float b, float) { return a - b * std::floor(a / b); }>},
    {"Mul", 2, row<[](float a, float b, float) { return a * b; }>},
    {"Or", 2, row<[](float a, float b, float) { return truth(a != 0 || b != 0); }>},
    {"PRelu", 2, row<[](float a, float b, float) { return a < 0 ? a * b : a; }>},
    {"Pow", 2, row<[](float a, float b, float) { return std::pow(a, b); }>},
    {"Sub", 2, row<[](float a, float b, float) { return a - b; }>},
    {"ThresholdedRelu", 2, row<[](float a, float b, float) { return (a > b) ? a : 0; }>},
    {"Xor", 2, row<[](float a, float b, float) { return truth((a != 0) != (b != 0)); }>},
    {"Clip", 3, row<[](float a, float b, float c) { return std::min(std::max(a, b), c); }>},
    {"HardSigmoid", 3, row<hardSigmoid>},
    {"Selu", 3, row<[](float a, float b, float c) { return c * (a > 0 ? a : b * std::expm1(a)); }>},
    {"Where", 3, row<[](float a, float b, float c) { return a != 0 ? b : c; }>},
};

const Function* functionOf(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                         [&](const Function& function) { return function.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

class ElementwiseLayer final : public HeadLayer {
 public:
  explicit ElementwiseLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params), function_(functionOf(params.get<cv::String>("function", ""))) {
    expect(function_, "does not know the function '" + params.get<cv::String>("function", "") + "'");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shapes from = operands(inputs, constants);
    expect(from.size() == static_cast<std::size_t>(function_->operands),
           "has " + std::to_string(from.size()) + " operands, expected " + std::to_string(function_->operands));
    Shape result;
    for (const Shape& shape : from) {
      result.insert(result.begin(), std::max(shape.size(), result.size()) - result.size(), 1);
      const std::size_t missing = result.size() - shape.size();
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        int& side = result[missing + axis];
        expect(side == shape[axis] || side == 1 || shape[axis] == 1,
               "cannot broadcast " + shapeText(shape) + " and " + shapeText(result));
        if (side == 1) side = shape[axis];
      }
    }
    return {result};
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Shape shape = shapeOf(outputs[0]);
    const Blobs from = operands(inputs);
    std::vector<std::vector<std::size_t>> strides;
    for (const cv::Mat& operand : from) strides.push_back(broadcastStrides(shapeOf(operand), shape));
    const auto width = static_cast<std::size_t>(shape.back());
    forRows(parallel_, width > 0 ? outputs[0].total() / width : 0, width, [&](std::size_t i) {
      RowOf r;
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t operand = std::min(k, from.size() - 1);
        r.x[k] = from[operand].ptr<float>() + offsetAt(i, shape, strides[operand], shape.size() - 1);
        r.step[k] = strides[operand].back();
      }
      r.y = outputs[0].ptr<float>() + i * width;
      r.count = width;
      function_->run(r);
    });
  }

 private:
  const Function* function_;
};

}  // namespace

LayerPtr makeElementwise(cv::dnn::LayerParams& params) { return cv::makePtr<ElementwiseLayer>(params); }

}  // namespace mpm
