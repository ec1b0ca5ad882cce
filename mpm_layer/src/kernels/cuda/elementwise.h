// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/elementwise.h"
#include "kernels/precision.h"
#include "kernels/transformer_block.h"

namespace mpm::cuda {

/// Element type of a device array that is passed as void*.
enum class Number { kFloat, kHalf, kBfloat };

/// Type of the operands of matrix products in this precision. fp32 and TF32 read floats.
Number operandOf(Precision precision);
/// Precision of the products that keep float operands (patch embedding, mask scores): fp32 in an fp32 net, else TF32.
Precision floatPrecision(Precision precision);
std::size_t bytesOf(Number number);

/// to = from, rounded to nearest even. {count}
void convert(const Stream& stream, const float* from, std::size_t count, Number number, void* to);

/// Norm (kernels/elementwise.h) of `slices` slices of {dim} of every row: one for tokens, one per head for the
/// norm of q and k. Slice s of row r begins at element r * stride + s * dim, in y at r * y_stride + s * dim. The
/// strides are multiples of dim. y may be x if types and strides are equal. `weight`, `bias` {dim}, or {slices, dim},
/// on the device.
struct NormCall {
  int rows = 0, slices = 1, dim = 0;
  std::ptrdiff_t stride = 0, y_stride = 0;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float eps = 0;
  bool rms = false;  ///< RMSNorm; else LayerNorm
  bool own = false;  ///< each slice has its own weights, {slices, dim}

  bool operator==(const NormCall&) const = default;
};
void norm(const Stream& stream, const NormCall& call, Number x_number, const void* x, Number y_number, void* y);

/// A norm with its weights on the device.
class Norm {
 public:
  Norm() = default;
  /// `weights` on the host; copied. `slices` of them, or one for all slices.
  Norm(const Stream& stream, const NormWeights& weights, int dim, int slices = 1);

  /// x, y {rows, dim}.
  void run(const Stream& stream, int rows, Number x_number, const void* x, Number y_number, void* y) const;
  /// In place, the first `slices` slices of {dim} of rows that are `stride` elements apart.
  void runOnSlices(const Stream& stream, int rows, int slices, int stride, Number number, void* x) const;

 private:
  Buffer<float> weight_, bias_;
  float eps_ = 0;
  bool rms_ = false, own_ = false;
  int dim_ = 0;
};

/// Rotary positions, as rotate() of kernels/elementwise.h, of packed rows with q and k. The special rows in front of
/// each image stay as they are.
struct RotaryCall {
  int heads = 0, head_dim = 0, special = 0;
  int tables = 0;  ///< 1, or one per head
  int pairs = 0;   ///< columns that turn with another column, per head
  Ragged rows;
  const float* rotations =
      nullptr;  ///< {rows.total - batch * special, 2 * tables * pairs}, packed: cosines, then sines

  bool operator==(const RotaryCall&) const = default;
};
/// x {rows.total, stride}: q and k, each head-major, in the first 2 * heads * head_dim columns. In place.
void rotate(const Stream& stream, const RotaryCall& call, std::ptrdiff_t stride, Number number, void* x);

/// mean {rows, dim}: the mean of `slices` slices of {dim} of each row of x. Rows are `stride` elements apart.
void meanOfSlices(const Stream& stream, int rows, int slices, int dim, std::ptrdiff_t stride, Number number,
                  const void* x, float* mean);

/// y {rows, cols} = activation(x); y may be x. `gated`: x {rows, 2 cols}, y = activation(first half) * second half; y
/// must not be x. Both are aligned to 16 bytes.
void activate(const Stream& stream, Activation activation, bool gated, int rows, int cols, Number number, const void* x,
              void* y);

/// y {rows, cols} += bias {cols}, both of type `number`.
void addBias(const Stream& stream, int rows, int cols, Number number, const void* bias, void* y);

/// Sets *found to 1 if one of x {count} is NaN or infinite.
void findNotFinite(const Stream& stream, const float* x, std::size_t count, int* found);

/// Scales every row of x {rows, dim} to length 1, in place. Zero rows stay zero.
void normaliseRows(const Stream& stream, int rows, int dim, float* x);

}  // namespace mpm::cuda
