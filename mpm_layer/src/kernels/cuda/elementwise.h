// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/number.h"
#include "kernels/elementwise.h"
#include "kernels/precision.h"

namespace mpm::cuda {

/// Elements of a device array that is passed as void*.
enum class Number { kFloat, kHalf, kBfloat };

/// What the products of this precision read: floats for fp32 and TF32.
Number operandOf(Precision precision);
/// The precision of what stays in floats in a net of `precision`, pixels and what labels are decided by: TF32 where the
/// net rounds at all.
Precision floatPrecision(Precision precision);
std::size_t bytesOf(Number number);

/// to = from, rounded to nearest even. {count}
void convert(const Stream& stream, const float* from, std::size_t count, Number number, void* to);

/// Layer norm (kernels/elementwise.h) of `slices` pieces of {dim} of every row: one for tokens, one per head for the
/// norm of q and k. Piece s of row r begins at element r * stride + s * dim, in y at r * y_stride + s * dim; the
/// strides are multiples of dim. y may be x where types and strides agree. `weight`, `bias` {dim} on the device.
struct NormCall {
  int rows = 0, slices = 1, dim = 0;
  std::size_t stride = 0, y_stride = 0;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float eps = 0;
};
void layerNorm(const Stream& stream, const NormCall& call, Number x_number, const void* x, Number y_number, void* y);

/// y = activation(x) {rows, cols}, y may be x; `gated`: x {rows, 2 cols}, y = activation(first half) * second half, and
/// is not x. Both aligned to 16 bytes.
void activate(const Stream& stream, Activation activation, bool gated, int rows, int cols, Number number, const void* x,
              void* y);

/// y {rows, cols} += bias {cols}, both of type `number`.
void addBias(const Stream& stream, int rows, int cols, Number number, const void* bias, void* y);

/// *found = 1 when one of x {count} is NaN or infinite; else it stays what it is.
void findNotFinite(const Stream& stream, const float* x, std::size_t count, int* found);

/// Every row to length 1, in place; a zero row stays. x {rows, dim}
void normaliseRows(const Stream& stream, int rows, int dim, float* x);

}  // namespace mpm::cuda
