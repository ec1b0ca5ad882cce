// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/attention_input.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/cpu/highway_targets.h"
#include "kernels/cpu/panels.h"
#include "kernels/cpu/rounding.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_input.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mpm {
namespace HWY_NAMESPACE {
namespace {

float largestOf(const float* HWY_RESTRICT x, int n) {
  const Floats d;
  Vec a = hn::Load(d, x), b = a;
  int j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
    a = hn::Max(a, hn::Load(d, x + j));
    b = hn::Max(b, hn::Load(d, x + j + kLanes));
  }
  if (j < n) a = hn::Max(a, hn::Load(d, x + j));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

template <class Put>
HWY_INLINE float weighAll(const float* HWY_RESTRICT scores, int n, float max, Put put) {
  const Floats d;
  const Vec m = hn::Set(d, max);
  Vec a = hn::Zero(d), b = a;
  int j = 0;
  for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
    a = hn::Add(a, put(exp2(d, hn::Sub(hn::Load(d, scores + j), m)), j));
    b = hn::Add(b, put(exp2(d, hn::Sub(hn::Load(d, scores + j + kLanes), m)), j + kLanes));
  }
  if (j < n) a = hn::Add(a, put(exp2(d, hn::Sub(hn::Load(d, scores + j), m)), j));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
}

// Where number j of a row goes, whose runs of kRunWords words are `step` words apart.
template <typename Number>
HWY_INLINE Number* numberAt(std::uint32_t* row, int j, std::ptrdiff_t step) {
  constexpr int kOfWord = 4 / static_cast<int>(sizeof(Number));
  const int word = j / kOfWord;
  return reinterpret_cast<Number*>(row + word / kRunWords * step + word % kRunWords) + j % kOfWord;
}

// to = 2^(score - the largest) as the kernel takes rows of x, in int8 times `levels`; returns the sum of what it wrote.
// n is a multiple of kLanes. A NaN in the scores gives a NaN. `step`: from run to run of the row (numberAt).
float weigh(const float* HWY_RESTRICT scores, int n, Precision precision, float levels, std::uint32_t* to,
            std::ptrdiff_t step) {
  const Floats d;
  const hn::RebindToSigned<Floats> di;
  const float largest = largestOf(scores, n);
  if (!(std::abs(largest) <= std::numeric_limits<float>::max())) {
    const int numbers = precision == Precision::kInt8 ? 4 : precision == Precision::kFp32 ? 1 : 2;
    for (int k = 0; k < n / numbers; ++k) *numberAt<std::uint32_t>(to, k, step) = 0;
    return std::numeric_limits<float>::quiet_NaN();
  }
  if (precision == Precision::kFp32) {
    return weighAll(scores, n, largest, [&](Vec e, int j) HWY_ATTR {
      hn::Store(e, d, numberAt<float>(to, j, step));
      return e;
    });
  }
  if (precision == Precision::kFp16) {
    return weighAll(scores, n, largest, [&](Vec e, int j) HWY_ATTR {
      const hn::Rebind<hwy::float16_t, Floats> d16;
      hn::StoreU(hn::DemoteTo(d16, e), d16, numberAt<hwy::float16_t>(to, j, step));
      return e;
    });
  }
  if (precision == Precision::kBf16) {
    return weighAll(scores, n, largest, [&](Vec e, int j) HWY_ATTR {
      const hn::Rebind<std::uint16_t, Floats> d16;
      const auto rounded = hn::ShiftRight<16>(hn::Add(hn::BitCast(di, e), hn::Set(di, 0x8000)));
      hn::StoreU(hn::DemoteTo(d16, rounded), d16, numberAt<std::uint16_t>(to, j, step));
      return hn::BitCast(d, hn::ShiftLeft<16>(rounded));
    });
  }
  // Adding 1.5 * 2^23 leaves the rounded number in the low bits of the mantissa.
  const Vec magic = hn::Set(d, 12582912.0f);
  return weighAll(scores, n, largest - std::log2(levels), [&](Vec e, int j) HWY_ATTR {
    const hn::Rebind<std::uint8_t, Floats> d8;
    const Vec shifted = hn::Add(e, magic);
    const auto number = hn::And(hn::BitCast(di, shifted), hn::Set(di, 0x1ff));
    hn::StoreU(hn::DemoteTo(d8, number), d8, numberAt<std::uint8_t>(to, j, step));
    return hn::Sub(shifted, magic);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mpm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mpm {
namespace {

HWY_EXPORT(weigh);

std::size_t aligned(std::size_t words) { return (words + 15) / 16 * 16; }

std::uint32_t* words(float* floats) { return reinterpret_cast<std::uint32_t*>(floats); }

}  // namespace

// NOLINTNEXTLINE(readability-non-const-parameter): the parts point into both
AttentionInput::Sizes AttentionInput::placeParts(float* memory, float* kept_memory) {
  const auto heads_of = [this](std::size_t count) { return aligned(static_cast<std::size_t>(heads) * count); };
  const auto part = [](float*& next, float*& place, std::size_t size) {
    place = next;
    if (next != nullptr) next += size;
    return size;
  };
  float*& next = kept_memory != nullptr ? kept_memory : memory;
  const auto row_count = static_cast<std::size_t>(rows), kept_rows = static_cast<std::size_t>(capacity);
  Sizes sizes{};
  if (tiles == nullptr) {
    const std::size_t panel = static_cast<std::size_t>(head_dim) * kPanel;
    sizes.own += part(memory, q, heads_of(row_count * head_dim));
    sizes.own += part(memory, bias, static_cast<std::size_t>(panelsFor(keys)) * kPanel);
    sizes.kept += part(next, k, heads_of(panelsFor(capacity) * panel));
    sizes.kept += part(next, v, heads_of(kept_rows * paddedHeadDim(head_dim)));
    sizes.kept += part(next, key_squares, heads_of(kept_rows));
    return sizes;
  }
  const int depth = tiles->wordsFor(head_dim), groups = (rows + tiles->rows - 1) / tiles->rows;
  sizes.own += part(memory, q, heads_of(groups * tiles->groupWords(depth)));
  sizes.own += part(memory, q_scales, heads_of(static_cast<std::size_t>(groups) * tiles->rows));
  sizes.own += part(memory, v, heads_of(tiles->panelsFor(head_dim) * tiles->panelWords(tiles->wordsFor(keys))));
  sizes.own += part(memory, v_scales, heads_of(static_cast<std::size_t>(tiles->panelsFor(head_dim)) * tiles->columns));
  sizes.own += part(memory, bias, aligned(static_cast<std::size_t>(tiles->panelsFor(keys)) * tiles->columns));
  sizes.kept += part(next, k, heads_of(tiles->panelsFor(capacity) * tiles->panelWords(depth)));
  sizes.kept += part(next, k_scales, heads_of(static_cast<std::size_t>(tiles->panelsFor(capacity)) * tiles->columns));
  sizes.kept += part(next, values, heads_of(kept_rows * head_dim));
  return sizes;
}

std::size_t AttentionInput::keptSize(int capacity, int head_count, int dim, const TileKernel* with_tiles) {
  return AttentionInput(nullptr, capacity, head_count, dim, false, {}, with_tiles).placeParts(nullptr, nullptr).kept;
}

std::size_t AttentionInput::size(int row_count, int head_count, int dim, const KeptKeys& kept,
                                 const TileKernel* with_tiles) {
  const Sizes sizes =
      AttentionInput(nullptr, row_count, head_count, dim, false, kept, with_tiles).placeParts(nullptr, nullptr);
  return sizes.own + (kept.memory != nullptr ? 0 : sizes.kept);
}

AttentionInput::AttentionInput(float* memory, int row_count, int head_count, int dim, bool in_bf16,
                               const KeptKeys& kept, const TileKernel* with_tiles)
    : rows(row_count),
      keys(kept.memory != nullptr ? kept.rows : row_count),
      capacity(kept.memory != nullptr ? kept.capacity : row_count),
      heads(head_count),
      head_dim(dim),
      tiles(with_tiles),
      bf16(in_bf16),
      places(kept.places) {
  placeParts(memory, kept.memory);
}

template <class Row>
void AttentionInput::packKeys(int h, int begin, int end, int depth, Row row) const {
  for (int i = begin, take = 1; i < end; i += take) {
    const int place = placeOf(i), in_panel = place % kPanel;
    for (take = 1; take < kPanel - in_panel && i + take < end && placeOf(i + take) == place + take;) ++take;
    float* panel = k + (static_cast<std::ptrdiff_t>(h) * panelsFor(capacity) + place / kPanel) * depth * kPanel;
    row(i, take, panel, in_panel);
    if (place + take == keys) clearPanel(panel, depth, in_panel + take);
  }
}

void AttentionInput::pack(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows,
                          MatrixView<const float> v_rows, float scale) const {
  if (tiles != nullptr) return packTiles(begin, q_rows, k_rows, v_rows, scale);
  if (bf16) return packBf16(begin, q_rows, k_rows, v_rows, scale);
  const int n = q_rows.rows;
  const int v_stride = paddedHeadDim(head_dim);
  const float factor = scale * kLog2E;
  for (int h = 0; h < heads; ++h) {
    const int column = h * head_dim;
    for (int i = 0; i < n; ++i) {
      const float* from = q_rows.row(i) + column;
      std::transform(from, from + head_dim, q + (static_cast<std::ptrdiff_t>(h) * rows + begin + i) * head_dim,
                     [factor](float x) { return x * factor; });
      const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(h) * capacity + placeOf(begin + i);
      float* to = std::copy_n(v_rows.row(i) + column, head_dim, v + place * v_stride);
      std::fill_n(to, v_stride - head_dim, 0.0f);
      key_squares[place] = largestSquare(k_rows.row(i) + column, k_rows.stride, 1, head_dim);
    }
    packKeys(h, begin, begin + n, head_dim, [&](int i, int take, float* panel, int in_panel) {
      packPanel(k_rows.row(i - begin) + column, k_rows.stride, take, head_dim, panel, in_panel);
    });
  }
}

void AttentionInput::packBf16(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows,
                              MatrixView<const float> v_rows, float scale) const {
  thread_local Scratch<float> scaled;
  thread_local Scratch<std::uint16_t> halves;
  const int n = q_rows.rows;
  const int depth = pairsFor(head_dim);
  const int v_stride = paddedHeadDim(head_dim);
  const float factor = scale * kLog2E;
  float* const row = scaled.atLeast(head_dim);
  std::uint16_t* const rounded = halves.atLeast(2 * static_cast<std::size_t>(kPanel) * v_stride);
  auto* const q_halves = reinterpret_cast<std::uint16_t*>(q);
  auto* const v_halves = reinterpret_cast<std::uint16_t*>(v);
  // An odd depth is filled up with a zero.
  const auto toPairs = [&](const float* from, std::uint16_t* to) {
    to[2 * depth - 1] = 0;
    toBf16(from, to, head_dim);
  };
  // Two neighbouring rows of v share a row of pairs.
  const auto valuePairs = [&](int h, int place) {
    return v_halves + (static_cast<std::ptrdiff_t>(h) * pairsFor(capacity) + place / 2) * 2 * v_stride;
  };
  for (int h = 0; h < heads; ++h) {
    const int column = h * head_dim;
    for (int i = 0; i < n; ++i) {
      const float* from = q_rows.row(i) + column;
      std::transform(from, from + head_dim, row, [factor](float x) { return x * factor; });
      toPairs(row, q_halves + (static_cast<std::ptrdiff_t>(h) * rows + begin + i) * 2 * depth);
    }
    for (int i = 0; i < n; ++i) {
      const int place = placeOf(begin + i);
      std::fill_n(rounded, v_stride, std::uint16_t{0});
      toBf16(v_rows.row(i) + column, rounded, head_dim);
      std::uint16_t* const to = valuePairs(h, place);
      const bool alone = place % 2 == 0 && place + 1 == keys;
      for (int c = 0; c < v_stride; ++c) {
        to[2 * c + place % 2] = rounded[c];
        if (alone) to[2 * c + 1] = 0;
      }
    }
    packKeys(h, begin, begin + n, depth, [&](int i, int take, float* panel, int in_panel) {
      for (int r = 0; r < take; ++r)
        toPairs(k_rows.row(i - begin + r) + column, rounded + static_cast<std::ptrdiff_t>(r) * 2 * depth);
      // A pair is as wide as a float, and packing only moves it.
      packPanel(reinterpret_cast<const float*>(rounded), depth, take, depth, panel, in_panel);
    });
  }
}

void AttentionInput::packBias(const float* key_bias) const {
  for (int j = 0; j < keys; ++j) bias[j] = key_bias != nullptr ? key_bias[j] * kLog2E : 0.0f;
  const int all = tiles != nullptr ? tiles->panelsFor(keys) * tiles->columns : panelsFor(keys) * kPanel;
  std::fill(bias + keys, bias + all, -std::numeric_limits<float>::infinity());
}

MatrixView<const float> AttentionInput::queries(const AttentionRows& part) const {
  const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(part.head) * rows + part.begin;
  if (!bf16) return {q + first * head_dim, part.count, head_dim};
  thread_local Scratch<float> scratch;
  const int width = 2 * pairsFor(head_dim);
  float* const queries = scratch.atLeast(static_cast<std::size_t>(kAttentionRows) * width);
  const auto* const halves = reinterpret_cast<const std::uint16_t*>(q) + first * width;
  std::transform(halves, halves + static_cast<std::ptrdiff_t>(part.count) * width, queries,
                 [](std::uint16_t half) { return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16); });
  return {queries, part.count, head_dim, width};
}

AttentionRows AttentionInput::rowsOf(int task) const {
  const int step = rowsOfTask(), tasks_of_head = (rows + step - 1) / step, begin = task % tasks_of_head * step;
  return {task / tasks_of_head, begin, std::min(step, rows - begin)};
}

void AttentionInput::run(const AttentionRows& part, MatrixView<float> out, const float* biases) const {
  if (tiles != nullptr) return runTiles(part, out);
  thread_local Scratch<float> scratch;
  const std::ptrdiff_t first_query = static_cast<std::ptrdiff_t>(part.head) * rows + part.begin;
  const std::ptrdiff_t head = static_cast<std::ptrdiff_t>(part.head) * capacity;
  // `depth` numbers of a row of q and k, `v_rows` rows of v.
  const auto tileOf = [&]<class Number>(const Number* queries, const Number* panels, const Number* values_of_keys,
                                        int depth, int v_rows) {
    return AttentionTile<Number>{
        .q = queries + first_query * depth,
        .q_stride = depth,
        .rows = part.count,
        .k = panels + static_cast<std::ptrdiff_t>(part.head) * panelsFor(capacity) * depth * kPanel,
        .v = values_of_keys + static_cast<std::ptrdiff_t>(part.head) * v_rows * paddedHeadDim(head_dim),
        .bias = biases != nullptr ? biases : bias,
        .bias_stride = biases != nullptr ? scoreStride(keys) : 0,
        .keys = keys,
        .largest_key_square = bf16 ? 0 : *std::max_element(key_squares + head, key_squares + head + keys),
        .head_dim = head_dim,
        .out = out.row(part.begin) + part.head * head_dim,
        .out_stride = out.stride};
  };
  const auto pairs = [](const float* numbers) { return reinterpret_cast<const Bf16Pair*>(numbers); };
  float* const memory = scratch.atLeast(attentionScratch(keys, head_dim));
  if (bf16)
    attentionTileBf16(tileOf(pairs(q), pairs(k), pairs(v), pairsFor(head_dim), pairsFor(capacity)), memory);
  else
    attentionTile(tileOf(q, k, v, head_dim, capacity), memory);
}

void AttentionInput::packTiles(int begin, MatrixView<const float> q_rows, MatrixView<const float> k_rows,
                               MatrixView<const float> v_rows, float scale) const {
  thread_local Scratch<float> scratch;
  thread_local Scratch<std::uint32_t> rounded_scratch;
  const int n = q_rows.rows, depth = tiles->wordsFor(head_dim), step = tiles->rows, width = tiles->columns;
  const int groups = (rows + step - 1) / step, panels = tiles->panelsFor(capacity);
  const float factor = scale * kLog2E;
  float* const scaled = scratch.atLeast(static_cast<std::size_t>(step) * head_dim);
  std::uint32_t* const rounded = rounded_scratch.atLeast(static_cast<std::size_t>(width) * depth);
  for (int h = 0; h < heads; ++h) {
    const int column = h * head_dim;
    for (int i = 0; i < n; i += step) {
      const MatrixView<float> group(scaled, std::min(step, n - i), head_dim);
      for (int r = 0; r < group.rows; ++r) {
        std::transform(q_rows.row(i + r) + column, q_rows.row(i + r) + column + head_dim, group.row(r),
                       [factor](float x) { return x * factor; });
      }
      const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(h) * groups + (begin + i) / step;
      tiles->packGroup(group, words(q) + place * tiles->groupWords(depth), q_scales + place * step);
    }
    for (int i = 0, take = 1; i < n; i += take) {
      const int place = placeOf(begin + i), in_panel = place % width;
      for (take = 1; take < width - in_panel && i + take < n && placeOf(begin + i + take) == place + take;) ++take;
      const std::ptrdiff_t panel = static_cast<std::ptrdiff_t>(h) * panels + place / width;
      std::uint32_t* const to = words(k) + panel * tiles->panelWords(depth);
      float* const scales = k_scales + panel * width;
      for (int r = 0; r < take; ++r) {
        scales[in_panel + r] =
            tiles->roundW(k_rows.row(i + r) + column, head_dim, rounded + static_cast<std::ptrdiff_t>(r) * depth);
        std::copy_n(v_rows.row(i + r) + column, head_dim,
                    values + (static_cast<std::ptrdiff_t>(h) * capacity + place + r) * head_dim);
      }
      tiles->packColumns(rounded, take, depth, to, in_panel, width);
      if (const int rest = width - in_panel - take; place + take == keys && rest > 0) {
        std::fill_n(rounded, rest * depth, 0u);
        tiles->packColumns(rounded, rest, depth, to, in_panel + take, width);
        std::fill_n(scales + in_panel + take, rest, 0.0f);
      }
    }
  }
}

void AttentionInput::finishValues(int task) const {
  thread_local Scratch<float> scratch;
  thread_local Scratch<std::uint32_t> rounded_scratch;
  const int panels = tiles->panelsFor(head_dim), h = task / panels, first = task % panels * tiles->columns;
  const int count = std::min(tiles->columns, head_dim - first), width = tiles->widthOf(count);
  const int depth = tiles->wordsFor(keys);
  float* const columns = scratch.atLeast(static_cast<std::size_t>(count) * keys);
  std::uint32_t* const rounded = rounded_scratch.atLeast(static_cast<std::size_t>(width) * depth);
  packPanel(values + static_cast<std::ptrdiff_t>(h) * capacity * head_dim + first, head_dim, keys, count, columns, 0,
            keys);
  std::fill_n(rounded + static_cast<std::ptrdiff_t>(count) * depth, (width - count) * depth, 0u);
  for (int c = 0; c < width; ++c) {
    v_scales[task * tiles->columns + c] = c < count
                                              ? tiles->roundW(columns + static_cast<std::ptrdiff_t>(c) * keys, keys,
                                                              rounded + static_cast<std::ptrdiff_t>(c) * depth)
                                              : 0.0f;
  }
  std::uint32_t* const panel = words(v) + task * tiles->panelWords(depth);
  tiles->packColumns(rounded, width, depth, panel, 0, width);
  // Weights are unsigned as they are, without an offset.
  if (tiles->offset) std::fill_n(panel + static_cast<std::ptrdiff_t>(depth) * width, width, 0u);
}

void AttentionInput::runTiles(const AttentionRows& part, MatrixView<float> out) const {
  thread_local Scratch<float> scratch;
  thread_local Scratch<std::uint32_t> packed_scratch;
  static constexpr float kZeros[kMaxColumns] = {};
  const int h = part.head, begin = part.begin, count = part.count;
  const int step = tiles->rows, width = tiles->columns, depth = tiles->wordsFor(head_dim);
  const int columns = tiles->panelsFor(keys) * width, key_words = tiles->wordsFor(keys);
  const std::ptrdiff_t first_group = static_cast<std::ptrdiff_t>(h) * ((rows + step - 1) / step) + begin / step;
  const std::ptrdiff_t first_panel = static_cast<std::ptrdiff_t>(h) * tiles->panelsFor(capacity);
  const int task_rows = rowsOfTask();
  const MatrixView<float> scores(scratch.atLeast(static_cast<std::size_t>(task_rows) * (columns + 16)), task_rows,
                                 columns, columns + 16);
  const TileProducts products(*tiles);
  // Row `i` is the first of a group, and key `j` the first of a panel.
  const auto score = [&](int i, int j) {
    const std::ptrdiff_t group = first_group + i / step, panel = first_panel + j / width;
    tiles->run(words(q) + group * tiles->groupWords(depth), words(k) + panel * tiles->panelWords(depth), depth, width,
               {.y = {scores.row(i) + j, step, width, scores.stride},
                .row_scales = q_scales + group * step,
                .column_scales = k_scales + panel * width,
                .bias = bias + j});
  };
  const float levels = tiles->offset ? 255.0f : 127.0f;
  float inverses[kMaxAttentionRows] = {};
  const std::size_t group_words = tiles->groupWords(key_words);
  std::uint32_t* const packed = packed_scratch.atLeast(static_cast<std::size_t>(step) * columns +
                                                       static_cast<std::size_t>(task_rows / step) * group_words);
  std::uint32_t* const weights = packed + static_cast<std::ptrdiff_t>(task_rows / step) * group_words;
  // A row in runs goes into its group at once. In int8 the last words of a row can lie behind the scores; they meet
  // zeros of v.
  const bool runs = tiles->run_words > 1;
  const auto weighRow = [&](int row) {
    std::uint32_t* const to = runs ? packed + row / step * group_words + row % step * kRunWords
                                   : weights + static_cast<std::ptrdiff_t>(row % step) * columns;
    inverses[row] = 1.0f / HWY_DYNAMIC_DISPATCH(weigh)(scores.row(row), columns, tiles->precision, levels, to,
                                                       runs ? step * kRunWords : kRunWords);
  };
  const auto packWeights = [&](int i) {
    if (!runs)
      tiles->packRounded(weights, columns, std::min(step, count - i), key_words, packed + i / step * group_words);
  };
  if (tiles->multipliesBesideVectors()) {
    // A panel for this group, a row of the group before: the vector units weigh while the tiles multiply.
    for (int i = 0; i < count + step; i += step) {
      const int before = i - step, panels = i < count ? columns / width : 0;
      const int weighed = before >= 0 ? std::min(step, count - before) : 0;
      for (int next = 0; next < std::max(panels, weighed); ++next) {
        if (next < panels) score(i, next * width);
        if (next < weighed) weighRow(before + next);
      }
      if (weighed > 0) packWeights(before);
    }
  } else {
    for (int j = 0; j < columns; j += width)
      for (int i = 0; i < count; i += step) score(i, j);
    for (int i = 0; i < count; i += step) {
      for (int r = i; r < std::min(i + step, count); ++r) weighRow(r);
      packWeights(i);
    }
  }
  for (int c = 0; c < head_dim; c += width) {
    const int panel = h * tiles->panelsFor(head_dim) + c / width;
    for (int i = 0; i < count; i += step) {
      tiles->run(packed + i / step * group_words, words(v) + panel * tiles->panelWords(key_words), key_words,
                 tiles->widthOf(std::min(width, head_dim - c)),
                 {.y = {out.row(begin + i) + h * head_dim + c, std::min(step, count - i), std::min(width, head_dim - c),
                        out.stride},
                  .row_scales = inverses + i,
                  .column_scales = v_scales + panel * width,
                  .bias = kZeros});
    }
  }
  if (tiles->precision == Precision::kFp32) {
    for (int i = 0; i < count; ++i)
      for (int c = h * head_dim; c < (h + 1) * head_dim; ++c) out.row(begin + i)[c] *= inverses[i];
  }
}

}  // namespace mpm
#endif  // HWY_ONCE
