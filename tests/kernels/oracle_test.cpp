// SPDX-License-Identifier: Apache-2.0
// The kernels against LibTorch: an opinion on what the words mean that is not ours.
#include "oracle/oracle.h"

#include <gtest/gtest.h>

#include "kernels/attention.h"
#include "kernels/block_weights.h"
#include "kernels/head_batch.h"
#include "kernels/pairing.h"
#include "kernels/reference.h"
#include "kernels/resample.h"
#include "net/head_training.h"

namespace mpm {
namespace {

using test::Matrix;

double maxDifference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    worst = difference <= worst ? worst : difference;
  }
  return worst;
}

TEST(LibTorch, EveryVariationOfABlock) {
  for (const test::BlockOptions& options : test::blockVariations()) {
    const test::BlockWeights weights(options);
    const Matrix x = Matrix::normal(131, options.dim, 20);
    const std::vector<float> bias = test::normal(131, 21);
    const TransformerBlock block(weights.spec());
    for (const float* key_bias : {static_cast<const float*>(nullptr), bias.data()}) {
      Matrix y(x.rows, x.cols);
      block.run({x.values.data(), 1, x.rows, x.cols, &x.rows}, key_bias, {y.values.data(), 1, y.rows, y.cols, &y.rows},
                Serial());
      EXPECT_LE(maxDifference(y.values, oracle::block(weights.spec(), x.view(), key_bias)), 4e-5);
    }
  }
}

TEST(LibTorch, Attention) {
  const Matrix q = Matrix::normal(149, 60, 1), k = Matrix::normal(149, 60, 2), v = Matrix::normal(149, 60, 3);
  const std::vector<float> bias = test::normal(149, 4);
  Matrix out(149, 60);
  attention(q.view(), k.view(), v.view(), 3, 0.22f, bias.data(), out.view(), Serial());
  EXPECT_LE(maxDifference(out.values, oracle::attention(q.view(), k.view(), v.view(), 3, 0.22f, bias.data())), 3e-6);
}

TEST(LibTorch, ActivationsAndLayerNorm) {
  const std::vector<float> x = test::normal(5000, 1, 3);
  for (const Activation activation :
       {Activation::kGeluErf, Activation::kGeluTanh, Activation::kGeluQuick, Activation::kRelu, Activation::kSilu}) {
    std::vector<float> y = x;
    activate(activation, {y.data(), 50, 100});
    EXPECT_LE(maxDifference(y, oracle::activation(activation, x)), 3e-6);
  }
  const MatrixView<const float> view(x.data(), 50, 100);
  const std::vector<float> weight = test::normal(100, 2), bias = test::normal(100, 3);
  std::vector<float> y(5000);
  layerNorm(view, weight.data(), bias.data(), 1e-5f, {y.data(), 50, 100});
  EXPECT_LE(maxDifference(y, oracle::layerNorm(view, weight.data(), bias.data(), 1e-5f)), 5e-6);
}

TEST(LibTorch, PatchEmbedding) {
  const PatchGeometry geometry{3, 70, 51, 8, 6, 8, 5};
  const std::vector<float> image = test::normal(3 * 70 * 51, 1);
  const Matrix weight = Matrix::normal(20, 3 * 8 * 6, 2, 0.1f);
  const int patches = geometry.gridHeight() * geometry.gridWidth();
  const Matrix position(patches, 20);
  Matrix zero = position, tokens(patches, 20);
  std::fill(zero.values.begin(), zero.values.end(), 0.0f);
  patchEmbed(image.data(), geometry, PackedLinear(weight.view(), nullptr), zero.view(), tokens.view(), Serial());
  EXPECT_LE(maxDifference(tokens.values, oracle::patchEmbed(image, geometry, weight.view())), 1e-5);
}

TEST(LibTorch, BilinearResize) {
  for (const auto& [height, width] : {std::pair{64, 80}, {7, 5}, {4, 5}, {33, 3}}) {
    const Matrix scores = Matrix::normal(4 * 5, 6, 1);
    std::vector<float> logits(static_cast<std::size_t>(6 * height * width));
    resizeLogits(scores.view(), bilinearAxis(4, height), bilinearAxis(5, width), logits.data(), Serial());
    EXPECT_LE(maxDifference(logits, oracle::resize(scores.view(), 4, 5, height, width)), 2e-6);
  }
}

TEST(LibTorch, LossOfAHeadAndItsGradient) {
  for (const auto& [shape, height, width] :
       {std::tuple{HeadShape{24, 16, 3}, 5, 7}, {HeadShape{192, 256, 9}, 20, 28}, {HeadShape{17, 5, 2}, 1, 3}}) {
    const test::HeadBatch batch(shape, height, width);
    const auto found = batch.gradient(Serial());
    std::vector<MatrixView<const float>> tokens;
    for (const Matrix& matrix : batch.tokens) tokens.push_back(matrix.view());
    std::vector<float> expected =
        oracle::headGradient(shape, batch.weights, tokens, batch.cells, height, width, batch.class_weights);
    EXPECT_NEAR(found.loss, static_cast<double>(expected.front()), 1e-5);
    expected.erase(expected.begin());
    EXPECT_LE(maxDifference(found.values, expected), 1e-5);
  }
}

TEST(LibTorch, StepsOfAdamW) {
  constexpr std::size_t kCount = 60, kDecaying = 40;
  std::vector<std::vector<float>> gradients;
  for (unsigned i = 0; i < 30; ++i) gradients.push_back(test::normal(kCount, i, 0.1f));
  const std::vector<float> start = test::normal(kCount, 99);
  std::vector<float> weights = start;
  std::vector<bool> decays(kCount);
  std::fill_n(decays.begin(), kDecaying, true);
  AdamW adam(decays, 0.05);
  for (const auto& gradient : gradients) adam.step(weights.data(), gradient.data(), 5e-3);
  EXPECT_LE(maxDifference(weights, oracle::adamW(start, gradients, kDecaying, 5e-3, 0.05)), 2e-6);
}

TEST(LibTorch, BestNeighbours) {
  const Matrix x = Matrix::normal(300, 64, 1);
  std::vector<int> best(300);
  ASSERT_TRUE(bestNeighbours(x.view(), best, Serial()));
  EXPECT_EQ(best, oracle::bestNeighbours(x.view()));
}

}  // namespace
}  // namespace mpm
