// SPDX-License-Identifier: Apache-2.0
#include <cblas.h>

#include <algorithm>
#include <vector>

#include "kernels/cpu/rounding.h"
#include "kernels/gemm.h"
#include "kernels/linear.h"
#include "kernels/precision.h"
#include "kernels/scratch.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

// Our tasks run in parallel, so OpenBLAS must not. Before 0.3.27 it only has a setting for the whole process.
void useOneThread() { [[maybe_unused]] static const bool done = (openblas_set_num_threads(1), true); }

}  // namespace

// OpenBLAS chooses its kernel by the number of rows, and kernels round differently. So every call has this height.
// Every call also packs the weights again: at 16 rows that is a third of the time.
const int PackedLinear::kRowUnit = 64;

struct PackedLinear::Impl {
  int in, out;
  bool int8;
  std::vector<float> weight;  // {out, in}
  std::vector<float> bias;

  // y {kRowUnit, out} += x W^T
  void multiply(const float* x, std::ptrdiff_t x_stride, float* y, std::ptrdiff_t y_stride) const {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kRowUnit, out, in, 1.0f, x, static_cast<int>(x_stride),
                weight.data(), in, 1.0f, y, static_cast<int>(y_stride));
  }
};

PackedLinear::PackedLinear(MatrixView<const float> weight, const float* bias, Precision precision)
    : impl_(std::make_shared<Impl>()) {
  requireOnCpu(precision);
  useOneThread();
  Scratch<float> rounded;
  impl_->int8 = precision == Precision::kInt8;
  if (impl_->int8) weight = roundedToInt8(weight, rounded);
  impl_->in = weight.cols;
  impl_->out = weight.rows;
  impl_->weight.reserve(static_cast<std::size_t>(weight.rows) * weight.cols);
  for (int i = 0; i < weight.rows; ++i)
    impl_->weight.insert(impl_->weight.end(), weight.row(i), weight.row(i) + weight.cols);
  impl_->bias.assign(weight.rows, 0.0f);
  if (bias != nullptr) std::copy_n(bias, weight.rows, impl_->bias.begin());
}

void PackedLinear::run(MatrixView<const float> x, MatrixView<float> y, bool accumulate) const {
  thread_local Scratch<float> x_scratch, y_scratch, rounded;
  const Impl& impl = *impl_;
  if (impl.int8) x = roundedToInt8(x, rounded);
  for (int i = 0; i < x.rows; ++i) {
    if (accumulate)
      std::transform(impl.bias.begin(), impl.bias.end(), y.row(i), y.row(i), [](float b, float s) { return s + b; });
    else
      std::copy(impl.bias.begin(), impl.bias.end(), y.row(i));
  }
  const int whole = x.rows / kRowUnit * kRowUnit;
  for (int i = 0; i < whole; i += kRowUnit) impl.multiply(x.row(i), x.stride, y.row(i), y.stride);
  if (whole == x.rows) return;
  const auto zeros = [](Scratch<float>& scratch, int cols) {
    const std::size_t size = static_cast<std::size_t>(kRowUnit) * cols;
    const MatrixView<float> rows(scratch.atLeast(size), kRowUnit, cols);
    std::fill_n(rows.data, size, 0.0f);
    return rows;
  };
  const MatrixView<float> x_tail = zeros(x_scratch, impl.in), y_tail = zeros(y_scratch, impl.out);
  const MatrixView<float> y_rest = y.rowRange(whole, x.rows);
  copyRows(x.rowRange(whole, x.rows), x_tail);
  copyRows(y_rest, y_tail);
  impl.multiply(x_tail.data, impl.in, y_tail.data, impl.out);
  copyRows(y_tail.rowRange(0, y_rest.rows), y_rest);
}

// Below AVX512-VNNI there are no steps.
bool PackedLinear::hasSteps() const { return false; }
void PackedLinear::put(int /*first*/, MatrixView<const float> /*x*/) const {}
void PackedLinear::multiply(int /*rows*/) const {}
void PackedLinear::take(int /*first*/, MatrixView<float> /*y*/, bool /*accumulate*/) const {}

int PackedLinear::in() const { return impl_->in; }
int PackedLinear::out() const { return impl_->out; }

void multiply(const Operand& a, const Operand& b, MatrixView<float> c, bool accumulate) {
  useOneThread();
  const auto order = [](const Operand& of) { return of.transposed ? CblasTrans : CblasNoTrans; };
  cblas_sgemm(CblasRowMajor, order(a), order(b), c.rows, c.cols, a.cols(), 1.0f, a.view.data,
              static_cast<int>(a.view.stride), b.view.data, static_cast<int>(b.view.stride), accumulate ? 1.0f : 0.0f,
              c.data, static_cast<int>(c.stride));
}

bool cpuHasBf16() { return false; }
bool cpuHasInt8() { return false; }

}  // namespace mpm
