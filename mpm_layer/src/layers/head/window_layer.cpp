// SPDX-License-Identifier: Apache-2.0
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Each slice of the result along one axis is a weighted sum, or the largest, of some slices of the operand: what
/// Resize, AveragePool and MaxPool do along an axis.
class WindowLayer final : public HeadLayer {
 public:
  explicit WindowLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params), axis_(static_cast<std::size_t>(std::max(intAttribute(params, "axis"), 0))) {
    const std::string function = params.get<cv::String>("function", "");
    sums_ = function == "Sum";
    expect(sums_ || function == "Max", "does not know the function '" + function + "'");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    expect(axis_ < inputs[0].size(), "has no axis " + std::to_string(axis_));
    expect(constants.size() == (sums_ ? 2 : 1) && constants[0].size() == 2 && constants.back() == constants[0] &&
               constants[0][1] > 0,
           "expects indices {outputs, taps}" + std::string(sums_ ? " and as many weights" : ""));
    Shape shape = inputs[0];
    shape[axis_] = constants[0][0];
    return {shape};
  }

  void takeConstants(const Blobs& constants) override {
    const auto values = [](const cv::Mat& blob) {
      return std::pair(blob.ptr<float>(), blob.ptr<float>() + blob.total());
    };
    const auto [begin, end] = values(constants[0]);
    indices_.assign(begin, end);
    taps_ = static_cast<std::size_t>(constants[0].size[1]);
    if (sums_) weights_.assign(values(constants[1]).first, values(constants[1]).second);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Shape shape = shapeOf(inputs[0]);
    for (const int index : indices_)
      expect(index >= 0 && index < shape[axis_],
             "takes index " + std::to_string(index) + " of " + std::to_string(shape[axis_]));
    const std::size_t width = countOf(shape, axis_ + 1), side = static_cast<std::size_t>(shape[axis_]);
    const std::size_t places = indices_.size() / taps_, rows = width > 0 ? outputs[0].total() / width : 0;
    forRows(parallel_, rows, width * taps_, [&](std::size_t i) {
      const float* const x = inputs[0].ptr<float>() + i / places * side * width;
      float* const y = outputs[0].ptr<float>() + i * width;
      for (std::size_t t = 0; t < taps_; ++t) {
        const std::size_t tap = i % places * taps_ + t;
        const float* const from = x + static_cast<std::size_t>(indices_[tap]) * width;
        if (!sums_) {
          for (std::size_t k = 0; k < width; ++k) y[k] = t == 0 ? from[k] : std::max(y[k], from[k]);
        } else {
          for (std::size_t k = 0; k < width; ++k) y[k] = (t == 0 ? 0 : y[k]) + weights_[tap] * from[k];
        }
      }
    });
  }

 private:
  std::size_t axis_, taps_ = 1;
  bool sums_ = false;
  std::vector<int> indices_;
  std::vector<float> weights_;
};

}  // namespace

LayerPtr makeWindow(cv::dnn::LayerParams& params) { return cv::makePtr<WindowLayer>(params); }

}  // namespace mpm
