// SPDX-License-Identifier: Apache-2.0
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Elements or slices by indices that the net computes: ONNX's Gather, GatherElements and GatherND. A negative index
/// counts from the end.
class GatherLayer final : public HeadLayer {
 public:
  explicit GatherLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params),
        function_(params.get<cv::String>("function", "")),
        axis_(static_cast<std::size_t>(std::max(params.get<int>("axis", 0), 0))) {
    expect(function_ == "Gather" || function_ == "GatherElements" || function_ == "GatherND",
           "does not know the function '" + function_ + "'");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shapes from = operands(inputs, constants);
    expect(from.size() == 2, "has " + std::to_string(from.size()) + " operands, expected 2");
    const Shape &x = from[0], &indices = from[1];
    bool fits = axis_ < x.size();
    if (function_ == "GatherElements") {
      fits = fits && indices.size() == x.size();
      for (std::size_t i = 0; fits && i < x.size(); ++i) fits = i == axis_ || indices[i] <= x[i];
      expect(fits, misfit(x, indices));
      return {indices};
    }
    Shape shape;
    std::size_t behind = axis_ + 1;  // the axes of x from here on are those of a slice
    if (function_ == "Gather") {
      shape.assign(x.begin(), x.begin() + (std::min(axis_, x.size())));
      shape.insert(shape.end(), indices.begin(), indices.end());
    } else {
      fits = fits && axis_ < indices.size() && std::equal(x.begin(), x.begin() + axis_, indices.begin());
      behind = axis_ + (indices.empty() ? 0 : static_cast<std::size_t>(indices.back()));
      if (!indices.empty()) shape.assign(indices.begin(), indices.end() - 1);
    }
    expect(fits && behind <= x.size(), misfit(x, indices));
    shape.insert(shape.end(), x.begin() + behind, x.end());
    return {shape};
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Blobs from = operands(inputs);
    const Shape x = shapeOf(from[0]), indices = shapeOf(from[1]);
    const std::vector<std::size_t> strides = stridesOf(x);
    const auto depth = function_ == "GatherND" ? static_cast<std::size_t>(indices.back()) : 1;
    const std::size_t width = function_ == "GatherElements" ? 1 : countOf(x, axis_ + depth);
    // Where each slice of the result begins. Checked here, because an error must not leave a thread of OpenCV's.
    places_.clear();
    const std::size_t count = width > 0 ? outputs[0].total() / width : 0, per_index = from[1].total() / depth;
    std::vector<std::size_t> other = strides;  // of GatherElements: all axes but this one
    if (axis_ < other.size()) other[axis_] = 0;
    const std::size_t batches = countOf(x) / std::max<std::size_t>(countOf(x, axis_), 1);
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t place = 0, first = i;
      if (function_ == "Gather") {
        first = i % per_index;
        place = i / per_index * countOf(x, axis_);
      } else if (function_ == "GatherElements") {
        place = offsetAt(i, indices, other, indices.size());
      } else {
        place = i / (count / batches) * countOf(x, axis_);
      }
      for (std::size_t k = 0; k < depth; ++k) {
        const int side = x[axis_ + k], index = static_cast<int>(from[1].ptr<float>()[first * depth + k]);
        expect(index >= -side && index < side, "takes index " + std::to_string(index) + " of " + std::to_string(side));
        place += static_cast<std::size_t>(index < 0 ? index + side : index) * strides[axis_ + k];
      }
      places_.push_back(place);
    }
    forRows(parallel_, count, width, [&](std::size_t i) {
      std::copy_n(from[0].ptr<float>() + places_[i], width, outputs[0].ptr<float>() + i * width);
    });
  }

 private:
  std::string misfit(const Shape& x, const Shape& indices) const {
    return "cannot take " + shapeText(indices) + " indices from " + shapeText(x);
  }

  std::string function_;
  std::size_t axis_;  ///< of GatherND: the number of axes of the batch
  std::vector<std::size_t> places_;
};

}  // namespace

LayerPtr makeGather(cv::dnn::LayerParams& params) { return cv::makePtr<GatherLayer>(params); }

}  // namespace mpm
