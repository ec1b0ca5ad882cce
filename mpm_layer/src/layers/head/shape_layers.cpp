// SPDX-License-Identifier: Apache-2.0
// ONNX's Reshape, Transpose and Concat. Files keep OpenCV's own; in a net on a device these take their place, so that
// values stay there (net/graph_marks.h).
#include <algorithm>

#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

class MoveLayer : public HeadLayer {
 protected:
  explicit MoveLayer(const cv::dnn::LayerParams& params) : HeadLayer(params, 0) {}
  void compute(const Blobs& /*inputs*/, Blobs& /*outputs*/) final {
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

LayerPtr makeReshape(cv::dnn::LayerParams& params) { return cv::makePtr<ReshapeLayer>(params); }

LayerPtr makeTranspose(cv::dnn::LayerParams& params) { return cv::makePtr<TransposeLayer>(params); }

LayerPtr makeConcat(cv::dnn::LayerParams& params) { return cv::makePtr<ConcatLayer>(params); }

}  // namespace mpm
