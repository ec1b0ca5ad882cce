// SPDX-License-Identifier: Apache-2.0
#include "train/learner.h"

#include <cmath>
#include <limits>

#include "support/throws_with.h"
#include "train/optimizer.h"
#include "train/shapes.h"

namespace mpm::train {
namespace {

constexpr Size2 kInputSize = {64, 96};
constexpr int kClasses = 3, kIgnore = 255;

LearnerOptions tiny() {
  LearnerOptions options;
  options.network.dim = 64;
  options.network.blocks = 2;
  options.network.decoder_blocks = 1;
  options.network.classes = kClasses;
  options.network.input = kInputSize;
  options.average = 0;
  options.threads = 1;  // two that wait for each other on a busy machine are slower than one
  return options;
}

double stepOn(Learner& learner, int step, double lr, int batch) {
  const auto [images, labels] = test::shapeBatch(step * batch, batch, kInputSize);
  return learner.step(images, labels, step, lr);
}

// The loss of these labels, without learning.
double lossOf(const LearnerOptions& options, const cv::Mat& images, const cv::Mat& labels, int step = 0) {
  return Learner(options, initialWeights(options.network, 1)).step(images, labels, step, 0);
}

cv::Mat only(const cv::Mat& labels, int label) {
  cv::Mat rest = labels.clone();
  for (std::size_t i = 0; i < rest.total(); ++i)
    if (rest.data[i] != label) rest.data[i] = kIgnore;
  return rest;
}

class LearnerWith : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Optimizers, LearnerWith, testing::Values(false, true),
                         [](const auto& tested) { return std::string(tested.param ? "Muon" : "AdamW"); });

TEST_P(LearnerWith, LearnsFromScratch) {
  LearnerOptions options = tiny();
  options.muon = GetParam();
  options.average = 0.9;
  Learner net(options, initialWeights(options.network, 1));
  const double before = stepOn(net, 100000, 0, 16);
  for (int step = 0; step < 120; ++step) stepOn(net, step, 2e-3 * std::min(1., (step + 1) / 20.), 8);
  Learner average(options, net.weights());
  EXPECT_LT(stepOn(average, 100000, 0, 16), 0.6 * before) << "on shapes that it never saw, with the averaged weights";
}

// A class weighs in the loss as often as its pixels occur, times its weight; pixels of `ignore` do not count.
TEST(Learner, TheLossIsTheWeightedMeanOverPixels) {
  LearnerOptions plain = tiny(), weighted = tiny();
  weighted.class_weights = {0.5f, 1, 4};
  const auto [images, labels] = test::shapeBatch(0, 2, kInputSize);
  double all = 0, pixels = 0, sum = 0, weight = 0;
  for (int label = 0; label < kClasses; ++label) {
    const double count = cv::countNonZero(labels.reshape(1, 1) == label);
    const double loss = lossOf(plain, images, only(labels, label));
    EXPECT_NEAR(lossOf(weighted, images, only(labels, label)), loss, 1e-5) << "one class: its weight cancels";
    all += count * loss;
    pixels += count;
    const double w = weighted.class_weights[label];
    sum += w * count * loss;
    weight += w * count;
  }
  ASSERT_EQ(pixels, static_cast<double>(labels.total()));
  EXPECT_NEAR(lossOf(plain, images, labels), all / pixels, 1e-4);
  EXPECT_NEAR(lossOf(weighted, images, labels), sum / weight, 1e-4);
  EXPECT_GT(std::abs(sum / weight - all / pixels), 1e-3) << "the weights would not show";
  for (const LearnerOptions& options : {plain, weighted}) EXPECT_EQ(lossOf(options, images, only(labels, 99)), 0);
}

// Only the pixels of odd rows and even columns are no `ignore`: those are seen in one step of four.
TEST(Learner, EveryPixelOfASquareHasItsStep) {
  LearnerOptions options = tiny();
  options.label_stride = 2;
  auto [images, labels] = test::shapeBatch(0, 2, kInputSize);
  for (int b = 0; b < 2; ++b) {
    for (int y = 0; y < kInputSize.height; ++y) {
      for (int x = 0; x < kInputSize.width; ++x)
        if (y % 2 == 0 || x % 2 == 1) labels.at<uchar>(b, y, x) = kIgnore;
    }
  }
  for (int step = 0; step < 8; ++step) EXPECT_EQ(lossOf(options, images, labels, step) > 0.1, step % 4 == 2) << step;
}

TEST(Learner, Bf16ComesClose) {
  LearnerOptions half = tiny();
  half.bf16 = true;
  const auto [images, labels] = test::shapeBatch(0, 2, kInputSize);
  const double full_loss = lossOf(tiny(), images, labels), half_loss = lossOf(half, images, labels);
  EXPECT_NEAR(full_loss, half_loss, 0.02);
  EXPECT_NE(full_loss, half_loss);
}

TEST(Learner, StopsWhenTheLossIsNoNumber) {
  TensorMap weights = initialWeights(tiny().network, 1);
  weights.at("encoder.norm.weight").values[0] = std::numeric_limits<float>::quiet_NaN();
  Learner net(tiny(), weights);
  EXPECT_MPM_ERROR(stepOn(net, 7, 1e-3, 1), "step 7");
}

const std::vector<Parameter> kTable = {{"encoder.blocks.0.attn.qkv.weight", {48, 16}, {}, 0, true},
                                       {"encoder.blocks.0.attn.qkv.bias", {48}, {}, 0, false},
                                       {"encoder.blocks.0.mlp.fc2.weight", {16, 64}, {}, 0, true}};
constexpr int kValues = 48 * 16 + 48 + 16 * 64;

bool decays(int i) { return i < 48 * 16 || i >= 48 * 16 + 48; }

// Two steps of AdamW written out per element, with a gradient that is clipped and one that is not.
TEST(Optimizer, AdamWAgainstALoop) {
  Optimizer optimizer(false, kTable, at::kFloat);
  at::Tensor weights = at::randn({kValues});
  std::vector<double> expected(kValues), mean(kValues), square(kValues);
  for (int i = 0; i < kValues; ++i) expected[i] = weights[i].item<double>();
  constexpr double kRate = 0.01;
  for (int step = 1; step <= 2; ++step) {
    at::Tensor gradient = at::randn({kValues}) * (step == 1 ? 3 : 0.01);
    const at::Tensor given = gradient.clone();
    const double norm = std::sqrt(at::dot(given.to(at::kDouble), given.to(at::kDouble)).item<double>());
    ASSERT_EQ(norm > 1, step == 1);
    EXPECT_NEAR(optimizer.step(weights, gradient, kRate), norm, 1e-4 * norm);
    for (int i = 0; i < kValues; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double g = given[i].item<double>() / std::max(norm, 1.);
      mean[at] = 0.9 * mean[at] + 0.1 * g;
      square[at] = 0.98 * square[at] + 0.02 * g * g;
      expected[at] *= decays(i) ? 1 - kRate * 0.05 : 1;
      expected[at] -=
          kRate * mean[at] / (1 - std::pow(0.9, step)) / (std::sqrt(square[at] / (1 - std::pow(0.98, step))) + 1e-8);
      ASSERT_NEAR(weights[i].item<double>(), expected[at], 1e-5) << step << " " << i;
    }
  }
}

TEST(Optimizer, NothingMovesByAGradientThatIsNoNumber) {
  Optimizer optimizer(false, kTable, at::kFloat);
  at::Tensor weights = at::ones({kValues}), gradient = at::full({kValues}, NAN);
  EXPECT_TRUE(std::isnan(optimizer.step(weights, gradient, 0.1)));
  EXPECT_EQ(weights.min().item<double>(), 1);
}

// The first step along U S V' is U f(S) V' with f(S) near 1: checked against a singular value decomposition of
// OpenCV's. Queries, keys and values are three matrices.
TEST(Optimizer, AStepOfMuonHasSingularValuesNearOne) {
  at::manual_seed(1);  // no gradient of the bias is so small that AdamW's epsilon counts
  Optimizer optimizer(true, kTable, at::kFloat);
  const at::Tensor before = at::randn({kValues});
  at::Tensor weights = before.clone(), gradient = at::randn({kValues}) * 0.01;
  const at::Tensor given = gradient.clone();
  constexpr double kRate = 0.01;
  optimizer.step(weights, gradient, kRate);
  const struct { int offset, rows, cols; } matrices[] = {{0, 16, 16}, {256, 16, 16}, {512, 16, 16}, {48 * 17, 16, 64}};
  for (const auto& [offset, rows, cols] : matrices) {
    const auto matrix = [&, n = rows * cols](const at::Tensor& flat) {
      const at::Tensor part = flat.narrow(0, offset, n).to(at::kDouble).contiguous();
      return cv::Mat(rows, cols, CV_64F, part.data_ptr<double>()).clone();
    };
    const cv::Mat moved = matrix(before * (1 - kRate * 0.05) - weights) / (kRate * 0.2 * std::sqrt(cols));
    const cv::SVD svd(matrix(given));
    const cv::Mat seen = svd.u.t() * moved * svd.vt.t();
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) {
        if (std::min(svd.w.at<double>(i), svd.w.at<double>(j)) < 0.05 * svd.w.at<double>(0)) continue;
        EXPECT_NEAR(seen.at<double>(i, j), i == j ? 0.95 : 0, i == j ? 0.35 : 0.01) << offset << " " << i << " " << j;
      }
    }
  }
  for (int i = 48 * 16; i < 48 * 17; ++i) {  // the bias moves as under AdamW
    const double g = given[i].item<double>();
    EXPECT_NEAR(weights[i].item<double>(), before[i].item<double>() - kRate * g / (std::abs(g) + 1e-8), 1e-5) << g;
  }
}

}  // namespace
}  // namespace mpm::train
