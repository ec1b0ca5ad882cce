// SPDX-License-Identifier: Apache-2.0
#include <cblas.h>

#include <optional>

#include "kernels/cpu/rounding.h"
#include "kernels/cpu/tiles.h"
#include "kernels/linear.h"
#include "kernels/precision.h"

namespace mpm {

const int PackedLinear::kRowUnit = 8;

struct PackedLinear::Impl {
  int in = 0, out = 0;
  bool rounds_to_int8 = false;  // for products in fp32
  std::optional<TileLinear> tiles;
};

PackedLinear::PackedLinear(MatrixView<const float> weight, const float* bias, Precision precision)
    : impl_(std::make_shared<Impl>()) {
  requireOnCpu(precision);
  Scratch<float> rounded;
  impl_->in = weight.cols;
  impl_->out = weight.rows;
  impl_->rounds_to_int8 = precision == Precision::kInt8 && !cpuHasInt8();
  if (impl_->rounds_to_int8) weight = roundedToInt8(weight, rounded);
  impl_->tiles.emplace(*tileKernel(impl_->rounds_to_int8 ? Precision::kFp32 : precision), weight, bias);
}

void PackedLinear::run(MatrixView<const float> x, MatrixView<float> y, bool accumulate) const {
  thread_local Scratch<float> rounded;
  if (impl_->rounds_to_int8) x = roundedToInt8(x, rounded);
  impl_->tiles->run(x, y, accumulate);
}

int PackedLinear::in() const { return impl_->in; }
int PackedLinear::out() const { return impl_->out; }

void multiply(const Operand& a, const Operand& b, MatrixView<float> c, bool accumulate) {
  // Our tasks run in parallel, so OpenBLAS must not. Before 0.3.27 it only has a setting for the whole process.
  [[maybe_unused]] static const bool done = (openblas_set_num_threads(1), true);
  const auto order = [](const Operand& of) { return of.transposed ? CblasTrans : CblasNoTrans; };
  cblas_sgemm(CblasRowMajor, order(a), order(b), c.rows, c.cols, a.cols(), 1.0f, a.view.data,
              static_cast<int>(a.view.stride), b.view.data, static_cast<int>(b.view.stride), accumulate ? 1.0f : 0.0f,
              c.data, static_cast<int>(c.stride));
}

bool cpuHasBf16() { return tileKernel(Precision::kBf16) != nullptr; }

}  // namespace mpm
