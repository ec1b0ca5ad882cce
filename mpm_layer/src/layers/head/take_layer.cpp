// SPDX-License-Identifier: Apache-2.0
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Slices along one axis, picked by constant indices, which may repeat: ONNX's Gather, and what Slice, Split, Expand,
/// Tile and Pad do along an axis. With the attribute `fill`, index -1 is a slice of that value.
class TakeLayer final : public HeadLayer {
 public:
  explicit TakeLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params),
        axis_(static_cast<std::size_t>(std::max(intAttribute(params, "axis"), 0))),
        lowest_(params.has("fill") ? -1 : 0),
        fill_(params.get<float>("fill", 0)) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    expect(axis_ < inputs[0].size() && constants.size() == 1,
           "has no axis " + std::to_string(axis_) + ", or no indices");
    Shape shape = inputs[0];
    shape[axis_] = static_cast<int>(countOf(constants[0]));
    return {shape};
  }

  void takeConstants(const Blobs& constants) override {
    indices_.assign(constants[0].ptr<float>(), constants[0].ptr<float>() + constants[0].total());
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Shape shape = shapeOf(inputs[0]);
    const std::size_t width = countOf(shape, axis_ + 1), side = static_cast<std::size_t>(shape[axis_]);
    for (const int index : indices_)
      expect(index >= lowest_ && index < shape[axis_],
             "takes index " + std::to_string(index) + " of " + std::to_string(side));
    const std::size_t rows = width > 0 ? outputs[0].total() / width : 0;
    forRows(parallel_, rows, width, [&](std::size_t i) {
      const int index = indices_[i % indices_.size()];
      float* const to = outputs[0].ptr<float>() + i * width;
      if (index < 0) {
        std::fill_n(to, width, fill_);
        return;
      }
      const auto from = i / indices_.size() * side + static_cast<std::size_t>(index);
      std::copy_n(inputs[0].ptr<float>() + from * width, width, to);
    });
  }

 private:
  std::size_t axis_;
  int lowest_;
  float fill_;
  std::vector<int> indices_;
};

}  // namespace

LayerPtr makeTake(cv::dnn::LayerParams& params) { return cv::makePtr<TakeLayer>(params); }

}  // namespace mpm
