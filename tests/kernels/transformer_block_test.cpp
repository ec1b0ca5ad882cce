// SPDX-License-Identifier: Apache-2.0
#include "kernels/transformer_block.h"

#include <cstring>

#include "kernels/block_weights.h"
#include "kernels/each_instruction_set.h"
#include "kernels/reference.h"
#include "kernels/scratch.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

using test::BlockOptions;
using test::BlockWeights;
using test::relativeError;

class Block : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(Block);

Matrix run(const TransformerBlock& block, const Matrix& x, const float* key_bias, const Parallel& parallel = Serial(),
           MatrixView<const float> rotations = {}) {
  Matrix y(x.rows, x.cols);
  block.run({x.values.data(), 1, x.rows, x.cols, &x.rows}, key_bias, {y.values.data(), 1, y.rows, y.cols, &y.rows},
            parallel, {}, rotations);
  return y;
}

// What it says of the keys.
Matrix keysOf(const TransformerBlockSpec& spec, const Matrix& x, MatrixView<const float> rotations = {}) {
  Matrix y(x.rows, x.cols), keys(x.rows, spec.head_dim);
  TransformerBlock(spec).run({x.values.data(), 1, x.rows, x.cols, &x.rows}, nullptr,
                             {y.values.data(), 1, y.rows, y.cols, &y.rows}, test::Threads(2),
                             {keys.values.data(), 1, keys.rows, keys.cols, &keys.rows}, rotations);
  return keys;
}

// Of the block, from plain loops.
double errorOf(const BlockWeights& weights, const Matrix& x, const float* key_bias = nullptr) {
  return test::maxError(run(TransformerBlock(weights.spec()), x, key_bias).view(),
                        test::block(weights.spec(), test::Reference(x.view()), key_bias));
}

// Cosines and sines of any length: merged rows have shorter ones.
Matrix rotations(int rows, int columns) { return Matrix::normal(rows, columns, 22, 0.7f); }

TEST_P(Block, EveryVariationMatchesDoublePrecision) {
  for (int i = 0; const BlockOptions& options : test::blockVariations()) {
    SCOPED_TRACE(i++);
    const BlockWeights weights(options);
    const Matrix x = Matrix::normal(67, options.dim, 20);
    ASSERT_LE(errorOf(weights, x), 3e-5);
    ASSERT_LE(errorOf(weights, x, test::normal(67, 21).data()), 3e-5);
  }
}

TEST_P(Block, ItsPartsGiveTheSameBytesAsTheWhole) {
  for (int i = 0; const BlockOptions& options : test::blockVariations()) {
    SCOPED_TRACE(i++);
    if (options.parallel) continue;  // has no parts
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
  for (const auto& [qk_norm, norm_per_head] :
       {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
    const BlockOptions options{.qk_norm = qk_norm, .norm_per_head = norm_per_head};
    const BlockWeights weights(options);
    const TransformerBlockSpec spec = weights.spec();
    const Matrix x = Matrix::normal(150, options.dim, 20);
    const test::Reference expected = test::meanKeys(spec, test::norm(test::Reference(x.view()), spec.norm1));
    EXPECT_LE(test::maxError(keysOf(spec, x).view(), expected), 3e-5);
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
      const BlockOptions options{.head_dim = c.head_dim,
                                 .special = c.special,
                                 .rotary_tables = c.tables,
                                 .qk_norm = c.qk_norm,
                                 .precision = precision};
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
  const BlockOptions options{.special = 1, .rotary_tables = 1};
  const BlockWeights weights(options);
  const Matrix x = Matrix::normal(50, options.dim, 20), turns = rotations(49, options.head_dim);
  EXPECT_EQ(keysOf(weights.spec(), x, turns.view()).values, keysOf(weights.spec(), x).values);
}

TEST_P(Block, AnyNumberOfRows) {
  for (const int rows : {1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 129, 191, 300})
    ASSERT_LE(errorOf(BlockWeights{BlockOptions()}, Matrix::normal(rows, 48, 20)), 3e-5) << rows;
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
  const BlockOptions options{.special = 1, .rotary_tables = 1};
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
    const std::vector<float> image_bias = test::normal(rows[b], static_cast<unsigned>(b) + 40);
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

// The differences from fp32 have the size of the precision's rounding. A wrong layout would have the size of the
// values, 1, and no difference would be fp32.
void expectCloseToFp32(Precision precision, double least, double most) {
  for (BlockOptions options : test::blockVariations()) {
    options.precision = precision;
    const BlockWeights weights(options);
    const TransformerBlock block(weights.spec());
    for (const int rows : {1, 2, 9, 17, 75, 130, 333}) {
      if (rows > 130 && options.dim > 48) continue;  // the plain loops take long
      SCOPED_TRACE(::testing::Message() << rows << " rows, head_dim " << options.head_dim);
      const Matrix x = Matrix::normal(rows, options.dim, 20);
      const std::vector<float> bias = test::normal(rows, 21);
      const Matrix y = run(block, x, bias.data());
      const test::Reference expected = test::block(weights.spec(), test::Reference(x.view()), bias.data());
      ASSERT_LE(relativeError(y, expected, x), most);
      ASSERT_GE(relativeError(y, expected, x), least);
      ASSERT_EQ(run(block, x, bias.data(), test::Threads(3)).values, y.values);
    }
  }
}

// 8 bits.
TEST_P(Block, Bf16StaysCloseToFp32) {
  if (cpuHasBf16()) return expectCloseToFp32(Precision::kBf16, 1e-4, 0.02);
  BlockOptions options;
  options.precision = Precision::kBf16;
  EXPECT_ANY_THROW(TransformerBlock(BlockWeights(options).spec()));
  GTEST_SKIP() << "no bf16 on this CPU";
}

// 11 bits, 8 of them after a sum over 64 products.
TEST_P(Block, Fp16StaysCloseToFp32) {
  if (!cpuHasFp16()) GTEST_SKIP() << "no fp16 arithmetic on this CPU";
  expectCloseToFp32(Precision::kFp16, 1e-5, 0.005);
}

// Steps of the row's largest / 127.
TEST_P(Block, Int8StaysCloseToFp32) { expectCloseToFp32(Precision::kInt8, 1e-3, 0.04); }

// Some rows are computed again, against the keys and values that all rows had when they were computed last. A row whose
// bias is -infinity is no key.
TEST_P(Block, KeptRowsAreThoseOfEarlierCalls) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16, Precision::kInt8}) {
    if (precision == Precision::kBf16 && !cpuHasBf16()) continue;
    for (const int rows : {1, 2, 67, 130}) {
      SCOPED_TRACE(::testing::Message() << rows << " rows");
      BlockOptions options;
      options.precision = precision;
      const BlockWeights weights(options);
      const TransformerBlock block(weights.spec());
      const int capacity = rows + 5;
      Scratch<float> memory;
      std::fill_n(memory.atLeast(block.keptSize(capacity)), block.keptSize(capacity), 0.0f);
      Matrix all(rows, options.dim);
      std::mt19937 random(3);
      for (unsigned call = 0; call < 8; ++call) {
        std::vector<int> places;
        for (int i = 0; i < rows; ++i)
          if (call == 0 || random() % 4 < call % 4) places.push_back(i);
        std::vector<float> bias(rows, 0.0f);
        for (int i = 1; i < rows && call > 4; i += 7) bias[i] = -INFINITY;
        const int count = static_cast<int>(places.size());
        const Matrix x = Matrix::normal(count, options.dim, 50 + call);
        for (int i = 0; i < count; ++i) std::copy_n(x.view().row(i), options.dim, all.view().row(places[i]));
        Matrix y(count, options.dim);
        block.run({x.values.data(), 1, count, x.cols, &count}, bias.data(), {y.values.data(), 1, count, y.cols, &count},
                  test::Threads(2), {}, {}, {memory.atLeast(1), capacity, rows, places.data()});
        const test::Reference whole = test::block(weights.spec(), test::Reference(all.view()), bias.data());
        test::Reference expected(count, options.dim);
        for (int i = 0; i < count; ++i)
          for (int c = 0; c < options.dim; ++c) expected.at(i, c) = whole.at(places[i], c);
        if (count == 0) continue;
        if (precision == Precision::kFp32)
          ASSERT_LE(test::maxError(y.view(), expected), 3e-5) << call;
        else
          ASSERT_LE(relativeError(y, expected, x), 0.03) << call;
      }
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
