// SPDX-License-Identifier: Apache-2.0
// Register tiles in int8 for x86-64 CPUs with VNNI: 512 bits with AVX-512, 256 bits without (Intel since the 12th
// generation, N100). vpdpbusd multiplies unsigned x by signed w, so x has an offset of 128.
#include "kernels/cpu/tiles.h"

#if defined(__x86_64__)
#include <string>
#include <utility>

#include "kernels/instruction_set.h"

#include "kernels/cpu/highway_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tiles_x86.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
using Words = hn::RebindToSigned<Floats>;
using WordVec = hn::Vec<Words>;
// Sums of rows x vectors, vectors of w and one word of x fill the registers.
constexpr int kRows = kManyRegisters ? 8 : 4, kVectors = 3;
using Rows = std::make_index_sequence<kRows>;

// sums += word w. gcc 12 copies the sums around the intrinsic, and stores them in each step.
HWY_INLINE void multiplyAdd(WordVec& sums, WordVec word, WordVec w) {
#if HWY_TARGET == HWY_AVX3
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(word.raw), "v"(w.raw));
#else
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums.raw) : "x"(word.raw), "x"(w.raw));
#endif
}

template <std::size_t... V>
HWY_INLINE void multiplyRow(const std::int32_t* x, const WordVec (&w)[sizeof...(V)], WordVec (&sums)[sizeof...(V)],
                            std::index_sequence<V...>) {
  const WordVec word = hn::Set(Words(), *x);
  (multiplyAdd(sums[V], word, w[V]), ...);
}

template <std::size_t... V>
HWY_INLINE void takeRow(const WordVec (&sums)[sizeof...(V)], const WordVec (&offsets)[sizeof...(V)],
                        const TileOutput& out, int r, std::index_sequence<V...>) {
  const Floats d;
  const Vec row_scale = hn::Set(d, out.row_scales[r]);
  const float* const bias = out.bias + r * out.bias_stride;
  float* const y = out.y.row(r);
  Vec values[] = {hn::MulAdd(hn::ConvertTo(d, hn::Sub(sums[V], offsets[V])),
                             hn::Mul(hn::LoadU(d, out.column_scales + kLanes * V), row_scale),
                             hn::LoadU(d, bias + kLanes * V))...};
  if (out.accumulate) ((values[V] = hn::Add(hn::LoadU(d, y + kLanes * V), values[V])), ...);
  (hn::StoreU(values[V], d, y + kLanes * V), ...);
}

template <std::size_t... V, std::size_t... R>
void multiplyTile(const std::int32_t* x, const std::int32_t* w, int words, const TileOutput& out,
                  std::index_sequence<V...> vectors, std::index_sequence<R...>) {
  WordVec sums[kRows][sizeof...(V)] = {};
  for (int k = 0; k < words; ++k, x += kRows, w += kLanes * sizeof...(V)) {
    const WordVec columns[] = {hn::LoadU(Words(), w + kLanes * V)...};
    (multiplyRow(x + R, columns, sums[R], vectors), ...);
  }
  const WordVec offsets[] = {hn::LoadU(Words(), w + kLanes * V)...};
  (takeRow(sums[R], offsets, out, R, vectors), ...);
}

void multiply(const std::uint32_t* x_words, const std::uint32_t* w_words, int words, int vectors,
              const TileOutput& out) {
  const auto* const x = reinterpret_cast<const std::int32_t*>(x_words);
  const auto* const w = reinterpret_cast<const std::int32_t*>(w_words);
  if (vectors == 1) return multiplyTile(x, w, words, out, std::make_index_sequence<1>(), Rows());
  if (vectors == 2) return multiplyTile(x, w, words, out, std::make_index_sequence<2>(), Rows());
  multiplyTile(x, w, words, out, std::make_index_sequence<3>(), Rows());
}

const TileKernel* kernel() {
  static constexpr TileKernel kBytes{Precision::kInt8, kRows, kVectors * kLanes, kLanes, 0, true, multiply};
  return &kBytes;
}
#else
const TileKernel* kernel() { return nullptr; }
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
HWY_EXPORT(kernel);

const TileKernel* vnniKernel() {
  const std::string set = instructionSet();
  const bool has = set == "avx_vnni" || (set == "avx512" && __builtin_cpu_supports("avx512vnni"));
  return has ? HWY_DYNAMIC_DISPATCH(kernel)() : nullptr;
}

}  // namespace mpm
#endif  // HWY_ONCE
#endif
