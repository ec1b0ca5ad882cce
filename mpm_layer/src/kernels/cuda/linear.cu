// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/gemm.h"

#include <vector>

namespace mpm::cuda {

Linear::Linear(const Stream& stream, MatrixView<const float> weight, const float* bias, Precision precision)
    : precision_(precision), in_(weight.cols), out_(weight.rows), biased_(bias != nullptr) {
  const Number operand = operandOf(precision);
  std::vector<float> dense;
  dense.reserve(area(in_, out_));
  for (int o = 0; o < out_; ++o) dense.insert(dense.end(), weight.row(o), weight.row(o) + in_);
  const Buffer<float> wide = uploaded(stream, dense);
  weight_ = Memory(stream, dense.size() * bytesOf(operand));
  convert(stream, wide.data(), dense.size(), operand, weight_.data());
  if (biased_) {
    float_bias_ = uploaded(stream, std::vector<float>(bias, bias + out_));
    bias_ = Memory(stream, area(1, out_) * bytesOf(operand));
    convert(stream, float_bias_.data(), area(1, out_), operand, bias_.data());
  }
  stream.wait();  // before `wide` is freed
}

void Linear::run(const Stream& stream, Gemm& gemm, const void* x, int rows, Into into, void* y) const {
  const void* bias = into == Into::kOperand ? bias_.data() : static_cast<const void*>(float_bias_.data());
  gemm.run(stream, {precision_, rows, in_, out_, x, weight_.data(), biased_ ? bias : nullptr, into, y});
}

}  // namespace mpm::cuda
