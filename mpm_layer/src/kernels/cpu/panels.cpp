// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/panels.h"

#include <algorithm>

#include "kernels/cpu/highway_targets.h"
#include "kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/panels.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/micro_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

// A panel of this depth is 32 KiB, two thirds of L1. Deeper products run in steps and accumulate in c.
constexpr int kDepthStep = 128;

#if HWY_TARGET != HWY_SCALAR
// Four rows at a time, with 4 x 4 transposes. A scalar scatter is four times slower.
HWY_INLINE void packFourRows(const float* HWY_RESTRICT x, std::ptrdiff_t stride, int depth, float* HWY_RESTRICT panel,
                             std::ptrdiff_t width) {
  const hn::FixedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> dw;
  int k = 0;
  for (; k + 4 <= depth; k += 4) {
    const auto r0 = hn::LoadU(d, x + k), r1 = hn::LoadU(d, x + stride + k);
    const auto r2 = hn::LoadU(d, x + 2 * stride + k), r3 = hn::LoadU(d, x + 3 * stride + k);
    const auto lower01 = hn::BitCast(dw, hn::InterleaveLower(d, r0, r1));
    const auto lower23 = hn::BitCast(dw, hn::InterleaveLower(d, r2, r3));
    const auto upper01 = hn::BitCast(dw, hn::InterleaveUpper(d, r0, r1));
    const auto upper23 = hn::BitCast(dw, hn::InterleaveUpper(d, r2, r3));
    float* to = panel + k * width;
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, lower01, lower23)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, lower01, lower23)), d, to + width);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, upper01, upper23)), d, to + 2 * width);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, upper01, upper23)), d, to + 3 * width);
  }
  for (; k < depth; ++k)
    for (int i = 0; i < 4; ++i) panel[k * width + i] = x[i * stride + k];
}
#endif

void pack(const float* HWY_RESTRICT x, std::ptrdiff_t stride, int rows, int depth, float* HWY_RESTRICT panel,
          std::ptrdiff_t width) {
  int i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + 4 <= rows; i += 4) packFourRows(x + i * stride, stride, depth, panel + i, width);
#endif
  for (; i < rows; ++i)
    for (int k = 0; k < depth; ++k) panel[k * width + i] = x[i * stride + k];
}

// Columns of `to` become rows of x, 16 x 16 values at a time: a cache line of the result is written once. Lines of
// neighbouring columns, often a power of two apart, would drive each other out of L1 before the next rows come.
void transpose(const float* HWY_RESTRICT x, std::ptrdiff_t stride, int rows, int cols, float* HWY_RESTRICT to,
               std::ptrdiff_t to_stride) {
  constexpr int kSide = 16;
  HWY_ALIGN float block[kSide * kSide];
  for (int i = 0; i < rows; i += kSide) {
    for (int k = 0; k < cols; k += kSide) {
      const int height = std::min(kSide, rows - i), width = std::min(kSide, cols - k);
      pack(x + i * stride + k, stride, height, width, block, kSide);
      for (int c = 0; c < width; ++c) std::copy_n(block + c * kSide, height, to + (k + c) * to_stride + i);
    }
  }
}

template <int R, int V>
HWY_INLINE void productTile(const float* HWY_RESTRICT a, std::ptrdiff_t a_stride, int depth,
                            const float* HWY_RESTRICT panel, float* HWY_RESTRICT c, std::ptrdiff_t c_stride, bool add) {
  HWY_ALIGN static constexpr float kZeros[V * kLanes] = {};
  Tile<R, V> tile;
  loadTile<R, V>(add ? c : kZeros, add ? c_stride : 0, tile);
  multiply<R, V>(a, a_stride, panel, kPanel, depth, tile);
  storeTile<R, V>(tile, c, c_stride);
}

template <int R>
HWY_INLINE void productRows(const float* HWY_RESTRICT a, std::ptrdiff_t a_stride, int depth,
                            const float* HWY_RESTRICT panel, float* HWY_RESTRICT c, std::ptrdiff_t c_stride, bool add,
                            int columns) {
  constexpr int kWidth = kTileVectors * kLanes;
  if (kWidth > kPanel / 2 && columns <= kPanel / 2)
    return productTile<R, kTileVectors / 2>(a, a_stride, depth, panel, c, c_stride, add);
  for (int j = 0; j < columns; j += kWidth)
    productTile<R, kTileVectors>(a, a_stride, depth, panel + j, c + j, c_stride, add);
}

void product(const float* HWY_RESTRICT a, std::ptrdiff_t a_stride, int rows, int depth, const float* HWY_RESTRICT panel,
             float* HWY_RESTRICT c, std::ptrdiff_t c_stride, int columns) {
  for (int k = 0; k < depth; k += kDepthStep) {
    const int step = std::min(kDepthStep, depth - k);
    const float* b = panel + static_cast<std::ptrdiff_t>(k) * kPanel;
    forRowGroups(rows, [&](auto group, int i) HWY_ATTR {
      const float* from = a + i * a_stride + k;
      float* to = c + i * c_stride;
      productRows<group()>(from, a_stride, step, b, to, c_stride, k > 0, columns);
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
HWY_EXPORT(pack);
HWY_EXPORT(transpose);
HWY_EXPORT(product);

void packPanel(const float* x, std::ptrdiff_t stride, int rows, int depth, float* panel, int column, int width) {
  HWY_DYNAMIC_DISPATCH(pack)(x, stride, rows, depth, panel + column, width);
}

void rowsToColumns(MatrixView<const float> x, MatrixView<float> y, int column) {
  HWY_DYNAMIC_DISPATCH(transpose)(x.data, x.stride, x.rows, y.rows, y.data + column, y.stride);
}

void clearPanel(float* panel, int depth, int column) {
  for (int k = 0; k < depth; ++k) std::fill(panel + k * kPanel + column, panel + (k + 1) * kPanel, 0.0f);
}

void panelProduct(const float* a, std::ptrdiff_t a_stride, int rows, int depth, const float* panel, float* c,
                  std::ptrdiff_t c_stride, int columns) {
  HWY_DYNAMIC_DISPATCH(product)(a, a_stride, rows, depth, panel, c, c_stride, columns);
}

}  // namespace mpm
#endif  // HWY_ONCE
