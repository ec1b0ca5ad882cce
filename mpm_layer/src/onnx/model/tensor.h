// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpm::onnx_graph {

using Integers = std::vector<std::int64_t>;
using Shape = Integers;

/// Product of the sides. Throws mpm::Error when a side is negative or the product exceeds `limit` elements.
std::int64_t elements(const Shape& shape, std::int64_t limit = std::int64_t{1} << 31);

/// Product of the sides in front of `axis`, and of those from it on.
inline std::int64_t elementsBefore(const Shape& shape, std::size_t axis) {
  return elements(Shape(shape.begin(), shape.begin() + axis));
}
inline std::int64_t elementsFrom(const Shape& shape, std::size_t axis) {
  return elements(Shape(shape.begin() + axis, shape.end()));
}

/// "1x3x224x224"; "scalar" for rank 0.
std::string toString(const Shape& shape);

/// Steps in memory from one index of each axis to the next.
Shape strides(const Shape& shape);

/// For each element p of a tensor of this shape: offset + sum p_a * stride_a.
Integers strided(const Shape& shape, const Shape& stride, std::int64_t offset = 0);

/// NumPy's rule. Throws mpm::Error when the two do not fit.
Shape broadcast(const Shape& a, const Shape& b);

/// Flat index into a tensor of shape `from` for every element of `to`, to which `from` broadcasts.
Integers broadcastIndices(const Shape& from, const Shape& to);

/// A constant: every float type of ONNX is held as float, every integer type and bool as int64. Copies are cheap, the
/// elements are shared and never change.
struct Tensor {
  Shape shape;
  std::shared_ptr<const std::vector<float>> floats;
  std::shared_ptr<const Integers> ints;

  static Tensor of(Shape shape, std::vector<float> values) {
    return {std::move(shape), std::make_shared<const std::vector<float>>(std::move(values)), nullptr};
  }
  static Tensor of(Shape shape, Integers values) {
    return {std::move(shape), nullptr, std::make_shared<const Integers>(std::move(values))};
  }

  bool isFloat() const { return floats != nullptr; }
  std::int64_t size() const { return isFloat() ? std::ssize(*floats) : std::ssize(*ints); }
  /// The element as a number, whatever the type.
  double at(std::int64_t index) const {
    const auto i = static_cast<std::size_t>(index);
    return isFloat() ? static_cast<double>((*floats)[i]) : static_cast<double>((*ints)[i]);
  }
  /// These elements under another shape of equal size.
  Tensor reshaped(Shape other) const;
  /// A tensor of the elements with the flat indices `from`.
  Tensor picked(Shape other, const Integers& from) const;
  /// The elements broadcast to `target`, as floats.
  std::vector<float> broadcastTo(const Shape& target) const;
  /// The value that all elements have; nullopt: they differ, or there are none.
  std::optional<double> uniform() const;
};

/// The elements of all tensors, which are of one type, end to end.
Tensor joined(const std::vector<Tensor>& tensors);

}  // namespace mpm::onnx_graph
