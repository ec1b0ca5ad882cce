// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "layers/device_net.h"
#include "layers/mpm_layer.h"

namespace mpm {

/// An operator of any rank for the head of a model, with ONNX's meaning. Some of its operands may be constants; the
/// attribute `constants` has their positions. OpenCV 4 fixes the rank of a constant at 2 or more, so the converter
/// writes them so.
class HeadLayer : public MpmLayer {
 protected:
  explicit HeadLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params, static_cast<int>(integersOf(params, "constants").size())) {}
  HeadLayer(const cv::dnn::LayerParams& params, int constants)
      : MpmLayer(params, constants), constant_at_(integersOf(params, "constants")) {}

  static std::vector<int> integersOf(const cv::dnn::LayerParams& params, const std::string& key) {
    std::vector<int> values;
    if (!params.has(key)) return values;
    const cv::dnn::DictValue& list = params.get(key);
    for (int i = 0; i < list.size(); ++i) values.push_back(list.get<int>(i));
    return values;
  }

  void takeConstants(const Blobs& constants) override {
    for (const cv::Mat& constant : constants) kept_.push_back(constant.clone());
  }

  /// Apart from the loops over indices, because the text takes longer than what they do.
  [[noreturn]] void refuseIndex(int index, int side) const {
    fail("takes index " + std::to_string(index) + " of " + std::to_string(side));
  }

  /// Activations and constants in the order of ONNX's operands.
  template <typename T>
  std::vector<T> operands(std::vector<T> activations, const std::vector<T>& constants) const {
    for (std::size_t i = 0; i < constants.size(); ++i) {
      const auto at = static_cast<std::size_t>(std::max(constant_at_[i], 0));
      expect(at <= activations.size(), "has a constant at operand " + std::to_string(constant_at_[i]) + " of " +
                                           std::to_string(activations.size() + constants.size() - i));
      activations.insert(activations.begin() + at, constants[i]);
    }
    return activations;
  }
  Blobs operands(const Blobs& inputs) const { return operands(inputs, kept_); }
  /// The constants for a device.
  ConstantOperands constantOperands(const Blobs& constants) const { return {constant_at_, constants}; }

 private:
  std::vector<int> constant_at_;
  Blobs kept_;
};

/// Offset of element `index` of a row-major tensor of the first strides.size() axes of `shape` in another layout.
inline std::size_t offsetAt(std::size_t index, const Shape& shape, const std::vector<std::size_t>& strides,
                            std::size_t axes) {
  std::size_t offset = 0;
  for (std::size_t axis = axes; axis-- > 0;) {
    const auto side = static_cast<std::size_t>(shape[axis]);
    offset += index % side * strides[axis];
    index /= side;
  }
  return offset;
}

/// The offset of every element of a tensor of this shape in a layout with these strides.
inline std::vector<std::size_t> placesOf(const Shape& shape, const std::vector<std::size_t>& strides) {
  std::vector<std::size_t> places(countOf(shape));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = offsetAt(i, shape, strides, shape.size());
  return places;
}

/// Calls body(begin, end) for ranges of `count` rows of `width` elements, large enough to be worth a task.
template <typename Body>
void forRanges(const Parallel& parallel, std::size_t count, std::size_t width, const Body& body) {
  const std::size_t step = std::max<std::size_t>(1, (std::size_t{1} << 14) / std::max<std::size_t>(width, 1));
  parallel.run(static_cast<int>((count + step - 1) / step), [&](int task) {
    const std::size_t begin = static_cast<std::size_t>(task) * step;
    body(begin, std::min(begin + step, count));
  });
}

/// Like forRanges(), but calls body(row) for each row.
template <typename Body>
void forRows(const Parallel& parallel, std::size_t count, std::size_t width, const Body& body) {
  forRanges(parallel, count, width, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) body(row);
  });
}

}  // namespace mpm
