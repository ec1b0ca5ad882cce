// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <opencv2/core/mat.hpp>
#include <vector>

namespace mpm {

/// The sides of a row-major tensor.
using Shape = std::vector<int>;
using Shapes = std::vector<Shape>;

inline Shape shapeOf(const cv::Mat& blob) { return {blob.size.p, blob.size.p + blob.dims}; }

/// Number of elements along the axes from `first` to before `last`.
inline std::size_t countOf(const Shape& shape, std::size_t first = 0, std::size_t last = SIZE_MAX) {
  std::size_t count = 1;
  for (std::size_t axis = first; axis < std::min(last, shape.size()); ++axis) {
    count *= static_cast<std::size_t>(shape[axis]);
  }
  return count;
}

/// Elements from one entry of an axis to the next, per axis.
inline std::vector<std::size_t> stridesOf(const Shape& shape) {
  std::vector<std::size_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * static_cast<std::size_t>(shape[axis]);
  }
  return strides;
}

/// Some axes of a row-major tensor: their sides, and the strides of the tensor along them.
struct Axes {
  Shape sides;
  std::vector<std::size_t> strides;
};

/// The axes that a reduction over `reduced` keeps, and those over which it goes.
struct ReductionAxes {
  Axes kept, gone;
};
inline ReductionAxes reductionAxes(const Shape& shape, const std::vector<int>& reduced) {
  const std::vector<std::size_t> strides = stridesOf(shape);
  ReductionAxes axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool is_gone = std::find(reduced.begin(), reduced.end(), static_cast<int>(axis)) != reduced.end();
    Axes& of = is_gone ? axes.gone : axes.kept;
    of.sides.push_back(shape[axis]);
    of.strides.push_back(strides[axis]);
  }
  return axes;
}

/// The strides of a tensor that is broadcast to `rank` axes: 0 along those that it repeats.
inline std::vector<std::size_t> broadcastStrides(const Shape& from, std::size_t rank) {
  const std::vector<std::size_t> own = stridesOf(from);
  std::vector<std::size_t> strides(rank, 0);
  const std::size_t missing = rank - from.size();
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] != 1) strides[missing + axis] = own[axis];
  }
  return strides;
}

}  // namespace mpm
