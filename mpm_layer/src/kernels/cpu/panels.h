// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace mpm {

/// Columns of a panel: rows of a matrix laid out depth-major, {depth, kPanel}, as the micro-kernels read their
/// right-hand side. 64 floats are 4 AVX-512 vectors, and a panel of depth 64 is a third of L1.
constexpr int kPanel = 64;

constexpr int panelsFor(int rows) { return (rows + kPanel - 1) / kPanel; }

/// panel {depth, width}: panel[k][column + i] = x[i][k] for i < rows, k < depth. column + rows <= width.
void packPanel(const float* x, std::ptrdiff_t stride, int rows, int depth, float* panel, int column,
               int width = kPanel);

/// Columns [column, kPanel) become zero.
void clearPanel(float* panel, int depth, int column);

/// c[i][j] = sum over k of a[i][k] panel[k][j], i < rows, j < columns; every element is summed in the order of k,
/// at any i and j. The rest of the kPanel columns of c may change. `panel` and `c` aligned to 64 bytes, c_stride a
/// multiple of 16.
void panelProduct(const float* a, std::ptrdiff_t a_stride, int rows, int depth, const float* panel, float* c,
                  std::ptrdiff_t c_stride, int columns = kPanel);

}  // namespace mpm
