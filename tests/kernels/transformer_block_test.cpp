// SPDX-License-Identifier: Apache-2.0
#include "kernels/transformer_block.h"

#include <cstring>
#include <optional>

#include "kernels/block_weights.h"
#include "kernels/each_instruction_set.h"
#include "kernels/reference.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

using test::BlockOptions;
using test::BlockWeights;
using test::Matrix;

class Block : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(Block);

Matrix run(const TransformerBlock& block, const Matrix& x, const float* key_bias, const Parallel& parallel = Serial(),
           MatrixView<const float> rotations = {}) {
  Matrix y(x.rows, x.cols);
  block.run({x.values.data(), 1, x.rows, x.cols, &x.rows}, key_bias, {y.values.data(), 1, y.rows, y.cols, &y.rows},
            parallel, {}, rotations);
  return y;
}

// Root mean square of the differences, in units of what the block adds to x.
double relativeError(const Matrix& y, const test::Reference& expected, const Matrix& x) {
  double squares = 0, error = 0;
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.cols; ++j) {
      const double change = expected.at(i, j) - static_cast<double>(x.at(i, j));
      const double difference = static_cast<double>(y.at(i, j)) - expected.at(i, j);
      squares += change * change;
      error += difference * difference;
    }
  return std::sqrt(error / squares);
}

// Cosines and sines of any length: merged rows have shorter ones.
Matrix rotations(int rows, int columns) { return Matrix::normal(rows, columns, 22, 0.7f); }

TEST_P(Block, EveryVariationMatchesDoublePrecision) {
  for (int i = 0; const BlockOptions& options : test::cpuBlockVariations()) {
    SCOPED_TRACE(i++);
    const BlockWeights weights(options);
    const Matrix x = Matrix::normal(67, options.dim, 20);
    const std::vector<float> bias = test::normal(67, 21);
    const TransformerBlock block(weights.spec());
    ASSERT_LE(
        test::maxError(run(block, x, nullptr).view(), test::block(weights.spec(), test::Reference(x.view()), nullptr)),
        3e-5);
    ASSERT_LE(test::maxError(run(block, x, bias.data()).view(),
                             test::block(weights.spec(), test::Reference(x.view()), bias.data())),
              3e-5);
  }
}

TEST_P(Block, ItsPartsGiveTheSameBytesAsTheWhole) {
  for (int i = 0; const BlockOptions& options : test::cpuBlockVariations()) {
    SCOPED_TRACE(i++);
    const BlockWeights weights(options);
    const Matrix x = Matrix::normal(67, options.dim, 20);
    const std::vector<float> bias = test::normal(67, 21);
    TransformerBlockSpec spec = weights.spec();
    const Matrix whole = run(TransformerBlock(spec), x, bias.data());
    spec.part = BlockPart::kAttention;
    TransformerBlockSpec attention = spec;
    attention.norm2 = {}, attention.fc1 = attention.fc2 = {}, attention.mlp_norm_weights = {};
    const Matrix seam = run(TransformerBlock(attention), x, bias.data());
    spec.part = BlockPart::kMlp;
    spec.norm1 = spec.q_norm = spec.k_norm = spec.attention_norm_weights = {}, spec.qkv = spec.proj = {};
    EXPECT_EQ(run(TransformerBlock(spec), seam, nullptr).values, whole.values);
  }
}

TEST_P(Block, KeysAreTheMeanOverTheHeads) {
  for (const bool qk_norm : {false, true}) {
    BlockOptions options;
    options.qk_norm = qk_norm;
    const BlockWeights weights(options);
    const TransformerBlockSpec spec = weights.spec();
    const Matrix x = Matrix::normal(150, options.dim, 20);
    Matrix y(x.rows, x.cols), keys(x.rows, options.head_dim);
    TransformerBlock(spec).run({x.values.data(), 1, x.rows, x.cols, &x.rows}, nullptr,
                               {y.values.data(), 1, y.rows, y.cols, &y.rows}, test::Threads(2),
                               {keys.values.data(), 1, keys.rows, keys.cols, &keys.rows});
    const test::Reference qkv = test::linear(test::norm(test::Reference(x.view()), spec.norm1), spec.qkv);
    test::Reference mean(x.rows, options.head_dim);
    for (int h = 0; h < options.heads; ++h) {
      const int begin = (options.heads + h) * options.head_dim;
      test::Reference k = qkv.columns(begin, begin + options.head_dim);
      if (qk_norm) k = test::norm(k, spec.k_norm);
      for (std::size_t i = 0; i < mean.values.size(); ++i) mean.values[i] += k.values[i] / options.heads;
    }
    EXPECT_LE(test::maxError(keys.view(), mean), 3e-5);
  }
}

TEST_P(Block, PositionBiasesMatchDoublePrecision) {
  for (const int rows : {1, 3, 67, 130, 257}) {
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      if (precision == Precision::kBf16 && !cpuHasBf16()) continue;
      for (const bool indexed : {false, true}) {
        for (const float size : {1.0f, 30.0f}) {  // logits with and without a search for their maximum
          SCOPED_TRACE(::testing::Message() << rows << " rows, biases of size " << size << (indexed ? ", index" : ""));
          BlockOptions options;
          options.precision = precision;
          const BlockWeights weights(options);
          const int pairs = rows * rows, entries = indexed ? 2 * rows : pairs;
          const auto table = test::normal(static_cast<std::size_t>(options.heads * entries), 30, size);
          std::vector<float> index(static_cast<std::size_t>(pairs));
          for (int i = 0; i < pairs; ++i) index[static_cast<std::size_t>(i)] = static_cast<float>(i * 7 % entries);
          TransformerBlockSpec spec = weights.spec();
          spec.position_bias = {rows, entries, table.data(), indexed ? index.data() : nullptr};
          const Matrix x = Matrix::normal(rows, options.dim, 20);
          const std::vector<float> key_bias = test::normal(static_cast<std::size_t>(rows), 21);
          const test::Reference expected = test::block(spec, test::Reference(x.view()), key_bias.data());
          const Matrix y = run(TransformerBlock(spec), x, key_bias.data(), test::Threads(2));
          if (precision == Precision::kFp32)
            EXPECT_LE(test::maxError(y.view(), expected), 3e-5);
          else
            EXPECT_LE(relativeError(y, expected, x), 0.02);
        }
      }
    }
  }
}

// A grid cut into windows; padding on the far sides fills up the last ones.
std::vector<float> windowRows(int grid_h, int grid_w, int window_h, int window_w) {
  std::vector<float> rows;
  for (int top = 0; top < grid_h; top += window_h)
    for (int left = 0; left < grid_w; left += window_w)
      for (int y = top; y < top + window_h; ++y)
        for (int x = left; x < left + window_w; ++x)
          rows.push_back(y < grid_h && x < grid_w ? static_cast<float>(y * grid_w + x) : -1.0f);
  return rows;
}

struct GridCase {
  int grid_h, grid_w, window_h, window_w;  // window 0: the whole grid
  bool positions;
  int heads, head_dim;
  bool biases = true, qk_norm = false;
};

const std::vector<GridCase> kGridCases = {{5, 7, 3, 3, true, 2, 16},
                                          {6, 9, 3, 3, true, 1, 64},
                                          {5, 7, 3, 4, false, 3, 16},
                                          {10, 3, 4, 4, true, 3, 7, false},
                                          {16, 20, 14, 14, true, 2, 20, true, true},
                                          {3, 2, 14, 14, true, 1, 16},
                                          {18, 20, 17, 19, true, 1, 16},
                                          {1, 9, 0, 0, true, 2, 16},
                                          {17, 16, 0, 0, true, 2, 64},
                                          {13, 11, 0, 0, true, 3, 16, true, true}};

TEST_P(Block, WindowsAndRelativePositionsMatchDoublePrecision) {
  for (const GridCase& c : kGridCases) {
    for (const float size : {0.2f, 4.0f}) {  // logits with and without a search for their maximum
      SCOPED_TRACE(::testing::Message() << c.grid_h << "x" << c.grid_w << " in windows of " << c.window_h << "x"
                                        << c.window_w << ", positions of size " << size);
      BlockOptions options;
      options.heads = c.heads;
      options.head_dim = c.head_dim;
      options.biases = c.biases;
      options.qk_norm = c.qk_norm;
      const BlockWeights weights(options);
      TransformerBlockSpec spec = weights.spec();
      const int height = c.window_h > 0 ? c.window_h : c.grid_h, width = c.window_w > 0 ? c.window_w : c.grid_w;
      const std::vector<float> rows = windowRows(c.grid_h, c.grid_w, height, width);
      if (c.window_h > 0)
        spec.windows = {static_cast<int>(rows.size()) / (height * width), height * width, rows.data()};
      const Matrix of_rows = Matrix::normal(2 * height - 1, c.head_dim, 31, size),
                   of_columns = Matrix::normal(2 * width - 1, c.head_dim, 32, size);
      if (c.positions) spec.relative_positions = {height, width, of_rows.values.data(), of_columns.values.data()};
      const Matrix x = Matrix::normal(c.grid_h * c.grid_w, options.dim, 20);
      const test::Reference expected = test::block(spec, test::Reference(x.view()), nullptr);
      const TransformerBlock block(spec);
      const Matrix y = run(block, x, nullptr, test::Threads(2));
      EXPECT_LE(test::maxError(y.view(), expected), size < 1 ? 3e-5 : 2e-4);
      EXPECT_EQ(run(block, x, nullptr).values, y.values) << "another number of threads";
      if (!cpuHasBf16()) continue;
      spec.precision = Precision::kBf16;
      EXPECT_LE(relativeError(run(TransformerBlock(spec), x, nullptr), expected, x), 0.02);
    }
  }
}

TEST_P(Block, WindowsOfABatchEqualThoseOfEachImage) {
  const BlockWeights weights{BlockOptions()};
  TransformerBlockSpec spec = weights.spec();
  const std::vector<float> rows = windowRows(5, 7, 3, 3);
  spec.windows = {6, 9, rows.data()};
  const TransformerBlock block(spec);
  const Matrix x = Matrix::normal(3 * 35, 48, 20);
  Matrix y(x.rows, x.cols);
  const std::vector<int> live(3, 35);
  block.run({x.values.data(), 3, 35, 48, live.data()}, nullptr, {y.values.data(), 3, 35, 48, live.data()},
            test::Threads(2));
  for (int b = 0; b < 3; ++b) {
    Matrix image(35, 48);
    std::copy_n(x.view().row(35 * b), image.values.size(), image.values.begin());
    const Matrix alone = run(block, image, nullptr);
    EXPECT_TRUE(std::equal(alone.values.begin(), alone.values.end(), y.view().row(35 * b))) << b;
  }
}

TEST_P(Block, RotaryPositionsMatchDoublePrecision) {
  struct Case {
    int head_dim, pairs, tables, special, rows;
    bool qk_norm;
  };
  for (const Case& c : {Case{16, 8, 1, 0, 67, false}, Case{16, 8, 1, 1, 200, true}, Case{64, 32, 1, 5, 131, false},
                        Case{64, 32, 3, 5, 131, false}, Case{20, 7, 3, 70, 150, true}, Case{16, 8, 1, 3, 3, false}}) {
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      if (precision == Precision::kBf16 && !cpuHasBf16()) continue;
      SCOPED_TRACE(::testing::Message() << c.pairs << " pairs of " << c.head_dim << ", " << c.tables << " tables, "
                                        << c.special << " special rows");
      BlockOptions options;
      options.head_dim = c.head_dim;
      options.special = c.special;
      options.rotary_tables = c.tables;
      options.qk_norm = c.qk_norm;
      options.precision = precision;
      const BlockWeights weights(options);
      const Matrix x = Matrix::normal(c.rows, options.dim, 20),
                   turns = rotations(c.rows - c.special, 2 * c.tables * c.pairs);
      const test::Reference expected = test::block(weights.spec(), test::Reference(x.view()), nullptr, turns.view());
      const TransformerBlock block(weights.spec());
      const Matrix y = run(block, x, nullptr, test::Threads(2), turns.view());
      if (precision == Precision::kFp32)
        EXPECT_LE(test::maxError(y.view(), expected), 3e-5);
      else
        EXPECT_LE(relativeError(y, expected, x), 0.02);
      if (c.rows > c.special) {
        EXPECT_GT(relativeError(run(block, x, nullptr), expected, x), 0.05) << "nothing is rotated";
      }
    }
  }
}

TEST_P(Block, KeysAreOfTheUnrotatedRows) {
  BlockOptions options;
  options.special = 1;
  options.rotary_tables = 1;
  const TransformerBlock block(BlockWeights(options).spec());
  const Matrix x = Matrix::normal(50, options.dim, 20), turns = rotations(49, options.head_dim);
  const auto keysWith = [&](MatrixView<const float> rotation) {
    Matrix y(x.rows, x.cols), keys(x.rows, options.head_dim);
    block.run({x.values.data(), 1, x.rows, x.cols, &x.rows}, nullptr, {y.values.data(), 1, y.rows, y.cols, &y.rows},
              Serial(), {keys.values.data(), 1, keys.rows, keys.cols, &keys.rows}, rotation);
    return keys.values;
  };
  EXPECT_EQ(keysWith(turns.view()), keysWith({}));
}

TEST_P(Block, AnyNumberOfRows) {
  const BlockWeights weights{BlockOptions()};
  const TransformerBlock block(weights.spec());
  for (const int rows : {1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 129, 191, 300}) {
    const Matrix x = Matrix::normal(rows, 48, 20);
    ASSERT_LE(
        test::maxError(run(block, x, nullptr).view(), test::block(weights.spec(), test::Reference(x.view()), nullptr)),
        3e-5)
        << rows;
  }
}

TEST_P(Block, SameBytesForAnyNumberOfThreads) {
  const BlockWeights weights{BlockOptions()};
  const TransformerBlock block(weights.spec());
  const Matrix x = Matrix::normal(333, 48, 20);
  const Matrix serial = run(block, x, nullptr);
  for (const int threads : {1, 2, 3, 4})
    EXPECT_EQ(run(block, x, nullptr, test::Threads(threads)).values, serial.values);
}

// Images of a batch have different row counts; behind them stands what must be neither read nor written.
TEST_P(Block, RaggedBatchEqualsEachImageAlone) {
  BlockOptions options;
  options.special = 1;
  options.rotary_tables = 1;
  const BlockWeights weights(options);
  const TransformerBlock block(weights.spec());
  const std::vector<int> rows = {130, 1, 200, 77};
  const int capacity = 210, dim = 48;
  const Matrix turns = rotations(4 * (capacity - 1), options.head_dim);
  const auto size = static_cast<std::size_t>(capacity * dim);
  const float untouched = 1234.5f;
  std::vector<float> x(rows.size() * size, std::numeric_limits<float>::quiet_NaN()), y(x.size(), untouched);
  std::vector<float> bias(rows.size() * static_cast<std::size_t>(capacity), std::numeric_limits<float>::quiet_NaN());
  std::vector<Matrix> alone;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const Matrix image = Matrix::normal(rows[b], dim, static_cast<unsigned>(b) + 30);
    const std::vector<float> image_bias =
        test::normal(static_cast<std::size_t>(rows[b]), static_cast<unsigned>(b) + 40);
    std::copy(image.values.begin(), image.values.end(), x.begin() + static_cast<std::ptrdiff_t>(b * size));
    std::copy(image_bias.begin(), image_bias.end(), bias.begin() + static_cast<std::ptrdiff_t>(b) * capacity);
    const int first = static_cast<int>(b) * (capacity - 1);
    alone.push_back(run(block, image, image_bias.data(), Serial(), turns.view().rowRange(first, first + rows[b] - 1)));
  }
  block.run({x.data(), 4, capacity, dim, rows.data()}, bias.data(), {y.data(), 4, capacity, dim, rows.data()},
            test::Threads(2), {}, turns.view());
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const float* image = y.data() + b * size;
    EXPECT_EQ(std::memcmp(image, alone[b].values.data(), alone[b].values.size() * sizeof(float)), 0) << b;
    for (std::size_t i = alone[b].values.size(); i < size; ++i) ASSERT_EQ(image[i], untouched);
  }
}

// bf16 keeps 8 bits: the differences from fp32 have the size of their rounding, and a wrong layout would have the size
// of the values, 1.
TEST_P(Block, Bf16StaysCloseToFp32) {
  if (!cpuHasBf16()) {
    BlockOptions options;
    options.precision = Precision::kBf16;
    EXPECT_ANY_THROW(TransformerBlock(BlockWeights(options).spec()));
    GTEST_SKIP() << "no bf16 on this CPU";
  }
  for (BlockOptions options : test::cpuBlockVariations()) {
    options.precision = Precision::kBf16;
    const BlockWeights weights(options);
    const TransformerBlock block(weights.spec());
    for (const int rows : {1, 2, 17, 75, 130, 333}) {
      SCOPED_TRACE(::testing::Message() << rows << " rows, head_dim " << options.head_dim);
      const Matrix x = Matrix::normal(rows, options.dim, 20);
      const std::vector<float> bias = test::normal(static_cast<std::size_t>(rows), 21);
      const Matrix y = run(block, x, bias.data());
      const test::Reference expected = test::block(weights.spec(), test::Reference(x.view()), bias.data());
      ASSERT_LE(relativeError(y, expected, x), 0.02);
      ASSERT_GE(relativeError(y, expected, x), 1e-4) << "that was fp32";
      ASSERT_EQ(run(block, x, bias.data(), test::Threads(3)).values, y.values);
    }
  }
}

TEST(TransformerBlock, KeepsNothingOfTheSpec) {
  std::optional<BlockWeights> weights(BlockOptions{});
  const Matrix x = Matrix::normal(20, 48, 20);
  const test::Reference expected = test::block(weights->spec(), test::Reference(x.view()), nullptr);
  const TransformerBlock block(weights->spec());
  for (Matrix BlockWeights::*part : {&BlockWeights::qkv, &BlockWeights::proj, &BlockWeights::fc1, &BlockWeights::fc2})
    std::fill(((*weights).*part).values.begin(), ((*weights).*part).values.end(), NAN);
  std::fill(weights->norms.begin(), weights->norms.end(), NAN);
  weights.reset();
  EXPECT_LE(test::maxError(run(block, x, nullptr).view(), expected), 3e-5);
}

}  // namespace
}  // namespace mpm
