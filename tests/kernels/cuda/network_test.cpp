// SPDX-License-Identifier: Apache-2.0
// Patches in, blocks, labels out.

#include "kernels/block_weights.h"
#include "kernels/cuda/on_device.h"
#include "kernels/cuda/patch_embed.h"
#include "kernels/cuda/resample.h"
#include "kernels/cuda/transformer_block.h"
#include "kernels/expected_labels.h"
#include "kernels/reference.h"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

using mpm::test::BlockOptions;
using mpm::test::BlockWeights;
using mpm::test::Reference;

class CudaNetwork : public test::OnDevice {};

TEST_F(CudaNetwork, PixelsBecomePlanes) {
  PixelValues values;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::vector<float> numbers = test::normal(256, static_cast<unsigned>(c));
    std::copy(numbers.begin(), numbers.end(), values.of_byte[c].begin());
  }
  values.image_channel = {2, 0, 1};
  const Normaliser normaliser(stream(), values);
  for (const int count : {1, 255, 2048, 2049, 70 * 61}) {
    std::vector<unsigned char> pixels;
    for (int i = 0; i < 3 * count; ++i) pixels.push_back(static_cast<unsigned char>(i * 37 + i / 256));
    const Buffer<unsigned char> device_pixels = uploaded(stream(), pixels);
    Buffer<float> planes(stream(), 3 * count);
    normaliser.run(stream(), device_pixels.data(), count, planes.data());
    const std::vector<float> result = fetched(planes.data(), planes.capacity());
    for (int c = 0; c < 3; ++c)
      for (int p = 0; p < count; ++p)
        ASSERT_EQ(result[c * count + p], values.of_byte[c][pixels[3 * p + values.image_channel[c]]])
            << c << ", " << p << " of " << count;
  }
}

// With and without a border of zeros, and a norm in front of the positions.
TEST_F(CudaNetwork, PatchesBecomeTokens) {
  const int batch = 2, dim = 24, special = 1;
  for (const auto& [pad_h, pad_w, normed] : {std::tuple(0, 0, false), {1, 2, false}, {0, 0, true}, {2, 0, true}}) {
    SCOPED_TRACE(::testing::Message() << "border " << pad_h << " and " << pad_w << ", norm " << normed);
    const PatchGeometry g{3, 20 + 2 * pad_h, 31 + 2 * pad_w, 4, 5, 4, 3};
    const int patches = g.gridHeight() * g.gridWidth(), depth = 3 * 4 * 5, rows = special + patches;
    const Matrix weight = Matrix::normal(dim, depth, 1, 0.2f), position = Matrix::normal(patches, dim, 2),
                 front = Matrix::normal(special, dim, 3);
    const std::vector<float> images = test::normal(batch * 3 * 20 * 31, 4), bias = test::normal(dim, 5),
                             scale = test::normal(dim, 6), shift = test::normal(dim, 7);
    std::vector<float> bordered(batch * 3 * g.height * g.width);
    for (int plane = 0; plane < 3 * batch; ++plane)
      for (int y = 0; y < 20; ++y)
        std::copy_n(images.begin() + (plane * 20 + y) * 31, 31,
                    bordered.begin() + (plane * g.height + y + pad_h) * g.width + pad_w);
    const Buffer<float> device_images = uploaded(stream(), images);
    Gemm gemm(stream());
    const NormWeights norm{scale.data(), shift.data(), 1e-5f, true};
    PatchEmbed embed(stream(), {.geometry = g,
                                .pad_h = pad_h,
                                .pad_w = pad_w,
                                .weight = weight.view(),
                                .bias = normed ? bias.data() : nullptr,
                                .norm = normed ? &norm : nullptr,
                                .position = position.view(),
                                .special = front.view()});
    Buffer<float> tokens(stream(), batch * rows * dim);
    embed.run(stream(), gemm, device_images.data(), batch, tokens.data());
    const std::vector<float> result = fetched(tokens.data(), tokens.capacity());
    for (int b = 0; b < batch; ++b) {
      Reference products(patches, dim);
      for (int i = 0; normed && i < patches; ++i)
        for (int c = 0; c < dim; ++c) products.at(i, c) = static_cast<double>(bias[c]);
      products = patchEmbed(bordered.data() + b * 3 * g.height * g.width, g, weight.view(), products);
      if (normed) products = mpm::test::norm(products, norm);
      for (int i = 0; i < patches; ++i)
        for (int c = 0; c < dim; ++c) products.at(i, c) += static_cast<double>(position.view().row(i)[c]);
      EXPECT_LE(
          mpm::test::maxError({result.data() + b * rows * dim, rows, dim}, stacked(Reference(front.view()), products)),
          1e-5)
          << b;
    }
  }
}

// Bilinear with half-pixel centres, from its definition.
AxisResampling bilinear(int inputs, int outputs) {
  AxisResampling axis;
  axis.inputs = inputs;
  axis.taps = 2;
  for (int o = 0; o < outputs; ++o) {
    const double at = std::min(std::max((o + 0.5) * inputs / outputs - 0.5, 0.0), inputs - 1.0);
    const int first = std::min(static_cast<int>(at), inputs - 2);
    axis.first.push_back(first);
    axis.weight.push_back(static_cast<float>(1 - (at - first)));
    axis.weight.push_back(static_cast<float>(at - first));
  }
  return axis;
}

TEST_F(CudaNetwork, ScoresBecomeLabels) {
  using mpm::test::axisOfTaps;
  const int batch = 2;
  const struct {
    AxisResampling rows, columns;
    int classes;
  } cases[] = {
      {bilinear(3, 11), bilinear(13, 300), 1},
      {bilinear(3, 11), bilinear(13, 300), 70},
      {bilinear(4, 80), bilinear(7, 500), 19},  // more runs of pixels than a block has
      {bilinear(5, 40), bilinear(3, 9), 33},    // smaller than the grid
      {axisOfTaps(1, 1, 1), axisOfTaps(9, 1, 20), 5},
      {axisOfTaps(6, 3, 37), axisOfTaps(6, 3, 61), 40},  // a resize of a resize, as windows of a large image need it
      {axisOfTaps(9, 6, 12), axisOfTaps(9, 7, 40), 17},
  };
  for (const unsigned schedule : test::schedules())
    for (const auto& [rows, columns, classes] : cases) {
      test::useSchedule(schedule);
      const int grid = rows.inputs * columns.inputs, pixels = rows.outputs() * columns.outputs();
      std::vector<float> scores = test::normal(batch * grid * classes, 1);
      const bool tie =
          classes == 70;  // two classes that tie everywhere, across the pieces that the kernel cuts them into
      for (int i = 0; i < batch * grid && tie; ++i) scores[i * classes + 3] = scores[i * classes + 40] = 9;
      const Buffer<float> device_scores = uploaded(stream(), scores);
      Buffer<unsigned char> labels(stream(), static_cast<std::size_t>(batch * pixels));
      ResizeArgmax(stream(), rows, columns).run(stream(), device_scores.data(), batch, classes, labels.data());
      const std::vector<unsigned char> result = fetched(labels.data(), labels.capacity());
      SCOPED_TRACE(::testing::Message() << columns.inputs << " to " << columns.outputs() << " with " << columns.taps);
      for (int b = 0; b < batch; ++b)
        mpm::test::expectLabels({scores.data() + b * grid * classes, grid, classes}, rows, columns,
                                result.data() + b * pixels);
      for (const unsigned char label : result) ASSERT_TRUE(!tie || label == 3);
    }
}

TEST_F(CudaNetwork, MoreClassesThanAByteHoldsAreRefused) {
  const ResizeArgmax resize(stream(), bilinear(2, 4), bilinear(2, 4));
  EXPECT_THROW(resize.run(stream(), nullptr, 1, 257, nullptr), Error);
}

TEST_F(CudaNetwork, BlocksOfEveryVariation) {
  Gemm gemm(stream());
  BlockWorkspace workspace;
  for (const BlockOptions& options : mpm::test::blockVariations())
    for (const bool biased : {false, true}) {
      const BlockWeights weights(options);
      const TransformerBlockSpec spec = weights.spec();
      const std::vector<int> rows = {19, 1, 6};
      const test::Packed x = test::Packed::random(stream(), rows, spec.dim, 3);
      const std::vector<float> bias = test::normal(x.ragged.total, 4);
      const Buffer<float> device_bias = uploaded(stream(), bias);
      TransformerBlock(stream(), spec)
          .run(stream(), gemm, workspace, x.ragged, {.key_bias = biased ? device_bias.data() : nullptr}, x.data.data());
      const std::vector<float> y = fetched(x.data.data(), x.values.size());
      for (std::size_t b = 0; b < rows.size(); ++b) {
        const int begin = x.offsets[b];
        const auto expected =
            mpm::test::block(spec, Reference(MatrixView<const float>(x.row(static_cast<int>(b), 0), rows[b], spec.dim)),
                             biased ? bias.data() + begin : nullptr);
        ASSERT_LE(mpm::test::maxError({y.data() + static_cast<std::ptrdiff_t>(begin) * spec.dim, rows[b], spec.dim},
                                      expected),
                  1e-4);
      }
    }
}

// Images of different lengths, one of them without a patch: the rows of positions are packed without the special rows.
TEST_F(CudaNetwork, RotaryPositionsTurnWhatIsBehindTheSpecialRows) {
  struct Case {
    int special, tables, pairs;
    bool qk_norm;
  };
  Gemm gemm(stream());
  BlockWorkspace workspace;
  for (const unsigned schedule : test::schedules())
    for (const Case& c : {Case{0, 1, 8, false}, {1, 1, 8, true}, {3, 3, 8, false}, {2, 3, 5, true}, {1, 1, 6, false}}) {
      test::useSchedule(schedule);
      SCOPED_TRACE(::testing::Message() << c.special << " special, " << c.tables << " tables of " << c.pairs);
      const BlockWeights weights({.special = c.special, .rotary_tables = c.tables, .qk_norm = c.qk_norm});
      const TransformerBlockSpec spec = weights.spec();
      const std::vector<int> rows = {19, std::max(c.special, 1), 6};
      const test::Packed x = test::Packed::random(stream(), rows, spec.dim, 3);
      const int columns = 2 * c.tables * c.pairs;
      std::vector<int> patches;
      for (const int all : rows) patches.push_back(all - c.special);
      const test::Packed turns = test::Packed::random(stream(), patches, columns, 5, 0.7f);
      TransformerBlock(stream(), spec)
          .run(stream(), gemm, workspace, x.ragged, {.rotations = turns.data.data(), .pairs = c.pairs}, x.data.data());
      const std::vector<float> y = fetched(x.data.data(), x.values.size());
      for (int b = 0; b < 3; ++b) {
        const auto expected = mpm::test::block(spec, Reference(MatrixView<const float>(x.row(b, 0), rows[b], spec.dim)),
                                               nullptr, {turns.row(b, 0), patches[b], columns});
        ASSERT_LE(mpm::test::maxError({y.data() + x.offsets[b] * spec.dim, rows[b], spec.dim}, expected), 1e-4);
      }
    }
}

// The two halves make the whole, and the keys are those before the positions.
TEST_F(CudaNetwork, PartsOfABlockAndItsKeys) {
  Gemm gemm(stream());
  BlockWorkspace workspace;
  const BlockWeights weights({.special = 1, .rotary_tables = 1, .qk_norm = true, .gated = true});
  TransformerBlockSpec spec = weights.spec();
  const std::vector<int> rows = {19, 6};
  const test::Packed x = test::Packed::random(stream(), rows, spec.dim, 3);
  const test::Packed turns = test::Packed::random(stream(), {18, 5}, spec.head_dim, 5, 0.7f);
  Buffer<float> keys(stream(), area(x.ragged.total, spec.head_dim));
  const TransformerBlock::Extras extras{
      .rotations = turns.data.data(), .pairs = spec.head_dim / 2, .keys = keys.data()};
  for (const BlockPart part : {BlockPart::kAttention, BlockPart::kMlp}) {
    spec.part = part;
    TransformerBlock(stream(), spec).run(stream(), gemm, workspace, x.ragged, extras, x.data.data());
  }
  const std::vector<float> y = fetched(x.data.data(), x.values.size());
  const std::vector<float> mean = fetched(keys.data(), keys.capacity());
  for (int b = 0; b < 2; ++b) {
    const Reference from(MatrixView<const float>(x.row(b, 0), rows[b], spec.dim));
    const auto expected = mpm::test::block(spec, from, nullptr, {turns.row(b, 0), rows[b] - 1, spec.head_dim});
    EXPECT_LE(mpm::test::maxError({y.data() + x.offsets[b] * spec.dim, rows[b], spec.dim}, expected), 1e-4);
    EXPECT_LE(mpm::test::maxError({mean.data() + x.offsets[b] * spec.head_dim, rows[b], spec.head_dim},
                                  mpm::test::meanKeys(spec, mpm::test::norm(from, spec.norm1))),
              3e-5);
  }
}

TEST_F(CudaNetwork, BlockInSixteenBits) {
  BlockOptions options{.special = 1, .rotary_tables = 1, .attention_norm = true, .rms = true};
  options.dim = 128, options.heads = 2, options.head_dim = 64, options.hidden = 256;
  const BlockWeights weights(options);
  TransformerBlockSpec spec = weights.spec();
  Gemm gemm(stream());
  BlockWorkspace workspace;
  for (const Precision precision : {Precision::kTf32, Precision::kFp16, Precision::kBf16}) {
    if (precision == Precision::kBf16 && stream().device().major < 8) continue;
    const test::Packed x = test::Packed::random(stream(), {40, 3}, spec.dim, 3);
    const test::Packed turns = test::Packed::random(stream(), {39, 2}, spec.head_dim, 5, 0.7f);
    spec.precision = precision;
    TransformerBlock(stream(), spec)
        .run(stream(), gemm, workspace, x.ragged, {.rotations = turns.data.data(), .pairs = 32}, x.data.data());
    const std::vector<float> y = fetched(x.data.data(), x.values.size());
    const auto expected = mpm::test::block(spec, Reference(MatrixView<const float>(x.row(0, 0), 40, spec.dim)), nullptr,
                                           {turns.row(0, 0), 39, spec.head_dim});
    EXPECT_LE(mpm::test::maxError({y.data(), 40, spec.dim}, expected), precision == Precision::kBf16 ? 0.08 : 0.012);
  }
}

}  // namespace
}  // namespace mpm::cuda
