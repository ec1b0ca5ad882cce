// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/element_functions.h"
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

class ReduceLayer final : public HeadLayer {
 public:
  explicit ReduceLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params), axes_(integersOf(params, "axes")), keep_(params.get<int>("keepdims", 1) != 0) {
    function_ = params.get<cv::String>("function", "");
    largest_ = function_ == "ArgMax";
    seeks_ = largest_ || function_ == "ArgMin";
    last_ = params.get<int>("last", 0) != 0;
    reduction_ = elementReduction(function_);
    expect(reduction_ || (seeks_ && axes_.size() == 1), "does not know the function '" + function_ + "', or its axes");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    const int rank = static_cast<int>(inputs[0].size());
    Shape result;
    for (const int axis : axes_) expect(axis >= 0 && axis < rank, "has no axis " + std::to_string(axis));
    for (int axis = 0; axis < rank; ++axis) {
      if (!reduces(axis))
        result.push_back(inputs[0][axis]);
      else if (keep_)
        result.push_back(1);
    }
    return {result};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& /*inputs*/) override {
    return device.reduce({function_, axes_, last_});
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const ReductionAxes axes = reductionAxes(shapeOf(inputs[0]), axes_);
    const Axes& kept = axes.kept;
    const std::vector<std::size_t> places = placesOf(axes.gone.sides, axes.gone.strides);
    forRows(parallel_, countOf(kept.sides), places.size(), [&](std::size_t i) {
      const float* const x = inputs[0].ptr<float>() + offsetAt(i, kept.sides, kept.strides, kept.sides.size());
      outputs[0].ptr<float>()[i] = seeks_ ? extremeOf(x, places) : reduced(x, places);
    });
  }

 private:
  bool reduces(int axis) const { return std::find(axes_.begin(), axes_.end(), axis) != axes_.end(); }

  float reduced(const float* x, const std::vector<std::size_t>& places) const {
    double value = reduction_->start;
    for (const std::size_t place : places) value = reduction_->step(value, static_cast<double>(x[place]));
    return static_cast<float>(reduction_->finish(value, static_cast<double>(places.size())));
  }

  /// Ties go to the first, or to the last.
  float extremeOf(const float* x, const std::vector<std::size_t>& places) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < places.size(); ++i) {
      const float a = x[places[i]], b = x[places[best]];
      if ((largest_ ? a > b : a < b) || (last_ && a == b)) best = i;
    }
    return static_cast<float>(best);
  }

  std::string function_;
  std::vector<int> axes_;
  bool keep_, seeks_ = false, largest_ = false, last_ = false;
  const ElementReduction* reduction_ = nullptr;
};

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

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& /*inputs*/) override {
    return device.topK(axis_, k_, largest_);
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

/// Softmax along one axis. Only in nets on a device, where it takes the place of ONNX's operator (net/graph_marks.h).
class SoftmaxLayer final : public HeadLayer {
 public:
  explicit SoftmaxLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params), axis_(attribute<int>(params, "axis")) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    axisOf(inputs[0]);
    return {inputs[0]};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& inputs) override {
    return device.softmax(axisOf(shapeOf(inputs[0])));
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Shape shape = shapeOf(inputs[0]);
    const std::size_t axis = axisOf(shape), width = countOf(shape, axis + 1);
    const auto side = static_cast<std::size_t>(shape[axis]);
    forRows(parallel_, countOf(shape, 0, axis) * width, side, [&](std::size_t row) {
      const std::size_t first = row / width * side * width + row % width;
      const float* const x = inputs[0].ptr<float>() + first;
      float* const y = outputs[0].ptr<float>() + first;
      float top = x[0];
      for (std::size_t i = 1; i < side; ++i) top = std::max(top, x[i * width]);
      double sum = 0;
      for (std::size_t i = 0; i < side; ++i) sum += static_cast<double>(y[i * width] = std::exp(x[i * width] - top));
      for (std::size_t i = 0; i < side; ++i) y[i * width] /= static_cast<float>(sum);
    });
  }

 private:
  /// A negative axis counts from the end.
  std::size_t axisOf(const Shape& shape) const {
    const int rank = static_cast<int>(shape.size());
    expect(axis_ >= -rank && axis_ < rank, "has no axis " + std::to_string(axis_));
    return static_cast<std::size_t>(axis_ < 0 ? axis_ + rank : axis_);
  }

  int axis_;
};

}  // namespace

LayerPtr makeReduce(cv::dnn::LayerParams& params) { return cv::makePtr<ReduceLayer>(params); }

LayerPtr makeSoftmax(cv::dnn::LayerParams& params) { return cv::makePtr<SoftmaxLayer>(params); }

LayerPtr makeTopK(cv::dnn::LayerParams& params) { return cv::makePtr<TopKLayer>(params); }

}  // namespace mpm
