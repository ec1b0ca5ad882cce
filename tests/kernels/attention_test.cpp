// SPDX-License-Identifier: Apache-2.0
#include "kernels/attend.h"
#include "kernels/each_instruction_set.h"
#include "kernels/reference.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

class Attention : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(Attention);

struct Case {
  Matrix q, k, v;
  std::vector<float> bias;
  int heads;
  float scale;

  Case(int rows, int head_count, int head_dim, int gap = 0)
      : q(Matrix::normal(rows, head_count * head_dim, 1, 2, gap)),
        k(Matrix::normal(rows, head_count * head_dim, 2, 2, 2 * gap)),
        v(Matrix::normal(rows, head_count * head_dim, 3, 1, 3 * gap)),
        bias(test::normal(rows, 4)),
        heads(head_count),
        scale(1 / std::sqrt(static_cast<float>(head_dim))) {}

  Matrix run(const float* key_bias, const Parallel& parallel = Serial(), int gap = 0) const {
    Matrix out(q.rows, q.cols, gap);
    test::attend(q.view(), k.view(), v.view(), heads, scale, key_bias, out.view(), parallel);
    return out;
  }
  test::Reference expected(const float* key_bias) const {
    return test::attention(test::Reference(q.view()), test::Reference(k.view()), test::Reference(v.view()), heads,
                           static_cast<double>(scale), key_bias);
  }
};

TEST_P(Attention, RowsInPrimes) {
  for (const int rows : {1, 2, 3, 5, 7, 11, 13, 17, 23, 29, 47, 61, 64, 67, 101, 127, 128, 131, 257}) {
    const Case c(rows, 2, 16);
    ASSERT_LE(test::maxError(c.run(nullptr).view(), c.expected(nullptr)), 3e-6) << rows;
    ASSERT_LE(test::maxError(c.run(c.bias.data()).view(), c.expected(c.bias.data())), 3e-6) << rows;
  }
}

TEST_P(Attention, AnyHeadDim) {
  for (const int head_dim : {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 20, 24, 31, 32, 33, 48, 64, 72, 80, 96, 128, 144}) {
    const Case c(75, 3, head_dim);
    ASSERT_LE(test::maxError(c.run(c.bias.data()).view(), c.expected(c.bias.data())), 1e-5) << head_dim;
  }
}

TEST_P(Attention, WiderStridesLeaveWhatIsBetweenRows) {
  for (const int gap : {1, 5, 16}) {
    const Case c(70, 2, 20, gap);
    const Matrix out = c.run(c.bias.data(), Serial(), gap);
    EXPECT_LE(test::maxError(out.view(), c.expected(c.bias.data())), 3e-6);
    for (int i = 0; i < out.rows; ++i)
      for (int j = 0; j < gap; ++j) EXPECT_TRUE(std::isnan(out.values[i * out.stride + 40 + j]));
  }
}

TEST_P(Attention, LargeLogitsNeitherOverflowNorVanish) {
  for (const int head_dim : {3, 32}) {
    Case c(90, 2, head_dim);
    for (int i = 0; i < 90 * head_dim; ++i) c.k.at(i / head_dim, i % head_dim) = 0;  // of the first head
    for (const float factor : {50.0f, -1.0f}) {
      for (float& value : c.q.values) value *= factor;
      EXPECT_LE(test::maxError(c.run(nullptr).view(), c.expected(nullptr)), 2e-3) << head_dim;
    }
  }
}

TEST_P(Attention, ALargeBiasOfAnyKeyTakesAll) {
  const Case c(75, 2, 16);
  for (const int key : {0, 42, 74}) {
    std::vector<float> bias(75, 0.0f);
    bias[static_cast<std::size_t>(key)] = 300;
    const Matrix out = c.run(bias.data());
    for (int i = 0; i < 75; ++i)
      for (int j = 0; j < 32; ++j) ASSERT_NEAR(out.at(i, j), c.v.at(key, j), 1e-6) << key;
  }
}

TEST_P(Attention, NothingIsLeftOfAnEarlierCall) {
  Case earlier(130, 2, 16);
  std::fill(earlier.k.values.begin(), earlier.k.values.end(), std::numeric_limits<float>::quiet_NaN());
  earlier.run(nullptr);
  const Case c(67, 2, 16);
  EXPECT_LE(test::maxError(c.run(nullptr).view(), c.expected(nullptr)), 3e-6);
}

// Up to 60 (in powers of 2) scores need no maximum: both ways, and the change between them inside one image.
TEST_P(Attention, ScoresAroundTheSizeThatNeedsMaxima) {
  for (const float factor : {1.0f, 2.0f, 3.0f, 4.0f, 6.0f}) {
    Case c(77, 2, 16);
    for (float& value : c.q.values) value *= factor;
    EXPECT_LE(test::maxError(c.run(c.bias.data()).view(), c.expected(c.bias.data())), 1e-5 * factor) << factor;
  }
}

TEST_P(Attention, ScoresThatAreAllSmallOrAllLarge) {
  for (const float score : {-200.0f, -61.0f, -59.0f, 59.0f, 61.0f, 200.0f}) {
    Case c(70, 1, 16);
    c.scale = 1;
    const float length = std::sqrt(std::abs(score) * std::numbers::ln2_v<float> / 16);
    std::fill(c.q.values.begin(), c.q.values.end(), std::copysign(length, score));
    std::fill(c.k.values.begin(), c.k.values.end(), length);
    EXPECT_LE(test::maxError(c.run(nullptr).view(), c.expected(nullptr)), 1e-6) << "2^" << score;
  }
}

TEST_P(Attention, MaskedKeyContributesNothing) {
  Case c(50, 2, 16);
  c.bias.assign(50, 0.0f);
  c.bias[7] = -std::numeric_limits<float>::infinity();
  const Matrix before = c.run(c.bias.data());
  for (int j = 0; j < c.v.cols; ++j) c.v.at(7, j) = 1e30f;
  EXPECT_EQ(c.run(c.bias.data()).values, before.values);
}

TEST_P(Attention, BiasOfLogCopiesEqualsCopies) {
  const Case once(40, 2, 16);
  Case twice(41, 2, 16);
  for (Matrix Case::*part : {&Case::q, &Case::k, &Case::v})
    for (int i = 0; i < 41; ++i)
      for (int j = 0; j < 32; ++j) (twice.*part).at(i, j) = (once.*part).at(i == 40 ? 3 : i, j);
  std::vector<float> bias(40, 0.0f);
  bias[3] = std::log(2.0f);
  const Matrix merged = once.run(bias.data()), full = twice.run(nullptr);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 32; ++j) ASSERT_NEAR(merged.at(i, j), full.at(i, j), 3e-6);
}

TEST_P(Attention, SameBytesForAnyNumberOfThreads) {
  const Case c(277, 3, 24);
  const Matrix serial = c.run(c.bias.data());
  for (const int threads : {1, 2, 3, 4}) EXPECT_EQ(c.run(c.bias.data(), test::Threads(threads)).values, serial.values);
}

TEST_P(Attention, NoRowsNoWork) {
  const Case c(0, 2, 8);
  EXPECT_TRUE(c.run(nullptr).values.empty());
}

}  // namespace
}  // namespace mpm
