// SPDX-License-Identifier: Apache-2.0
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Slices along one axis, picked by constant indices, which may repeat: ONNX's Gather, and what Slice, Split, Expand
/// and Tile do along an axis.
class TakeLayer final : public HeadLayer {
 public:
  explicit TakeLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params), axis_(static_cast<std::size_t>(std::max(intAttribute(params, "axis"), 0))) {}

 protected:
  std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                  const std::vector<Shape>& constants) const override {
    expect(axis_ < inputs[0].size() && constants.size() == 1,
           "has no axis " + std::to_string(axis_) + ", or no indices");
    Shape shape = inputs[0];
    shape[axis_] = static_cast<int>(countOf(constants[0]));
    return {shape};
  }

  void takeConstants(const std::vector<cv::Mat>& constants) override {
    indices_.assign(constants[0].ptr<float>(), constants[0].ptr<float>() + constants[0].total());
  }

  void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) override {
    const Shape shape = shapeOf(inputs[0]);
    const std::size_t width = countOf(shape, axis_ + 1), side = static_cast<std::size_t>(shape[axis_]);
    for (const int index : indices_)
      expect(index >= 0 && static_cast<std::size_t>(index) < side,
             "takes index " + std::to_string(index) + " of " + std::to_string(side));
    const std::size_t rows = width > 0 ? outputs[0].total() / width : 0;
    forRows(parallel_, rows, width, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto from = i / indices_.size() * side + static_cast<std::size_t>(indices_[i % indices_.size()]);
        std::copy_n(inputs[0].ptr<float>() + from * width, width, outputs[0].ptr<float>() + i * width);
      }
    });
  }

 private:
  std::size_t axis_;
  std::vector<int> indices_;
};

}  // namespace

cv::Ptr<cv::dnn::Layer> makeTake(cv::dnn::LayerParams& params) { return cv::makePtr<TakeLayer>(params); }

}  // namespace mpm
