// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/window_attention.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/kernel.cuh"

namespace mpm::cuda {
namespace {

constexpr int kThreads = 256;

// Row i of the result of image b is row rows[i] of its `count` rows of x, or zeros for -1. One thread per element.
template <typename T>
__global__ void gatherRows(const T* x, int count, int dim, const int* rows, int taken, T* y) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int b = static_cast<int>(blockIdx.y);
  if (i >= taken * dim) return;
  const int row = rows[i / dim];
  const T value = row < 0 ? fromFloat<T>(0.0f) : rowOf(x, static_cast<std::ptrdiff_t>(b) * count + row, dim)[i % dim];
  rowOf(y, static_cast<std::ptrdiff_t>(b) * taken, dim)[i] = value;
}

void gather(const Stream& stream, Number number, const void* x, int batch, int count, int dim, const Buffer<int>& rows,
            int taken, void* y) {
  withNumber(number, [&](auto zero) {
    using T = decltype(zero);
    launch(gatherRows<T>, Grid{piecesOf(taken * dim, kThreads), static_cast<unsigned>(batch)}, kThreads, 0, stream,
           static_cast<const T*>(x), count, dim, static_cast<const int*>(rows.data()), taken, static_cast<T*>(y));
  });
}

std::vector<int> integers(const float* values, std::size_t count) { return {values, values + count}; }

}  // namespace

// All fields of the spec are bound by name: one that is new does not compile until it is used here.
WindowAttention::WindowAttention(const Stream& stream, const WindowAttentionSpec& spec) : layers_(stream, spec) {
  const auto& [windows, position_bias, relative] = static_cast<const WindowSpec&>(spec);
  windows_ = windows.count;
  tokens_ = windows.tokens;
  const std::vector<int> row_of = integers(windows.rows, area(windows_, tokens_));
  rows_ = static_cast<int>(row_of.size()) - static_cast<int>(std::count(row_of.begin(), row_of.end(), -1));
  std::vector<int> place_of(static_cast<std::size_t>(rows_));
  for (std::size_t i = 0; i < row_of.size(); ++i)
    if (row_of[i] >= 0) place_of[static_cast<std::size_t>(row_of[i])] = static_cast<int>(i);
  row_of_ = uploaded(stream, row_of);
  place_of_ = uploaded(stream, place_of);
  if (position_bias.entries > 0) {
    table_ = uploaded(
        stream, std::vector<float>(position_bias.table, position_bias.table + area(spec.heads, position_bias.entries)));
    if (position_bias.index != nullptr)
      index_ = uploaded(stream, integers(position_bias.index, area(tokens_, tokens_)));
    positions_.tokens = tokens_;
    positions_.table = table_.data();
    positions_.index = index_.data();
    positions_.entries = position_bias.entries;
  }
  if (relative.height > 0) {
    const auto onDevice = [&](const float* table, int side) {
      return uploaded(stream, std::vector<float>(table, table + area(2 * side - 1, spec.head_dim)));
    };
    row_positions_ = onDevice(relative.rows, relative.height);
    column_positions_ = onDevice(relative.columns, relative.width);
    positions_.tokens = tokens_;
    positions_.height = relative.height;
    positions_.width = relative.width;
  }
}

void WindowAttention::run(const Stream& stream, Gemm& gemm, BlockWorkspace& workspace, int batch, float* x) {
  const int windows = batch * windows_, n = batch * rows_, placed = windows * tokens_;
  const int dim = layers_.dim(), width = layers_.width(), heads = layers_.heads();
  const Number operand = layers_.operand();
  const std::size_t bytes = bytesOf(operand);
  if (batch != batch_) {
    std::vector<int> offsets;
    for (int i = 0; i <= windows; ++i) offsets.push_back(i * tokens_);
    offsets_ = uploaded(stream, offsets);
    batch_ = batch;
  }
  void* const normalised = workspace.normalised.atLeast(stream, area(n, std::max(dim, width)) * bytes);
  void* const gathered = workspace.beside.atLeast(stream, area(placed, dim) * bytes);
  void* const qkv = workspace.wide.atLeast(stream, area(placed, 3 * width) * bytes);
  void* const attended = workspace.attended.atLeast(stream, area(placed, width) * bytes);

  layers_.normalise(stream, n, x, normalised);
  gather(stream, operand, normalised, batch, rows_, dim, row_of_, windows_ * tokens_, gathered);
  layers_.project(stream, gemm, placed, gathered, qkv);
  AttentionCall call{heads, layers_.headDim(), layers_.scale(), nullptr, {windows, offsets_.data(), placed, tokens_}};
  call.positions = positions_;
  if (positions_.height > 0) {
    float* const products =
        workspace.products.atLeast(stream, area(placed, heads * (positions_.height + positions_.width)));
    relativeProducts(stream, call, positions_.height, positions_.width, row_positions_.data(), column_positions_.data(),
                     operand, qkv, products);
    call.positions.products = products;
  }
  attention(stream, call, operand, qkv, attended);
  // The rows of the image again, in the memory of the normalised ones.
  gather(stream, operand, attended, batch, windows_ * tokens_, width, place_of_, rows_, normalised);
  layers_.addTo(stream, gemm, n, normalised, x);
}

}  // namespace mpm::cuda
