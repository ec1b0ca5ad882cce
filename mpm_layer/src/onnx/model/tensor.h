// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mpm::onnx_graph {

using Shape = std::vector<std::int64_t>;

/// Product of the sides. Throws mpm::Error when a side is negative or the product exceeds `limit` elements.
std::int64_t elements(const Shape& shape, std::int64_t limit = std::int64_t{1} << 31);

/// "1x3x224x224"; "scalar" for rank 0.
std::string toString(const Shape& shape);

/// NumPy's rule. Throws mpm::Error when the two do not fit.
Shape broadcast(const Shape& a, const Shape& b);

/// Flat index into a tensor of shape `from` for every element of `to`, to which `from` broadcasts.
std::vector<std::int64_t> broadcastIndices(const Shape& from, const Shape& to);

/// A constant: every float type of ONNX is held as float, every integer type and bool as int64. Copies are cheap, the
/// elements are shared and never change.
struct Tensor {
  Shape shape;
  std::shared_ptr<const std::vector<float>> floats;
  std::shared_ptr<const std::vector<std::int64_t>> ints;

  static Tensor of(Shape shape, std::vector<float> values);
  static Tensor of(Shape shape, std::vector<std::int64_t> values);

  bool isFloat() const { return floats != nullptr; }
  std::int64_t size() const;
  /// The element as a number, whatever the type.
  double at(std::int64_t index) const;
  /// The same elements under another shape of equal size.
  Tensor reshaped(Shape other) const;
  /// The elements broadcast to `target`, as floats.
  std::vector<float> broadcastTo(const Shape& target) const;
  /// The value that all elements have; nullopt: they differ, or there are none.
  std::optional<double> uniform() const;
};

}  // namespace mpm::onnx_graph
