// SPDX-License-Identifier: Apache-2.0
// Register tiles for 64-bit Arm: 24 sums of the 32 registers, 2 for x, the rest for w. Highway 1.0 multiplies neither
// by a lane of a vector nor in fp16 or int8, so this file uses NEON intrinsics.
#include <algorithm>
#include <utility>

#include "kernels/cpu/tiles.h"

#if defined(__aarch64__)
#include <arm_neon.h>
#ifdef __linux__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#define MPM_INLINE __attribute__((always_inline)) inline
// clang has the intrinsics below behind the attribute since version 16.
#if defined(__linux__) && (!defined(__clang__) || __clang_major__ >= 16)
#define MPM_HALF_AND_DOT __attribute__((target("arch=armv8.2-a+fp16+dotprod")))
#endif

namespace mpm {
namespace {

constexpr int kRows = 8;
using Rows = std::make_index_sequence<kRows>;

// Keeps gcc 12 from loading the operands of later words first: then the sums would not fit the registers.
#define MPM_NEXT_WORD asm volatile("" ::: "memory")

// The values of y before the sums are added. All loads of a row come first: in pairs they are half the instructions.
template <std::size_t... V>
MPM_INLINE void startRow(bool accumulate, const float* bias, float* y, std::index_sequence<V...>) {
  const float32x4_t biases[] = {vld1q_f32(bias + 4 * V)...};
  if (accumulate) {
    const float32x4_t before[] = {vld1q_f32(y + 4 * V)...};
    (vst1q_f32(y + 4 * V, vaddq_f32(before[V], biases[V])), ...);
  } else {
    (vst1q_f32(y + 4 * V, biases[V]), ...);
  }
}

template <int kVectors>
MPM_INLINE void start(const TileOutput& out) {
  for (int r = 0; r < kRows; ++r)
    startRow(out.accumulate, out.bias + r * out.bias_stride, out.y.row(r), std::make_index_sequence<kVectors>());
}

template <int kLane, std::size_t... V>
MPM_INLINE void multiplyRow(float32x4_t x, const float32x4_t (&w)[sizeof...(V)], float32x4_t (&sums)[sizeof...(V)],
                            std::index_sequence<V...>) {
  ((sums[V] = vfmaq_laneq_f32(sums[V], w[V], x, kLane)), ...);
}

template <std::size_t... V, std::size_t... R>
MPM_INLINE void multiplyWord(const float* x, const float* w, float32x4_t (&sums)[kRows][sizeof...(V)],
                             std::index_sequence<V...> vectors, std::index_sequence<R...>) {
  MPM_NEXT_WORD;
  const float32x4_t rows[2] = {vld1q_f32(x), vld1q_f32(x + 4)}, columns[] = {vld1q_f32(w + 4 * V)...};
  (multiplyRow<R % 4>(rows[R / 4], columns, sums[R], vectors), ...);
}

template <std::size_t... V>
MPM_INLINE void addRow(const float32x4_t (&sums)[sizeof...(V)], float* y, std::index_sequence<V...>) {
  const float32x4_t before[] = {vld1q_f32(y + 4 * V)...};
  (vst1q_f32(y + 4 * V, vaddq_f32(before[V], sums[V])), ...);
}

// The sums stay in registers because all loops over them are fold expressions.
template <std::size_t... V, std::size_t... R>
MPM_INLINE void addRows(const float32x4_t (&sums)[kRows][sizeof...(V)], const TileOutput& out,
                        std::index_sequence<V...> vectors, std::index_sequence<R...>) {
  (addRow(sums[R], out.y.row(R), vectors), ...);
}

template <int V>
void fp32(const std::uint32_t* x_words, const std::uint32_t* w_words, int words, TileOutput out) {
  constexpr std::make_index_sequence<V> kVectors;
  const auto* x = reinterpret_cast<const float*>(x_words);
  const auto* w = reinterpret_cast<const float*>(w_words);
  float32x4_t sums[kRows][V] = {};
  int k = 0;
  for (; k + 4 <= words; k += 4, x += 4 * kRows, w += 16 * V) {
    multiplyWord(x, w, sums, kVectors, Rows());
    multiplyWord(x + kRows, w + 4 * V, sums, kVectors, Rows());
    multiplyWord(x + 2 * kRows, w + 8 * V, sums, kVectors, Rows());
    multiplyWord(x + 3 * kRows, w + 12 * V, sums, kVectors, Rows());
  }
  for (; k < words; ++k, x += kRows, w += 4 * V) multiplyWord(x, w, sums, kVectors, Rows());
  start<V>(out);
  addRows(sums, out, kVectors, Rows());
}

#ifdef MPM_HALF_AND_DOT

template <int kLane>
MPM_HALF_AND_DOT MPM_INLINE void multiplyAdd(float16x8_t& sum, float16x8_t w, float16x8_t x) {
  // gcc 12 makes two instructions of vfmaq_laneq_f16().
  asm("fmla %0.8h, %1.8h, %2.h[%3]" : "+w"(sum) : "w"(w), "x"(x), "i"(kLane));
}

template <int kLane, std::size_t... V>
MPM_HALF_AND_DOT MPM_INLINE void multiplyRow(float16x8_t x, const float16x8_t (&w)[sizeof...(V)],
                                             float16x8_t (&sums)[sizeof...(V)], std::index_sequence<V...>) {
  (multiplyAdd<kLane>(sums[V], w[V], x), ...);
}

// A word: two neighbours in depth.
template <std::size_t... V, std::size_t... R>
MPM_HALF_AND_DOT MPM_INLINE void multiplyWord(const float16_t* x, const float16_t* w,
                                              float16x8_t (&sums)[kRows][sizeof...(V)],
                                              std::index_sequence<V...> vectors, std::index_sequence<R...>) {
  MPM_NEXT_WORD;
  const float16x8_t rows[2] = {vld1q_f16(x), vld1q_f16(x + 8)}, columns[] = {vld1q_f16(w + 8 * V)...};
  (multiplyRow<R % 4 * 2>(rows[R / 4], columns, sums[R], vectors), ...);
  MPM_NEXT_WORD;
  const float16x8_t next[] = {vld1q_f16(w + 8 * (sizeof...(V) + V))...};
  (multiplyRow<R % 4 * 2 + 1>(rows[R / 4], next, sums[R], vectors), ...);
}

template <bool kColumnScales, std::size_t... V>
MPM_HALF_AND_DOT MPM_INLINE void addRow(const float16x8_t (&sums)[sizeof...(V)], float row_scale, const float* scales,
                                        float* y, std::index_sequence<V...>) {
  const float32x4_t scale = vdupq_n_f32(row_scale);
  float32x4_t low[] = {vld1q_f32(y + 8 * V)...}, high[] = {vld1q_f32(y + 8 * V + 4)...};
  if constexpr (kColumnScales) {
    ((low[V] = vfmaq_f32(low[V], vcvt_f32_f16(vget_low_f16(sums[V])), vmulq_f32(vld1q_f32(scales + 8 * V), scale))),
     ...);
    ((high[V] = vfmaq_f32(high[V], vcvt_high_f32_f16(sums[V]), vmulq_f32(vld1q_f32(scales + 8 * V + 4), scale))), ...);
  } else {
    ((low[V] = vfmaq_f32(low[V], vcvt_f32_f16(vget_low_f16(sums[V])), scale)), ...);
    ((high[V] = vfmaq_f32(high[V], vcvt_high_f32_f16(sums[V]), scale)), ...);
  }
  ((vst1q_f32(y + 8 * V, low[V]), vst1q_f32(y + 8 * V + 4, high[V])), ...);
}

template <bool kColumnScales, std::size_t... V, std::size_t... R>
MPM_HALF_AND_DOT MPM_INLINE void addRows(const float16x8_t (&sums)[kRows][sizeof...(V)], const TileOutput& out,
                                         std::index_sequence<V...> vectors, std::index_sequence<R...>) {
  (addRow<kColumnScales>(sums[R], out.row_scales[R], out.column_scales, out.y.row(R), vectors), ...);
}

// 32 words, 64 numbers, in fp16; then into fp32.
template <int V, bool kColumnScales>
MPM_HALF_AND_DOT void fp16Scaled(const std::uint32_t* x_words, const std::uint32_t* w_words, int words,
                                 TileOutput out) {
  constexpr int kStretch = 32;
  constexpr std::make_index_sequence<V> kVectors;
  const auto* x = reinterpret_cast<const float16_t*>(x_words);
  const auto* w = reinterpret_cast<const float16_t*>(w_words);
  start<2 * V>(out);
  for (int first = 0; first < words; first += kStretch) {
    float16x8_t sums[kRows][V] = {};
    int k = std::min(kStretch, words - first);
    for (; k >= 4; k -= 4, x += 8 * kRows, w += 64 * V) {
      multiplyWord(x, w, sums, kVectors, Rows());
      multiplyWord(x + 2 * kRows, w + 16 * V, sums, kVectors, Rows());
      multiplyWord(x + 4 * kRows, w + 32 * V, sums, kVectors, Rows());
      multiplyWord(x + 6 * kRows, w + 48 * V, sums, kVectors, Rows());
    }
    for (; k > 0; --k, x += 2 * kRows, w += 16 * V) multiplyWord(x, w, sums, kVectors, Rows());
    addRows<kColumnScales>(sums, out, kVectors, Rows());
  }
}

template <int V>
void fp16(const std::uint32_t* x, const std::uint32_t* w, int words, const TileOutput& out) {
  (out.column_scales != nullptr ? fp16Scaled<V, true> : fp16Scaled<V, false>)(x, w, words, out);
}

template <int kLane, std::size_t... V>
MPM_HALF_AND_DOT MPM_INLINE void multiplyRow(int8x16_t x, const int8x16_t (&w)[sizeof...(V)],
                                             int32x4_t (&sums)[sizeof...(V)], std::index_sequence<V...>) {
  ((sums[V] = vdotq_laneq_s32(sums[V], w[V], x, kLane)), ...);
}

template <std::size_t... V, std::size_t... R>
MPM_HALF_AND_DOT MPM_INLINE void multiplyWord(const std::int8_t* x, const std::int8_t* w,
                                              int32x4_t (&sums)[kRows][sizeof...(V)], std::index_sequence<V...> vectors,
                                              std::index_sequence<R...>) {
  MPM_NEXT_WORD;
  const int8x16_t rows[2] = {vld1q_s8(x), vld1q_s8(x + 16)}, columns[] = {vld1q_s8(w + 16 * V)...};
  (multiplyRow<R % 4>(rows[R / 4], columns, sums[R], vectors), ...);
}

template <std::size_t... V>
MPM_HALF_AND_DOT MPM_INLINE void addRow(const int32x4_t (&sums)[sizeof...(V)], float row_scale,
                                        const float32x4_t (&scales)[sizeof...(V)], float* y,
                                        std::index_sequence<V...>) {
  const float32x4_t before[] = {vld1q_f32(y + 4 * V)...};
  (vst1q_f32(y + 4 * V, vfmaq_f32(before[V], vcvtq_f32_s32(sums[V]), vmulq_n_f32(scales[V], row_scale))), ...);
}

template <std::size_t... V, std::size_t... R>
MPM_HALF_AND_DOT MPM_INLINE void addRows(const int32x4_t (&sums)[kRows][sizeof...(V)], const TileOutput& out,
                                         std::index_sequence<V...> vectors, std::index_sequence<R...>) {
  const float32x4_t scales[] = {vld1q_f32(out.column_scales + 4 * V)...};
  (addRow(sums[R], out.row_scales[R], scales, out.y.row(R), vectors), ...);
}

template <int V>
MPM_HALF_AND_DOT void int8(const std::uint32_t* x_words, const std::uint32_t* w_words, int words, TileOutput out) {
  constexpr std::make_index_sequence<V> kVectors;
  const auto* x = reinterpret_cast<const std::int8_t*>(x_words);
  const auto* w = reinterpret_cast<const std::int8_t*>(w_words);
  int32x4_t sums[kRows][V] = {};
  int k = 0;
  for (; k + 4 <= words; k += 4, x += 16 * kRows, w += 64 * V) {
    multiplyWord(x, w, sums, kVectors, Rows());
    multiplyWord(x + 4 * kRows, w + 16 * V, sums, kVectors, Rows());
    multiplyWord(x + 8 * kRows, w + 32 * V, sums, kVectors, Rows());
    multiplyWord(x + 12 * kRows, w + 48 * V, sums, kVectors, Rows());
  }
  for (; k < words; ++k, x += 4 * kRows, w += 16 * V) multiplyWord(x, w, sums, kVectors, Rows());
  start<V>(out);
  addRows(sums, out, kVectors, Rows());
}

#endif

// Calls Kernel<vectors>.
#define MPM_BY_WIDTH(kernel)                                                                          \
  [](const std::uint32_t* x, const std::uint32_t* w, int words, int vectors, const TileOutput& out) { \
    return vectors == 3   ? kernel<3>(x, w, words, out)                                               \
           : vectors == 2 ? kernel<2>(x, w, words, out)                                               \
                          : kernel<1>(x, w, words, out);                                              \
  }

}  // namespace

const TileKernel* tileKernel(Precision precision) {
  static constexpr TileKernel kFloats{Precision::kFp32, kRows, 12, 4, 512, false, 0, MPM_BY_WIDTH(fp32)};
  if (precision == Precision::kFp32) return &kFloats;
#ifdef MPM_HALF_AND_DOT
  static constexpr TileKernel kHalves{Precision::kFp16, kRows, 24, 8, 384, false, 0, MPM_BY_WIDTH(fp16)};
  static constexpr TileKernel kBytes{Precision::kInt8, kRows, 12, 4, 0, false, kMaxInt8, MPM_BY_WIDTH(int8)};
  static const bool has = [] {
    constexpr unsigned long kWanted = HWCAP_ASIMDHP | HWCAP_ASIMDDP;
    return (getauxval(AT_HWCAP) & kWanted) == kWanted;
  }();
  if (has && precision == Precision::kFp16) return &kHalves;
  if (has && precision == Precision::kInt8) return &kBytes;
#endif
  return nullptr;
}

}  // namespace mpm
#endif
