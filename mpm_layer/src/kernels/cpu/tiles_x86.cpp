// SPDX-License-Identifier: Apache-2.0
// Register tiles in int8 for x86-64. All multiply bytes of x without sign by signed w, so x has an offset of 128.
// VNNI adds four products to an int32 in one instruction: 512 bits with AVX-512, 256 bits without (Intel since the 12th
// generation, N100). Other CPUs add two products in int16 (pmaddubsw, which saturates: weights have 7 bits, so
// that it never does), then pairs of those sums in int32 (pmaddwd).
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

#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
using Words = hn::RebindToSigned<Floats>;
using WordVec = hn::Vec<Words>;
// Sums of rows x vectors and the operands of one step fill the registers.
constexpr int kRows = kManyRegisters ? 8 : 4, kVectors = 3;
using Rows = std::make_index_sequence<kRows>;

// What multiplies a word of x by vectors of w, in assembly. gcc 12 copies the sums around the intrinsic of vpdpbusd,
// and stores them in each step; and it loads the vectors of w into registers that the sums of 16 need.
#if HWY_TARGET != HWY_SSE4
struct Fours {
  template <std::size_t... V>
  static HWY_INLINE void multiplyAdd(WordVec word, const std::int32_t* w, WordVec (&sums)[sizeof...(V)],
                                     std::index_sequence<V...>) {
    (multiplyAdd(word, hn::Load(Words(), w + kLanes * V), sums[V]), ...);
  }
  static HWY_INLINE void multiplyAdd(WordVec word, WordVec w, WordVec& sums) {
#if HWY_TARGET == HWY_AVX3
    asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(word.raw), "v"(w.raw));
#else
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums.raw) : "x"(word.raw), "x"(w.raw));
#endif
  }
};
#endif

struct Pairs {
  template <std::size_t... V>
  static HWY_INLINE void multiplyAdd(WordVec word, const std::int32_t* w, WordVec (&sums)[sizeof...(V)],
                                     std::index_sequence<V...>) {
    (multiplyAdd(word, w + kLanes * V, sums[V]), ...);
  }
  static HWY_INLINE void multiplyAdd(WordVec word, const std::int32_t* w, WordVec& sums) {
    const WordVec ones = hn::Set(Words(), 0x00010001);
    const auto& columns = *reinterpret_cast<const decltype(sums.raw)*>(w);
#if HWY_TARGET == HWY_SSE4
    asm("pmaddubsw %2, %1\n\tpmaddwd %3, %1\n\tpaddd %1, %0"
        : "+x"(sums.raw), "+x"(word.raw)
        : "m"(columns), "x"(ones.raw));
#else
    WordVec products;
    asm("vpmaddubsw %2, %3, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
        : "+v"(sums.raw), "=&v"(products.raw)
        : "m"(columns), "v"(word.raw), "v"(ones.raw));
#endif
  }
};

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

// Word k of row r is at x[r * row_step + k * word_step].
template <class Step, std::size_t... V, std::size_t... R>
HWY_INLINE void multiplyTile(const std::uint32_t* x_words, std::ptrdiff_t row_step, std::ptrdiff_t word_step,
                             const std::uint32_t* w_words, int words, const TileOutput& out,
                             std::index_sequence<V...> vectors, std::index_sequence<R...>) {
  const auto* x = reinterpret_cast<const std::int32_t*>(x_words);
  const auto* w = reinterpret_cast<const std::int32_t*>(w_words);
  WordVec sums[kRows][sizeof...(V)] = {};
  for (int k = 0; k < words; ++k, x += word_step, w += kLanes * sizeof...(V)) {
    (Step::multiplyAdd(hn::Set(Words(), x[static_cast<std::ptrdiff_t>(R) * row_step]), w, sums[R], vectors), ...);
  }
  const WordVec offsets[] = {hn::LoadU(Words(), w + kLanes * V)...};
  (takeRow(sums[R], offsets, out, R, vectors), ...);
}

template <class Step, int kVectorsOfPanel>
void multiplyGroup(const std::uint32_t* x, const std::uint32_t* w, int words, const TileOutput& out) {
  multiplyTile<Step>(x, 1, kRows, w, words, out, std::make_index_sequence<kVectorsOfPanel>(), Rows());
}

template <class Step>
void multiply(const std::uint32_t* x, const std::uint32_t* w, int words, int vectors, const TileOutput& out) {
  if (vectors == 1) return multiplyGroup<Step, 1>(x, w, words, out);
  if (vectors == 2) return multiplyGroup<Step, 2>(x, w, words, out);
  multiplyGroup<Step, 3>(x, w, words, out);
}

template <class Step, int kVectorsOfPanel>
void multiplyPixelsBy(const PixelRows& x, const std::uint32_t* w, const TileOutput& out) {
  multiplyTile<Step>(x.first + x.offsets[0], x.words, 1, w, x.words, out, std::make_index_sequence<kVectorsOfPanel>(),
                     Rows());
}

template <class Step>
void multiplyPixels(const PixelRows& x, const std::uint32_t* w, int vectors, const TileOutput& out) {
  if (vectors == 1) return multiplyPixelsBy<Step, 1>(x, w, out);
  if (vectors == 2) return multiplyPixelsBy<Step, 2>(x, w, out);
  multiplyPixelsBy<Step, 3>(x, w, out);
}

template <class Step>
constexpr TileKernel kernelOf(int max_w) {
  return {.precision = Precision::kInt8,
          .rows = kRows,
          .columns = kVectors * kLanes,
          .lanes = kLanes,
          .max_words = 0,
          .offset = true,
          .max_w = max_w,
          .multiply = multiply<Step>,
          .multiply_pixels = multiplyPixels<Step>};
}

const TileKernel* pairs() {
  static constexpr TileKernel kKernel = kernelOf<Pairs>(kMaxInt7);
  return &kKernel;
}

const TileKernel* fours() {
#if HWY_TARGET != HWY_SSE4
  static constexpr TileKernel kKernel = kernelOf<Fours>(kMaxInt8);
  return &kKernel;
#else
  return nullptr;
#endif
}
#else
const TileKernel* pairs() { return nullptr; }
const TileKernel* fours() { return nullptr; }
#endif

void takeSumsOf(const std::uint32_t* HWY_RESTRICT sums, const std::uint32_t* HWY_RESTRICT offsets,
                const TileOutput& out) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const auto wordsAt = [&](const std::uint32_t* from)
                           HWY_ATTR { return hn::LoadU(di, reinterpret_cast<const std::int32_t*>(from)); };
  for (int r = 0; r < out.y.rows; ++r, sums += out.y.cols) {
    const Vec row_scale = hn::Set(d, out.row_scales[r]);
    const float* const bias = out.bias + r * out.bias_stride;
    float* const y = out.y.row(r);
    for (int c = 0; c < out.y.cols; c += kLanes) {
      const auto sum = wordsAt(sums + c);
      Vec value = offsets == nullptr
                      ? hn::MulAdd(hn::BitCast(d, sum), row_scale, hn::LoadU(d, bias + c))
                      : hn::MulAdd(hn::ConvertTo(d, hn::Sub(sum, wordsAt(offsets + c))),
                                   hn::Mul(hn::LoadU(d, out.column_scales + c), row_scale), hn::LoadU(d, bias + c));
      if (out.accumulate) value = hn::Add(hn::LoadU(d, y + c), value);
      hn::StoreU(value, d, y + c);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
HWY_EXPORT(pairs);
HWY_EXPORT(fours);
HWY_EXPORT(takeSumsOf);

const TileKernel* vnniKernel() {
  const std::string set = instructionSet();
  const bool has = set == "avx_vnni" || (set == "avx512" && __builtin_cpu_supports("avx512vnni"));
  return has ? HWY_DYNAMIC_DISPATCH(fours)() : nullptr;
}

void takeSums(const std::uint32_t* sums, const std::uint32_t* offsets, const TileOutput& out) {
  HWY_DYNAMIC_DISPATCH(takeSumsOf)(sums, offsets, out);
}

const TileKernel* pairsKernel() { return HWY_DYNAMIC_DISPATCH(pairs)(); }

}  // namespace mpm
#endif  // HWY_ONCE
#endif
