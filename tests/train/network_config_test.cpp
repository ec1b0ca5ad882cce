// SPDX-License-Identifier: Apache-2.0
#include "train/network_config.h"

#include <cmath>

#include "support/matchers.h"

namespace mpm::train {
namespace {

NetworkConfig config(int classes, Size2 input) {
  NetworkConfig made;
  made.classes = classes;
  made.input = input;
  return made;
}

std::int64_t count(const NetworkConfig& network) {
  std::int64_t sum = 0;
  for (const Parameter& parameter : parameters(network)) sum += elements(parameter.shape);
  return sum;
}

// A block of width d: qkv 3d^2 + 3d, proj d^2 + d, MLP 8d^2 + 5d, two norms 4d. Written out, not taken from the table.
TEST(Parameters, AreAsManyAsThePaperHas) {
  constexpr int d = 192, classes = 150, tokens = 32 * 32;
  constexpr std::int64_t block = 12LL * d * d + 13 * d;
  constexpr std::int64_t encoder = 12 * block + 768LL * d + d + d + (tokens + 1) * d + 2 * d;
  constexpr std::int64_t decoder = 2 * block + d * d + d + classes * d + 2 * d + 2LL * d * d + 2 * classes;
  EXPECT_EQ(count(config(classes, {512, 512})), encoder + decoder);
}

TEST(Parameters, DecayActsOnMatricesAlone) {
  for (const Parameter& parameter : parameters(config(9, {256, 384}))) {
    const bool embedding = parameter.name.ends_with("pos_embed") || parameter.name.ends_with("cls_token") ||
                           parameter.name.ends_with("cls_emb");
    EXPECT_EQ(parameter.decays, parameter.shape.size() > 1 && !embedding) << parameter.name;
  }
}

TEST(InitialWeights, PositionsTellNeighboursFromStrangers) {
  const NetworkConfig network = config(9, {256, 384});
  const std::vector<float> positions = initialWeights(network, 3).at("encoder.pos_embed").values;
  const auto row = [&](int y, int x) { return positions.data() + (1 + 24 * y + x) * 192; };
  const auto likeness = [&](const float* a, const float* b) {
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < 192; ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
    return ab / std::sqrt(aa * bb);
  };
  for (int y = 0; y < 15; ++y) {
    for (int x = 0; x < 23; ++x) {
      EXPECT_GT(likeness(row(y, x), row(y, x + 1)), likeness(row(y, x), row(y, (x + 4) % 24)));
      EXPECT_GT(likeness(row(y, x), row(y + 1, x)), likeness(row(y, x), row((y + 4) % 16, x)));
    }
  }
  double squares = 0;
  for (int i = 0; i < 192; ++i) squares += row(7, 11)[i] * row(7, 11)[i];
  EXPECT_NEAR(std::sqrt(squares / 192), 0.2, 1e-4);
  for (int i = 0; i < 192; ++i) EXPECT_EQ(positions[i], 0);  // the class token is nowhere
}

TEST(InitialWeights, FollowTheirDistributions) {
  const TensorMap weights = initialWeights(config(9, {256, 384}), 3);
  double squares = 0, sum = 0, largest = 0;
  const std::vector<float>& matrix = weights.at("encoder.blocks.3.mlp.fc1.weight").values;
  for (const float value : matrix) {
    sum += value;
    squares += value * value;
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  const double n = static_cast<double>(matrix.size());
  EXPECT_NEAR(sum / n, 0, 2e-4);
  EXPECT_NEAR(std::sqrt(squares / n), 0.02 * 0.880, 2e-4)
      << "a normal cut at 2 deviations keeps 0.880 of its deviation";
  EXPECT_LE(largest, 0.04f + 1e-6);
  EXPECT_THAT(weights.at("encoder.blocks.3.norm1.weight").values, Each(1.f));
  EXPECT_THAT(weights.at("encoder.blocks.3.mlp.fc1.bias").values, Each(0.f));
}

TEST(InitialWeights, FollowTheSeed) {
  const NetworkConfig network = config(9, {64, 64});
  const auto weights = [&](std::uint64_t seed) { return initialWeights(network, seed).at("decoder.cls_emb").values; };
  EXPECT_EQ(weights(1), weights(1));
  EXPECT_NE(weights(1), weights(2));
}

TEST(ResizePositions, KeepTheClassTokenAndInterpolateTheRest) {
  // A plane that is linear in x and y stays one away from the borders.
  const Size2 from{4, 6}, to{8, 12};
  HostTensor positions{{1, 25, 2}, std::vector<float>(50)};
  positions.values[0] = 100;
  positions.values[1] = 200;
  for (int i = 0; i < 24; ++i) {
    positions.values[2 + 2 * i] = static_cast<float>(i % 6);
    positions.values[3 + 2 * i] = static_cast<float>(i / 6);
  }
  TensorMap weights = {{"encoder.pos_embed", positions}};
  resizePositions(weights, from, from);
  EXPECT_EQ(weights.at("encoder.pos_embed").values, positions.values);
  resizePositions(weights, from, to);
  const HostTensor& resized = weights.at("encoder.pos_embed");
  ASSERT_EQ(resized.shape, (std::vector<std::int64_t>{1, 97, 2}));
  EXPECT_EQ(resized.values[0], 100);
  EXPECT_EQ(resized.values[1], 200);
  for (int y = 1; y < 7; ++y) {
    for (int x = 1; x < 11; ++x) {
      const auto at = static_cast<std::size_t>(2 * (1 + y * 12 + x));
      EXPECT_NEAR(resized.values[at], (x + 0.5) / 2 - 0.5, 1e-5);
      EXPECT_NEAR(resized.values[at + 1], (y + 0.5) / 2 - 0.5, 1e-5);
    }
  }
}

}  // namespace
}  // namespace mpm::train
