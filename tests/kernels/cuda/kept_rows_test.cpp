// SPDX-License-Identifier: Apache-2.0
// Nets that reuse rows of earlier frames (docs/reuse.md): a call has a part of the rows of its image.
#include "kernels/cuda/kept_rows.h"

#include <cmath>
#include <random>

#include "kernels/block_weights.h"
#include "kernels/cuda/merging.h"
#include "kernels/cuda/on_device.h"
#include "kernels/cuda/patch_embed.h"
#include "kernels/cuda/transformer_block.h"
#include "kernels/reference.h"

namespace mpm::cuda {
namespace {

using mpm::test::BlockWeights;
using mpm::test::Reference;

std::size_t size(int count) { return static_cast<std::size_t>(count); }

// None, one, some, the last ones, all.
std::vector<std::vector<int>> partsOf(int rows) {
  std::vector<std::vector<int>> parts = {{}, {0}, {rows - 1}, {}, {rows - 2, rows - 1}, std::vector<int>(size(rows))};
  for (int i = 1; i < rows; i += 3) parts[3].push_back(i);
  std::iota(parts.back().begin(), parts.back().end(), 0);
  return parts;
}

class CudaKeptRows : public test::OnDevice {};

TEST_F(CudaKeptRows, TakeTheirPlaces) {
  constexpr int kRows = 40, kColumns = 37, kStride = 50;
  for (const unsigned schedule : test::schedules())
    for (const int special : {0, 2})
      for (const std::vector<int>& computed : partsOf(kRows - special)) {
        test::useSchedule(schedule);
        const int count = special + static_cast<int>(computed.size());
        const std::vector<float> from = test::normal(size(count * kStride), 1);
        const Buffer<float> device_from = uploaded(stream(), from);
        const Buffer<int> device_computed = uploaded(stream(), computed);
        std::vector<float> expected(size(kRows * kColumns), -1.0f);
        const Buffer<float> kept = uploaded(stream(), expected);
        keepRows(stream(), {count, special, device_computed.data()}, kColumns, kStride, Number::kFloat,
                 device_from.data(), kept.data());
        for (int i = 0; i < count; ++i)
          std::copy_n(from.begin() + i * kStride, kColumns,
                      expected.begin() + (i < special ? i : special + computed[size(i - special)]) * kColumns);
        ASSERT_EQ(fetched(kept.data(), expected.size()), expected) << count << " rows";
      }
}

TEST_F(CudaKeptRows, AStateNamesThem) {
  constexpr int kPatches = 7, kSpecial = 2;
  TokenState state;
  state.reset(stream(), kPatches, kSpecial, {1, 4, 5});
  TokenState shifted, whole;
  shifted.assign(stream(), state, 5);
  whole.assignAll(stream(), shifted);
  for (const auto& [one, special] : {std::pair(&state, kSpecial), {&shifted, 5}}) {
    EXPECT_TRUE(one->isPart());
    EXPECT_EQ(one->special(), special);
    EXPECT_EQ(one->liveRows(), std::vector<int>{3});
    EXPECT_EQ(one->rows().total, special + 3);
    EXPECT_EQ(one->rows().longest, special + 3);
    EXPECT_EQ(one->allRows(), special + kPatches);
    EXPECT_EQ(fetched(one->rows().offsets, 2), (std::vector<int>{0, special + 3}));
    EXPECT_EQ(fetched(one->computed(), 3), (std::vector<int>{1, 4, 5}));
  }
  EXPECT_FALSE(whole.isPart());
  EXPECT_EQ(whole.computed(), nullptr);
  EXPECT_EQ(whole.special(), 5);
  EXPECT_EQ(whole.liveRows(), std::vector<int>{kPatches});
  EXPECT_EQ(whole.rows().total, 5 + kPatches);
  EXPECT_EQ(whole.allRows(), 5 + kPatches);
  EXPECT_EQ(fetched(whole.rows().offsets, 2), (std::vector<int>{0, 5 + kPatches}));
  for (const TokenState* one : {&state, &shifted, &whole}) {
    EXPECT_EQ(fetched(one->clusterOfPatch(), kPatches), (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(fetched(one->sizes(), kPatches), std::vector<int>(kPatches, 1));
    EXPECT_FALSE(one->hasGaps());
  }

  // What has all rows is no part.
  state.reset(stream(), 3, kSpecial, {0, 1, 2});
  EXPECT_FALSE(state.isPart());
  EXPECT_EQ(state.rows().total, kSpecial + 3);
  std::vector<float> list(4, -1.0f);
  state.writeComputed(list.data());
  EXPECT_EQ(list, (std::vector<float>{3, 0, 1, 2}));
}

// Four live rows, of which the second has no patch; rows 0 and 3 are computed.
TEST_F(CudaKeptRows, AStateOfTheHostThatHasAPart) {
  constexpr int kPatches = 5, kSpecial = 1;
  const std::vector<float> blob = {4, 3, 0, 2, 0, 0, 3, 0, 1, 1, 9}, computed = {2, 0, 3, 7, 7, 7};
  TokenState state;
  state.read(stream(), {blob.data(), 1, 1 + 2 * kPatches}, kSpecial, computed.data());
  EXPECT_TRUE(state.isPart());
  EXPECT_TRUE(state.hasGaps());
  EXPECT_EQ(state.liveRows(), std::vector<int>{2});
  EXPECT_EQ(state.rows().total, kSpecial + 2);
  EXPECT_EQ(state.allRows(), kSpecial + 4);
  EXPECT_EQ(fetched(state.rows().offsets, 2), (std::vector<int>{0, 3}));
  EXPECT_EQ(fetched(state.computed(), 2), (std::vector<int>{0, 3}));

  for (const bool proportional : {false, true}) {
    Buffer<float> bias(stream(), 5);
    state.keyBias(stream(), proportional, bias.data());
    const std::vector<float> found = fetched(bias.data(), 5);
    EXPECT_EQ(found[0], 0) << "a special row";
    EXPECT_FLOAT_EQ(found[1], proportional ? std::log(3.0f) : 0.0f);
    EXPECT_LT(found[2], -1e20f) << "a row without patches is no key";
    EXPECT_TRUE(std::isfinite(found[2] * 2));
    EXPECT_EQ(found[3], 0);
    EXPECT_EQ(found[4], 0);
  }

  TokenState shifted, whole;
  shifted.assign(stream(), state, 3);
  whole.assignAll(stream(), shifted);
  for (const TokenState* one : {&shifted, &whole}) {
    EXPECT_TRUE(one->hasGaps());
    EXPECT_EQ(fetched(one->sizes(), 4), (std::vector<int>{3, 0, 1, 1}));
  }

  // Back as the host has it.
  std::vector<float> expected = blob, list(6, 7.0f);
  expected.back() = 0;
  const Buffer<float> floats(stream(), blob.size());
  writeState(stream(), state, {floats.data(), floats.data() + 1, floats.data() + 1 + kPatches, 0, 0, 0});
  EXPECT_EQ(fetched(floats.data(), blob.size()), expected);
  state.writeComputed(list.data());
  EXPECT_EQ(list, computed);

  const std::vector<float> all = {4, 0, 1, 2, 3, 9};
  state.read(stream(), {blob.data(), 1, 1 + 2 * kPatches}, kSpecial, all.data());
  EXPECT_FALSE(state.isPart());
  EXPECT_EQ(state.rows().total, kSpecial + 4);
}

// More rows than a block of threads, and few of them there.
TEST_F(CudaKeptRows, EachOfAllRowsHasABias) {
  constexpr int kPatches = 600, kSpecial = 2;
  TokenState state;
  state.reset(stream(), kPatches, kSpecial, {5, 599});
  Buffer<float> bias(stream(), size(kSpecial + kPatches));
  state.keyBias(stream(), true, bias.data());
  EXPECT_EQ(fetched(bias.data(), bias.capacity()), std::vector<float>(size(kSpecial + kPatches)));
}

// With and without a border and a norm: the rows of the whole image, those that are asked for.
TEST_F(CudaKeptRows, SomePatchesBecomeTokens) {
  constexpr int kDim = 24;
  for (const auto& [special, pad, normed] : {std::tuple(0, 0, false), {2, 1, true}, {1, 0, true}, {3, 2, false}}) {
    SCOPED_TRACE(::testing::Message() << special << " special, border " << pad << ", norm " << normed);
    const PatchGeometry g{3, 20 + 2 * pad, 31 + 2 * pad, 4, 5, 4, 3};
    const int patches = g.gridHeight() * g.gridWidth();
    const Matrix weight = Matrix::normal(kDim, 3 * 4 * 5, 1, 0.2f), position = Matrix::normal(patches, kDim, 2),
                 front = Matrix::normal(special, kDim, 3);
    const std::vector<float> bias = test::normal(kDim, 5), scale = test::normal(kDim, 6), shift = test::normal(kDim, 7);
    const Buffer<float> image = uploaded(stream(), test::normal(3 * 20 * 31, 4));
    const NormWeights norm{scale.data(), shift.data(), 1e-5f, true};
    PatchEmbed embed(stream(), {.geometry = g,
                                .pad_h = pad,
                                .pad_w = pad,
                                .weight = weight.view(),
                                .bias = normed ? bias.data() : nullptr,
                                .norm = normed ? &norm : nullptr,
                                .position = position.view(),
                                .special = front.view()});
    Gemm gemm(stream());
    Buffer<float> tokens(stream(), size((special + patches) * kDim));
    embed.run(stream(), gemm, image.data(), 1, tokens.data());
    const std::vector<float> all = fetched(tokens.data(), tokens.capacity());
    for (const std::vector<int>& only : partsOf(patches)) {
      const Buffer<int> device_only = uploaded(stream(), only);
      const int count = static_cast<int>(only.size());
      clear(stream(), tokens.data(), tokens.capacity() * sizeof(float));
      const Buffer<int> none(stream(), 1);
      embed.run(stream(), gemm, image.data(), 1, tokens.data(), only.empty() ? none.data() : device_only.data(), count);
      std::vector<float> expected(all.begin(), all.begin() + special * kDim);
      for (const int patch : only) {
        const auto row = all.begin() + (special + patch) * kDim;
        expected.insert(expected.end(), row, row + kDim);
      }
      ASSERT_EQ(fetched(tokens.data(), expected.size()), expected) << count << " patches";
    }
  }
}

TEST_F(CudaKeptRows, RotaryPositionsAreThoseOfTheRowsThatAreThere) {
  constexpr int kPatches = 40, kPairs = 5, kColumns = 2 * kPairs;
  const std::vector<float> cosine = test::normal(kPatches * kPairs, 1), sine = test::normal(kPatches * kPairs, 2);
  const RotaryTables tables(stream(), MergedPositions::kMean, {cosine.data(), kPatches, kPairs},
                            {sine.data(), kPatches, kPairs});
  for (const std::vector<int>& computed : partsOf(kPatches)) {
    TokenState state;
    state.reset(stream(), kPatches, 0, computed);
    Buffer<float> rotations(stream(), size(kPatches * kColumns));
    tables.run(stream(), state, rotations.data());
    std::vector<float> expected;
    for (const int patch : computed)
      for (const std::vector<float>* const table : {&cosine, &sine})
        expected.insert(expected.end(), table->begin() + patch * kPairs, table->begin() + (patch + 1) * kPairs);
    ASSERT_EQ(fetched(rotations.data(), expected.size()), expected);
  }
}

// Some rows are computed again, against the keys and values that all rows had when they were computed last.
TEST_F(CudaKeptRows, BlocksAttendToAllRows) {
  struct Case {
    int rows, special;
    Precision precision;
    double error;
    bool gaps;  // some rows are no keys, among them the whole first tile
    int head_dim = 16;
  };
  Gemm gemm(stream());
  BlockWorkspace workspace;
  for (const unsigned schedule : test::schedules())
    for (const Case& c : {Case{1, 0, Precision::kFp32, 1e-4, false},
                          {2, 1, Precision::kFp32, 1e-4, false},
                          {67, 1, Precision::kFp32, 1e-4, false},
                          {130, 0, Precision::kFp32, 1e-4, true},
                          {130, 3, Precision::kFp16, 0.02, false},
                          {149, 0, Precision::kFp16, 0.02, true},
                          {130, 1, Precision::kFp16, 0.02, false, 64},
                          {149, 0, Precision::kFp16, 0.02, true, 64},
                          {70, 1, Precision::kBf16, 0.12, false},
                          {33, 2, Precision::kTf32, 0.02, false}}) {
      if (c.precision == Precision::kBf16 && stream().device().major < 8) continue;
      if (c.rows > 70 && schedule != test::schedules().front()) continue;  // they take long
      test::useSchedule(schedule);
      SCOPED_TRACE(::testing::Message() << c.rows << " rows, " << c.special << " special, precision "
                                        << static_cast<int>(c.precision));
      const BlockWeights weights({.head_dim = c.head_dim, .special = c.special, .precision = c.precision});
      const TransformerBlockSpec spec = weights.spec();
      const TransformerBlock block(stream(), spec);
      const int capacity = c.rows + 5;
      Buffer<unsigned char> kept(stream(), block.keptBytes(capacity));
      clear(stream(), kept.data(), kept.capacity());
      Matrix all(c.rows, spec.dim);
      std::mt19937 random(3);
      for (unsigned call = 0; call < 4; ++call) {
        std::vector<int> computed, places;
        for (int i = 0; i < c.special; ++i) places.push_back(i);
        for (int i = c.special; i < c.rows; ++i) {
          if (call != 0 && random() % 4 >= call % 4) continue;
          computed.push_back(i - c.special);
          places.push_back(i);
        }
        std::vector<float> bias(size(c.rows));
        for (int i = 0; i < c.rows; ++i)
          if (c.gaps && call > 1 && (i < 80 || i % 7 == 1)) bias[size(i)] = -1e30f;
        const int count = static_cast<int>(places.size());
        if (count == 0) continue;
        const test::Packed x = test::Packed::random(stream(), {count}, spec.dim, 50 + call);
        for (int i = 0; i < count; ++i) std::copy_n(x.row(0, i), spec.dim, all.view().row(places[size(i)]));
        const Buffer<int> device_computed = uploaded(stream(), computed);
        const Buffer<float> device_bias = uploaded(stream(), bias);
        block.run(stream(), gemm, workspace, x.ragged,
                  {.key_bias = c.gaps ? device_bias.data() : nullptr,
                   .kept = kept.data(),
                   .kept_rows = c.rows,
                   .places = {count, c.special, device_computed.data()}},
                  x.data.data());
        const std::vector<float> y = fetched(x.data.data(), x.values.size());
        const Reference whole = mpm::test::block(spec, Reference(all.view()), bias.data());
        Reference expected(count, spec.dim);
        for (int i = 0; i < count; ++i)
          for (int d = 0; d < spec.dim; ++d) expected.at(i, d) = whole.at(places[size(i)], d);
        ASSERT_LE(mpm::test::maxError({y.data(), count, spec.dim}, expected), c.error) << "call " << call;
      }
    }
}

}  // namespace
}  // namespace mpm::cuda
