// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/transformer_block.h"

#include "kernels/cuda/on_device.h"
#include "kernels/reference.h"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

class CudaAttention : public test::OnDevice {
 protected:
  // Largest error of one call against double precision on the very operands that the kernel reads, by every way that
  // this device has to multiply.
  template <typename T>
  double errorOf(const std::vector<int>& rows, int heads, int head_dim, bool biased, float sigma = 1, float sign = 1) {
    const int width = heads * head_dim;
    test::Packed shape = test::Packed::random(stream(), rows, 3 * width, 7, sigma);
    const std::vector<T> qkv = test::narrowedAll<T>(shape.values);
    const std::vector<float> wide = test::widenedAll(qkv);
    const std::vector<float> bias = test::normal(shape.ragged.total, 8);
    const Buffer<T> device_qkv = uploaded(stream(), qkv);
    const Buffer<float> device_bias = uploaded(stream(), bias);
    Buffer<T> out(stream(), shape.ragged.total * width);
    AttentionCall call{heads, head_dim, sign / std::sqrt(static_cast<float>(head_dim)),
                       biased ? device_bias.data() : nullptr, shape.ragged};
    const Number number = std::is_same_v<T, float>  ? Number::kFloat
                          : std::is_same_v<T, Half> ? Number::kHalf
                                                    : Number::kBfloat;
    double worst = 0;
    for (const bool warpgroups : {false, true}) {
      if (warpgroups && !hasWarpgroupProducts(stream().device())) continue;
      call.warpgroups = warpgroups;
      clear(stream(), out.data(), sizeof(T) * out.capacity());
      attention(stream(), call, number, device_qkv.data(), out.data());
      const std::vector<float> result = test::widenedAll(fetched(out.data(), shape.ragged.total * width));
      worst = std::max(worst, errorOf(result, wide, shape, rows, call, bias));
    }
    return worst;
  }

 private:
  static double errorOf(const std::vector<float>& result, const std::vector<float>& wide, const test::Packed& shape,
                        const std::vector<int>& rows, const AttentionCall& call, const std::vector<float>& bias) {
    const int width = call.heads * call.head_dim;
    double worst = 0;
    for (std::size_t b = 0; b < rows.size(); ++b) {
      const int begin = shape.offsets[b];
      const MatrixView<const float> all(wide.data() + static_cast<std::ptrdiff_t>(begin) * 3 * width, rows[b],
                                        3 * width);
      const mpm::test::Reference reference(all);
      const auto expected = mpm::test::attention(
          reference.columns(0, width), reference.columns(width, 2 * width), reference.columns(2 * width, 3 * width),
          call.heads, static_cast<double>(call.scale), call.key_bias != nullptr ? bias.data() + begin : nullptr);
      worst = std::max(
          worst,
          mpm::test::maxError({result.data() + static_cast<std::ptrdiff_t>(begin) * width, rows[b], width}, expected));
    }
    return worst;
  }
};

TEST_F(CudaAttention, Fp32WithAnyHeadDim) {
  for (const unsigned schedule : test::schedules()) {
    test::useSchedule(schedule);
    for (const int head_dim : {1, 20, 64, 80, 200}) {
      if (head_dim > 128 && stream().device().major < 8) continue;
      SCOPED_TRACE(::testing::Message() << "schedule " << schedule << ", head_dim " << head_dim);
      EXPECT_LE(errorOf<float>({1, 67, 33}, 2, head_dim, false), 3e-6);
      EXPECT_LE(errorOf<float>({32, 5}, 2, head_dim, true, 3), 6e-5);
    }
  }
}

// Probabilities and results are rounded to 8 bits (bf16) and 11 (fp16) before and after the second product.
TEST_F(CudaAttention, SixteenBitsOnTensorCores) {
  const bool bf16 = devices().front().major >= 8;
  for (const unsigned schedule : test::schedules()) {
    test::useSchedule(schedule);
    SCOPED_TRACE(::testing::Message() << "schedule " << schedule);
    for (const bool biased : {false, true}) {
      EXPECT_LE(errorOf<Half>({1, 131, 64}, 2, 64, biased), 2e-3);
      EXPECT_LE(errorOf<Half>({70}, 1, 64, biased, 3), 4e-3);
      if (bf16) {
        EXPECT_LE(errorOf<Bfloat>({63, 65, 2}, 1, 64, biased), 1.6e-2);
      }
    }
  }
}

// The last tile of keys is as many groups of 16 as it needs, and a warp without queries only fetches.
TEST_F(CudaAttention, AnyNumberOfKeysInTheLastTile) {
  for (const bool biased : {false, true})
    EXPECT_LE(errorOf<Half>({15, 16, 17, 47, 48, 49, 64, 80, 81, 112, 113, 128, 129}, 1, 64, biased), 2e-3);
}

TEST_F(CudaAttention, AnyScale) {
  for (const bool biased : {false, true}) {
    EXPECT_LE(errorOf<Half>({70, 3}, 1, 64, biased, 1, -1), 2e-3) << "the largest score is of the smallest product";
    EXPECT_LE(errorOf<Half>({70, 3}, 1, 64, biased, 1, 0), 2e-3) << "all alike but for their bias";
  }
}

// Enough blocks for two fragments per warp.
TEST_F(CudaAttention, WideTilesAgree) {
  const int images = 4 * devices().front().multiprocessors;
  std::vector<int> rows(images, 9);
  rows[1] = 150;
  for (const int head_dim : {32, 64})
    for (const bool biased : {false, true}) EXPECT_LE(errorOf<Half>(rows, 1, head_dim, biased), 2e-3) << head_dim;
}

TEST_F(CudaAttention, SixteenBitsWithOtherHeads) {
  for (const unsigned schedule : test::schedules())
    for (const int head_dim : {8, 20, 32, 40, 72, 80, 96, 104, 128}) {  // 20: not on tensor cores
      test::useSchedule(schedule);
      SCOPED_TRACE(::testing::Message() << "schedule " << schedule << ", head_dim " << head_dim);
      EXPECT_LE(errorOf<Half>({70, 3}, 3, head_dim, true), 2e-3);
    }
}

TEST_F(CudaAttention, WiderHeadsAreRefused) { EXPECT_THROW(errorOf<float>({4}, 1, 257, false), Error); }

}  // namespace
}  // namespace mpm::cuda
