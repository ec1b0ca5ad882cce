// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace mpm {

/// Row-major matrix that does not own its memory. Rows are `stride` elements apart.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  std::ptrdiff_t stride = 0;

  MatrixView() = default;
  MatrixView(T* values, int row_count, int col_count) : MatrixView(values, row_count, col_count, col_count) {}
  MatrixView(T* values, int row_count, int col_count, std::ptrdiff_t row_stride)
      : data(values), rows(row_count), cols(col_count), stride(row_stride) {}
  /// A mutable view converts to a const one.
  template <typename U>
  requires(std::is_same_v<const U, T>) MatrixView(const MatrixView<U>& other)  // NOLINT(google-explicit-constructor)
      : MatrixView(other.data, other.rows, other.cols, other.stride) {}

  T* row(int i) const { return data + i * stride; }
  MatrixView rowRange(int begin, int end) const { return {row(begin), end - begin, cols, stride}; }
};

inline void copyRows(MatrixView<const float> from, MatrixView<float> to) {
  for (int i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.cols, to.row(i));
}

/// Tokens of a batch, {batch, capacity, dim}, of which only the first rows[b] of image b are live (a ragged tensor:
/// values and row counts). Rows past them are undefined and must not be read.
template <typename T>
struct TokensView {
  T* data = nullptr;
  int batch = 0;
  int capacity = 0;
  int dim = 0;
  const int* rows = nullptr;  ///< {batch}, special rows included

  MatrixView<T> image(int b) const { return {data + static_cast<std::ptrdiff_t>(b) * capacity * dim, rows[b], dim}; }
};

}  // namespace mpm
