// SPDX-License-Identifier: Apache-2.0
#include "kernels/head_gradient.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/head_batch.h"
#include "kernels/reference.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

using test::HeadBatch;

// The loss by its definition: weighted cross entropy of the scores, resized to the cells with half-pixel centres.
double lossOf(const HeadBatch& batch) {
  const HeadShape& s = batch.shape;
  const auto weight = [&](std::size_t i) { return static_cast<double>(batch.weights[i]); };
  const auto corner = [](int cell, int side) { return std::clamp((cell + 0.5) / 4 - 0.5, 0.0, side - 1.0); };
  double loss = 0, weights = 0;
  for (std::size_t p = 0; p < batch.units.size(); ++p) {
    test::Reference scores(batch.height * batch.width, s.classes);
    for (int i = 0; i < scores.rows; ++i) {
      for (int c = 0; c < s.classes; ++c) scores.at(i, c) = weight(s.scoreBias() + c);
      for (int h = 0; h < s.hidden; ++h) {
        double sum = weight(s.hiddenBias() + h);
        for (int k = 0; k < s.dim; ++k)
          sum += (static_cast<double>(batch.units[p].at(i, k)) * weight(k) + weight(s.normBias() + k)) *
                 weight(s.hiddenWeight() + static_cast<std::size_t>(k * s.hidden + h));
        for (int c = 0; c < s.classes; ++c)
          scores.at(i, c) += test::activated(Activation::kGeluErf, sum) *
                             weight(s.scoreWeight() + static_cast<std::size_t>(h * s.classes + c));
      }
    }
    for (int cell = 0; cell < 16 * scores.rows; ++cell) {
      const int label = batch.cells[p][cell];
      if (label == 255) continue;
      const double y = corner(cell / (4 * batch.width), batch.height),
                   x = corner(cell % (4 * batch.width), batch.width);
      double sum = 0, own = 0;
      for (int c = 0; c < s.classes; ++c) {
        double logit = 0;
        for (int i = 0; i < scores.rows; ++i)
          logit += std::max(0.0, 1 - std::abs(y - i / batch.width)) * std::max(0.0, 1 - std::abs(x - i % batch.width)) *
                   scores.at(i, c);
        sum += std::exp(logit);
        if (c == label) own = logit;
      }
      const auto factor = static_cast<double>(batch.class_weights[label]);
      loss += factor * (std::log(sum) - own);
      weights += factor;
    }
  }
  return loss / weights;
}

TEST(HeadGradient, LossIsThatOfDoubleLoops) {
  for (const auto& [shape, height, width] :
       {std::tuple{HeadShape{24, 16, 3}, 5, 7}, {HeadShape{40, 65, 9}, 4, 6}, {HeadShape{17, 5, 2}, 1, 3}}) {
    const HeadBatch batch(shape, height, width);
    EXPECT_NEAR(batch.gradient(Serial()).loss, lossOf(batch), 1e-5);
  }
}

TEST(HeadGradient, IsTheSlopeOfTheLoss) {
  HeadBatch batch({10, 12, 3}, 3, 5);
  const auto gradient = batch.gradient(Serial());
  for (std::size_t i = 0; i < batch.weights.size(); i += 7) {
    const float step = 1e-2f, before = batch.weights[i];
    batch.weights[i] = before + step;
    const double above = lossOf(batch);
    batch.weights[i] = before - step;
    const double below = lossOf(batch);
    batch.weights[i] = before;
    EXPECT_NEAR(static_cast<double>(gradient.values[i]), (above - below) / (2 * static_cast<double>(step)), 1e-3) << i;
  }
}

TEST(HeadGradient, HasTheSameBytesForAnyThreads) {
  HeadBatch batch({32, 48, 5}, 20, 28);
  const auto expected = batch.gradient(Serial());
  for (const int threads : {2, 3, 8}) {
    const auto found = batch.gradient(test::Threads(threads));
    EXPECT_EQ(found.loss, expected.loss);
    EXPECT_EQ(std::memcmp(found.values.data(), expected.values.data(), found.values.size() * sizeof(float)), 0);
  }
}

TEST(HeadGradient, OfAPictureTwiceIsThatOfOne) {
  HeadBatch batch({8, 16, 4}, 4, 6, 1);
  const auto once = batch.gradient(Serial());
  batch.pictures.push_back(batch.pictures.front());
  const auto twice = batch.gradient(Serial());
  EXPECT_NEAR(twice.loss, once.loss, 1e-6);
  for (std::size_t i = 0; i < once.values.size(); ++i) EXPECT_NEAR(twice.values[i], once.values[i], 1e-6);
}

TEST(HeadGradient, IgnoresCellsWithoutAClass) {
  HeadBatch batch({8, 16, 4}, 4, 6, 1);
  std::fill(batch.cells[0].begin(), batch.cells[0].end(), std::uint8_t{255});
  batch.cells[0][3] = 4;  // there are four
  EXPECT_TRUE(std::isnan(batch.gradient(Serial()).loss));
  batch.cells[0][17] = 2;
  const auto found = batch.gradient(Serial());
  EXPECT_TRUE(std::isfinite(found.loss));
  double sum = 0;  // the bias of the scores: probabilities minus one, which add up to nothing
  for (std::size_t i = batch.shape.scoreBias(); i < batch.shape.size(); ++i)
    sum += static_cast<double>(found.values[i]);
  EXPECT_NEAR(sum, 0, 1e-6);
  EXPECT_LT(found.values[batch.shape.scoreBias() + 2], 0);
}

TEST(GeluWithSlope, MatchesDoublePrecision) {
  std::vector<float> x;
  for (int i = -9000; i <= 9000; ++i) x.push_back(static_cast<float>(i) * 1e-3f);
  const std::vector<float> from = x;
  std::vector<float> slope(x.size()), alone = x;
  const int count = static_cast<int>(x.size());
  geluWithSlope({x.data(), 1, count}, {slope.data(), 1, count});
  activate(Activation::kGeluErf, {alone.data(), 1, count});
  EXPECT_EQ(x, alone);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = static_cast<double>(from[i]);
    const double expected = 0.5 * (1 + std::erf(at / std::sqrt(2))) + at * std::exp(-at * at / 2) / std::sqrt(2 * M_PI);
    ASSERT_NEAR(static_cast<double>(slope[i]), expected, 1e-6) << at;
  }
}

}  // namespace
}  // namespace mpm
