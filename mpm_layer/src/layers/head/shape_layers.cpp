// SPDX-License-Identifier: Apache-2.0
// ONNX's Reshape, Transpose and Concat. Files keep OpenCV's own; in a net on a device these take their place, so that
// values stay there (net/graph_marks.h). On the CPU a Transpose between channels first and last does, because OpenCV's
// takes longer than the convolutions around it.
#include <algorithm>
#include <functional>
#include <numeric>

#include "kernels/elementwise.h"
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

class MoveLayer : public HeadLayer {
 protected:
  explicit MoveLayer(const cv::dnn::LayerParams& params) : HeadLayer(params, 0) {}
  void compute(const Blobs& /*inputs*/, Blobs& /*outputs*/) override {
    fail("runs on a device only; a file has ONNX's own operator");
  }
};

/// Without the attribute `shape` it is ONNX's Identity.
class ReshapeLayer final : public MoveLayer {
 public:
  explicit ReshapeLayer(const cv::dnn::LayerParams& params) : MoveLayer(params), shape_(integersOf(params, "shape")) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    if (shape_.empty()) return {inputs[0]};
    Shape shape = shape_;
    std::size_t known = 1;
    int* open = nullptr;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 0 && axis < inputs[0].size()) shape[axis] = inputs[0][axis];
      if (shape[axis] == -1 && open == nullptr)
        open = &shape[axis];
      else
        known *= static_cast<std::size_t>(std::max(shape[axis], 0));
    }
    const std::size_t count = countOf(inputs[0]);
    if (open != nullptr && known > 0) *open = static_cast<int>(count / known);
    expect(countOf(shape) == count, "cannot give " + shapeText(inputs[0]) + " the shape " + shapeText(shape_));
    return {shape};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& /*inputs*/) override {
    return device.reshape();
  }

 private:
  Shape shape_;
};

class TransposeLayer final : public MoveLayer {
 public:
  explicit TransposeLayer(const cv::dnn::LayerParams& params) : MoveLayer(params), axes_(integersOf(params, "perm")) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    expect(axes_.size() == inputs[0].size(), "has another rank than " + shapeText(inputs[0]));
    Shape shape;
    for (const int axis : axes_) {
      expect(axis >= 0 && axis < static_cast<int>(inputs[0].size()), "has no axis " + std::to_string(axis));
      shape.push_back(inputs[0][static_cast<std::size_t>(axis)]);
    }
    return {shape};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& /*inputs*/) override {
    return device.transpose(axes_);
  }

  // Of each image the pixels {rows, cols} become {cols, rows}.
  void compute(const Blobs& inputs, Blobs& outputs) override {
    const auto split = movedRuns(axes_);
    expect(split.has_value(),
           "runs on the CPU only where two runs of axes change places; a file has ONNX's own operator");
    const Shape shape = shapeOf(inputs[0]);
    const auto product = [&](std::size_t begin, std::size_t end) {
      return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                             shape.begin() + static_cast<std::ptrdiff_t>(end), std::size_t{1}, std::multiplies<>());
    };
    const std::size_t images = product(0, split->first), rows = product(split->first, split->second);
    const std::size_t cols = product(split->second, shape.size());
    constexpr std::size_t kStep = 64;  // rows of a task: whole cache lines of the result
    const std::size_t steps = (rows + kStep - 1) / kStep;
    parallel_.run(static_cast<int>(images * steps), [&](int task) {
      const std::size_t image = static_cast<std::size_t>(task) / steps,
                        begin = static_cast<std::size_t>(task) % steps * kStep;
      const MatrixView<const float> some(inputs[0].ptr<float>() + (image * rows + begin) * cols,
                                         static_cast<int>(std::min(kStep, rows - begin)), static_cast<int>(cols));
      rowsToColumns(some, {outputs[0].ptr<float>() + image * rows * cols, some.cols, static_cast<int>(rows)},
                    static_cast<int>(begin));
    });
  }

 private:
  std::vector<int> axes_;
};

class ConcatLayer final : public MoveLayer {
 public:
  explicit ConcatLayer(const cv::dnn::LayerParams& params) : MoveLayer(params), axis_(attribute<int>(params, "axis")) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    Shape shape = inputs[0];
    const std::size_t axis = axisOf(shape.size());
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      Shape other = inputs[i];
      expect(other.size() == shape.size(), "joins " + shapeText(inputs[0]) + " and " + shapeText(other));
      shape[axis] += other[axis];
      other[axis] = shape[axis];
      expect(other == shape, "joins " + shapeText(inputs[0]) + " and " + shapeText(inputs[i]));
    }
    return {shape};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& inputs) override {
    return device.concatenate(axisOf(static_cast<std::size_t>(inputs[0].dims)));
  }

 private:
  std::size_t axisOf(std::size_t rank) const {
    const int axis = axis_ < 0 ? axis_ + static_cast<int>(rank) : axis_;
    expect(axis >= 0 && axis < static_cast<int>(rank), "has no axis " + std::to_string(axis_));
    return static_cast<std::size_t>(axis);
  }

  int axis_;
};

}  // namespace

std::optional<std::pair<std::size_t, std::size_t>> movedRuns(const std::vector<int>& axes) {
  std::size_t first = 0;
  while (first < axes.size() && axes[first] == static_cast<int>(first)) ++first;
  if (first == axes.size()) return std::nullopt;
  std::vector<int> back = axes;
  std::rotate(back.begin() + static_cast<std::ptrdiff_t>(first),
              std::find(back.begin(), back.end(), static_cast<int>(first)), back.end());
  for (std::size_t i = 0; i < back.size(); ++i)
    if (back[i] != static_cast<int>(i)) return std::nullopt;
  return std::pair(first, static_cast<std::size_t>(axes[first]));
}

LayerPtr makeReshape(cv::dnn::LayerParams& params) { return cv::makePtr<ReshapeLayer>(params); }

LayerPtr makeTranspose(cv::dnn::LayerParams& params) { return cv::makePtr<TransposeLayer>(params); }

LayerPtr makeConcat(cv::dnn::LayerParams& params) { return cv::makePtr<ConcatLayer>(params); }

}  // namespace mpm
