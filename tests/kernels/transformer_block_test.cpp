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

Matrix run(const TransformerBlock& block, const Matrix& x, const float* key_bias) {
  Matrix y(x.rows, x.cols);
  block.run({x.values.data(), 1, x.rows, x.cols, &x.rows}, key_bias, {y.values.data(), 1, y.rows, y.cols, &y.rows},
            Serial());
  return y;
}

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
