// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/tensor.h"

#include <algorithm>

#include "mpm/error.hpp"

namespace mpm::onnx_graph {

std::int64_t elements(const Shape& shape, std::int64_t limit) {
  std::int64_t count = 1;
  for (const std::int64_t side : shape) {
    if (side < 0) throw Error("a tensor has the negative side " + std::to_string(side));
    if (side > 0 && count > limit / side)
      throw Error("a tensor of shape " + toString(shape) + " is larger than this program takes");
    count *= std::max<std::int64_t>(side, 1);
  }
  return std::ranges::find(shape, 0) == shape.end() ? count : 0;
}

std::string toString(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const std::int64_t side : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(side);
  }
  return text;
}

Shape strides(const Shape& shape) {
  Shape result(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) result[axis - 1] = result[axis] * shape[axis];
  return result;
}

Integers strided(const Shape& shape, const Shape& stride, std::int64_t offset) {
  Integers from(elements(shape));
  Shape position(shape.size(), 0);
  std::int64_t index = offset;
  for (std::int64_t& out : from) {
    out = index;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      index += stride[axis];
      if (++position[axis] < shape[axis]) break;
      index -= stride[axis] * shape[axis];
      position[axis] = 0;
    }
  }
  return from;
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (std::size_t axis = 0; axis < result.size(); ++axis) {
    const std::size_t back = result.size() - axis;
    const std::int64_t left = back <= a.size() ? a[a.size() - back] : 1;
    const std::int64_t right = back <= b.size() ? b[b.size() - back] : 1;
    if (left != right && left != 1 && right != 1)
      throw Error("shapes " + toString(a) + " and " + toString(b) + " do not fit each other");
    result[axis] = left == 1 ? right : left;
  }
  return result;
}

Integers broadcastIndices(const Shape& from, const Shape& to) {
  elements(to);
  Shape stride(to.size(), 0);
  std::int64_t step = 1;
  for (std::size_t back = 1; back <= from.size(); ++back) {
    const std::int64_t side = from[from.size() - back];
    if (back > to.size() || (side != 1 && side != to[to.size() - back]))
      throw Error("a tensor of shape " + toString(from) + " does not broadcast to " + toString(to));
    if (side != 1) stride[to.size() - back] = step;
    step *= side;
  }
  return strided(to, stride);
}

Tensor Tensor::reshaped(Shape other) const {
  if (elements(other) != size())
    throw Error("a tensor of shape " + toString(shape) + " cannot be reshaped to " + toString(other));
  return {std::move(other), floats, ints};
}

Tensor Tensor::picked(Shape other, const Integers& from) const {
  const auto pick = [&](const auto& values) {
    std::remove_cvref_t<decltype(values)> result;
    result.reserve(from.size());
    for (const std::int64_t i : from) result.push_back(values[i]);
    return Tensor::of(std::move(other), std::move(result));
  };
  return isFloat() ? pick(*floats) : pick(*ints);
}

std::vector<float> Tensor::broadcastTo(const Shape& target) const {
  const Integers indices = broadcastIndices(shape, target);
  std::vector<float> values(indices.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(at(indices[i]));
  return values;
}

std::optional<double> Tensor::uniform() const {
  if (size() == 0) return std::nullopt;
  for (std::int64_t i = 1; i < size(); ++i)
    if (at(i) != at(0)) return std::nullopt;
  return at(0);
}

Tensor joined(const std::vector<Tensor>& tensors) {
  if (tensors.size() == 1) return tensors[0];
  const auto join = [&](auto values) {
    auto all = *(tensors[0].*values);
    for (std::size_t i = 1; i < tensors.size(); ++i)
      all.insert(all.end(), (tensors[i].*values)->begin(), (tensors[i].*values)->end());
    const auto count = std::ssize(all);
    return Tensor::of({count}, std::move(all));
  };
  return tensors[0].isFloat() ? join(&Tensor::floats) : join(&Tensor::ints);
}

}  // namespace mpm::onnx_graph
