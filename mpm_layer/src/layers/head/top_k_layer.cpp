// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// ONNX's TopK along one axis: the k largest or smallest, the best first, and their indices. Of equal ones the first
/// wins. A NaN counts as the largest.
class TopKLayer final : public HeadLayer {
 public:
  explicit TopKLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params),
        axis_(static_cast<std::size_t>(std::max(attribute<int>(params, "axis"), 0))),
        k_(attribute<int>(params, "k")),
        largest_(params.get<int>("largest", 1) != 0) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    Shape shape = inputs[0];
    expect(axis_ < shape.size() && k_ > 0 && k_ <= shape[axis_],
           "cannot take " + std::to_string(k_) + " along axis " + std::to_string(axis_) + " of " + shapeText(shape));
    shape[axis_] = k_;
    return {shape, shape};
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Shape shape = shapeOf(inputs[0]);
    const std::size_t width = countOf(shape, axis_ + 1), side = static_cast<std::size_t>(shape[axis_]);
    const std::size_t rows = inputs[0].total() / std::max<std::size_t>(side, 1), k = static_cast<std::size_t>(k_);
    forRanges(parallel_, rows, 8 * side, [&](std::size_t begin, std::size_t end) {
      std::vector<int> order(side);
      for (std::size_t row = begin; row < end; ++row) {
        const float* const x = inputs[0].ptr<float>() + row / width * side * width + row % width;
        const std::size_t to = row / width * k * width + row % width;
        const auto before = [&](float a, float b) { return std::isnan(b) ? false : std::isnan(a) || a > b; };
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + k_, order.end(), [&](int i, int j) {
          const float a = x[static_cast<std::size_t>(i) * width], b = x[static_cast<std::size_t>(j) * width];
          const bool first = largest_ ? before(a, b) : before(b, a), second = largest_ ? before(b, a) : before(a, b);
          return first || (!second && i < j);
        });
        for (std::size_t i = 0; i < k; ++i) {
          outputs[0].ptr<float>()[to + i * width] = x[static_cast<std::size_t>(order[i]) * width];
          outputs[1].ptr<float>()[to + i * width] = static_cast<float>(order[i]);
        }
      }
    });
  }

 private:
  std::size_t axis_;
  int k_;
  bool largest_;
};

}  // namespace

LayerPtr makeTopK(cv::dnn::LayerParams& params) { return cv::makePtr<TopKLayer>(params); }

}  // namespace mpm
