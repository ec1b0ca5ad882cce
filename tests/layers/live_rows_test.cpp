// SPDX-License-Identifier: Apache-2.0
// One layer alone on hand-made tokens and states: how many rows it computes, and which states it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "layers/reference_net.h"
#include "mpm/read_net.hpp"

namespace mpm {
namespace {

using testing::HasSubstr;

constexpr int kSpecial = 1;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class OneLayer : public testing::Test {
 protected:
  static void SetUpTestSuite() { registerLayers(); }

  // With the attributes that one op or another demands; `constants` are its blobs.
  static cv::Ptr<cv::dnn::Layer> layer(const std::string& type, const std::vector<cv::Mat>& constants = {}) {
    cv::dnn::LayerParams params;
    params.name = "one/layer";
    params.type = "ai.mpm." + type;
    for (const char* one : {"special_tokens", "heads", "key_bias", "keep_special"}) params.set(one, 1);
    params.set("head_dim", 8);
    for (const char* eps : {"eps", "norm1_eps", "norm2_eps"}) params.set(eps, 0.25);
    params.set("scale", 1.);
    params.set("activation", "relu");
    params.set("mode", "mean");
    params.blobs = constants;
    return cv::dnn::LayerFactory::createLayerInstance(params.type, params);
  }

  static cv::Mat normal(const std::vector<int>& shape, int seed) {
    cv::Mat values(shape, CV_32F);
    cv::RNG(static_cast<std::uint64_t>(seed)).fill(values, cv::RNG::NORMAL, 0, 1);
    return values;
  }

  // States {batch, 1 + 2N} in which the first `live` patches are their own clusters and the rest belongs to the first.
  static cv::Mat states(int patches, const std::vector<int>& live) {
    cv::Mat blob(static_cast<int>(live.size()), 1 + 2 * patches, CV_32F, cv::Scalar(0));
    for (int b = 0; b < blob.rows; ++b) {
      float* const state = blob.ptr<float>(b);
      state[0] = static_cast<float>(live[b]);
      for (int i = 0; i < live[b]; ++i) {
        state[1 + i] = static_cast<float>(i);
        state[1 + patches + i] = 1;
      }
      state[1 + patches] += static_cast<float>(patches - live[b]);
    }
    return blob;
  }
};

// Rows are computed in tiles of 64: images end in front of, at and behind the ends of tiles. What stands behind the
// live rows must be neither read nor written.
void expectEveryLiveRow(cv::dnn::Layer& layer, const cv::Mat& x, const cv::Mat& state, int out_dim,
                        const std::function<double(const float* row, int column)>& expected) {
  constexpr float kUntouched = 1234.5F;
  const int capacity = x.size[1], dim = x.size[2];
  cv::Mat poisoned = x.clone(), y(std::vector<int>{x.size[0], capacity, out_dim}, CV_32F, cv::Scalar(kUntouched));
  for (int b = 0; b < x.size[0]; ++b) {
    const int rows = kSpecial + static_cast<int>(state.at<float>(b, 0));
    std::fill(poisoned.ptr<float>(b, rows), poisoned.ptr<float>(b) + capacity * dim, kNaN);
  }
  std::vector<cv::Mat> inputs{poisoned, state}, outputs{y}, internals;
  layer.forward(inputs, outputs, internals);
  for (int b = 0; b < x.size[0]; ++b) {
    const int rows = kSpecial + static_cast<int>(state.at<float>(b, 0));
    for (int i = 0; i < capacity; ++i)
      for (int c = 0; c < out_dim; ++c) {
        const float value = y.ptr<float>(b, i)[c];
        if (i < rows)
          ASSERT_NEAR(value, expected(x.ptr<float>(b, i), c), 1e-5) << "row " << i << " of " << rows;
        else
          ASSERT_EQ(value, kUntouched) << "row " << i << " of " << rows;
      }
  }
}

const std::vector<std::vector<int>> kUnequalCounts = {{62, 129}, {63, 198}, {64, 199}, {199, 1}};

TEST_F(OneLayer, NormComputesEveryLiveRow) {
  const int dim = 12;
  const cv::Mat weight = normal({dim, 1}, 1), bias = normal({dim, 1}, 2), x = normal({2, 200, dim}, 3);
  const auto expected = [&](const float* row, int column) {
    double mean = 0, variance = 0;
    for (int c = 0; c < dim; ++c) mean += row[c] / static_cast<double>(dim);
    for (int c = 0; c < dim; ++c) variance += (row[c] - mean) * (row[c] - mean) / dim;
    return (row[column] - mean) / std::sqrt(variance + 0.25) * weight.at<float>(column) + bias.at<float>(column);
  };
  for (const auto& live : kUnequalCounts)
    expectEveryLiveRow(*layer("TokenNorm", {weight, bias}), x, states(199, live), dim, expected);
}

TEST_F(OneLayer, LinearComputesEveryLiveRow) {
  const int dim = 12, out = 7;
  const cv::Mat weight = normal({out, dim}, 4), bias = normal({out, 1}, 5), x = normal({2, 200, dim}, 6);
  const auto expected = [&](const float* row, int column) {
    double sum = bias.at<float>(column);
    for (int c = 0; c < dim; ++c) sum += static_cast<double>(row[c]) * weight.at<float>(column, c);
    return sum;
  };
  for (const auto& live : kUnequalCounts)
    expectEveryLiveRow(*layer("TokenLinear", {weight, bias}), x, states(199, live), out, expected);
}

}  // namespace
}  // namespace mpm
