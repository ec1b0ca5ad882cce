// SPDX-License-Identifier: Apache-2.0
// Nets that reuse rows of earlier frames (docs/reuse.md), against double loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <opencv2/core/utility.hpp>
#include <set>

#include "layers/reference_net.h"
#include "layers/reuse_session.h"
#include "mpm/read_net.hpp"

namespace mpm {
namespace {

using test::relativeError;
using test::TinySegmenter;

constexpr int kTokens = TinySegmenter::kTokens;

class ReuseLayers : public testing::Test {
 protected:
  static void SetUpTestSuite() { registerLayers(); }
  void TearDown() override { cv::setNumThreads(-1); }

  static std::vector<cv::Mat> forward(cv::dnn::Net& net, const cv::Mat& image,
                                      const std::vector<std::string>& names = {"scores", "features", "report"}) {
    return test::forward(net, image, names);
  }
  static cv::Mat frame(const cv::Mat& images, int f) {
    const std::vector<int> shape{1, images.size[1], images.size[2], images.size[3]};
    return cv::Mat(shape, CV_32F, const_cast<float*>(images.ptr<float>(f))).clone();
  }
  static bool equal(const cv::Mat& a, const cv::Mat& b) {
    return a.total() == b.total() && std::equal(a.ptr<float>(), a.ptr<float>() + a.total(), b.ptr<float>());
  }

  const TinySegmenter model_{11};
};

std::vector<std::vector<int>> randomChanges(std::size_t frames, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<int>> changed(frames);
  changed[0].resize(kTokens);
  std::iota(changed[0].begin(), changed[0].end(), 0);
  for (std::size_t f = 1; f < frames; ++f) {
    const unsigned share = random() % 5;  // none to all
    for (int i = 0; i < kTokens; ++i)
      if (random() % 4 < share) changed[f].push_back(i);
  }
  return changed;
}

TEST_F(ReuseLayers, FramesAgreeWithDoubleLoops) {
  constexpr int kFrames = 12;
  for (unsigned seed = 0; seed < 3; ++seed) {
    const auto session = ReuseSession::open(1);
    cv::dnn::Net net = model_.net({}, seed == 2, {}, 1);
    const cv::Mat images = TinySegmenter::randomImages(kFrames, 100 + seed);
    const auto changed = randomChanges(kFrames, seed);
    const auto expected = model_.evaluateFrames(images, changed);
    for (int f = 0; f < kFrames; ++f) {
      session->changed = changed[f];
      const auto outputs = forward(net, frame(images, f));
      EXPECT_LT(relativeError(outputs[0], 0, expected[f].scores), 1e-4) << seed << ", frame " << f;
      EXPECT_LT(relativeError(outputs[1], 0, expected[f].features), 1e-4) << seed << ", frame " << f;
    }
  }
}

TEST_F(ReuseLayers, AKeyFrameIsTheFullModelBitForBit) {
  for (const std::vector<int>& schedule : {std::vector<int>{}, {1}, {0, 2}})
    for (const bool proportional : {false, true}) {
      const auto session = ReuseSession::open(1);
      cv::dnn::Net full = model_.net(schedule, proportional), net = model_.net(schedule, proportional, {}, 1);
      const cv::Mat images = TinySegmenter::randomImages(3, 7);
      for (int f = 0; f < 3; ++f) {
        session->changed = std::vector<int>{1, 4, 5};
        if (f > 0) forward(net, frame(images, f));
        session->changed.reset();
        const auto outputs = forward(net, frame(images, f)), expected = forward(full, frame(images, f));
        for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_TRUE(equal(outputs[i], expected[i])) << f << ", " << i;
      }
    }
}

TEST_F(ReuseLayers, ResetForgetsAndFrees) {
  const auto session = ReuseSession::open(1);
  cv::dnn::Net net = model_.net({1}, true, {}, 1), full = model_.net({1}, true);
  const cv::Mat images = TinySegmenter::randomImages(2, 8);
  forward(net, frame(images, 0));
  // K and V of six blocks, two kinds of rows for the ops that need all.
  EXPECT_GT(session->bytes(), std::size_t{6 * 2 * kTokens * 2 * TinySegmenter::kHeadDim * 4});
  session->reset();
  EXPECT_EQ(session->bytes(), 0u);
  EXPECT_TRUE(equal(forward(net, frame(images, 1))[0], forward(full, frame(images, 1))[0]));
}

TEST_F(ReuseLayers, SameBytesForAnyNumberOfThreads) {
  const cv::Mat images = TinySegmenter::randomImages(6, 9);
  const auto changed = randomChanges(6, 3);
  std::vector<cv::Mat> serial;
  for (const int threads : {1, 2, 4}) {
    cv::setNumThreads(threads);
    const auto session = ReuseSession::open(1);
    cv::dnn::Net net = model_.net({1, 2}, true, {}, 1);
    for (std::size_t f = 0; f < changed.size(); ++f) {
      session->changed = changed[f];
      const cv::Mat scores = forward(net, frame(images, static_cast<int>(f)))[0];
      if (threads == 1)
        serial.push_back(scores);
      else
        EXPECT_TRUE(equal(scores, serial[f])) << threads << " threads, frame " << f;
    }
  }
}

TEST_F(ReuseLayers, TwoNetsShareNothing) {
  const cv::Mat images = TinySegmenter::randomImages(4, 10);
  const auto one = ReuseSession::open(1), other = ReuseSession::open(2);
  cv::dnn::Net a = model_.net({1}, false, {}, 1), b = model_.net({1}, false, {}, 2);
  const auto first = forward(a, frame(images, 0));
  forward(b, frame(images, 1));
  other->changed = std::vector<int>{0, 1, 2};
  forward(b, frame(images, 2));
  one->changed = std::vector<int>{};
  EXPECT_TRUE(equal(forward(a, frame(images, 3))[0], first[0]));
}

// Which groups there are: tests/merging/kept_groups_test.cpp.
TEST_F(ReuseLayers, GroupsOutliveFrames) {
  constexpr int kFrames = 12;
  const auto session = ReuseSession::open(1);
  cv::dnn::Net net = model_.net({0, 2}, true, {}, 1);
  const cv::Mat images = TinySegmenter::randomImages(kFrames, 12);
  const auto changed = randomChanges(kFrames, 12);
  for (int f = 0; f < kFrames; ++f) {
    session->changed = changed[f];
    const auto outputs = forward(net, frame(images, f));
    const std::set<int> fresh(changed[f].begin(), changed[f].end());
    for (int k = 0; k < 2; ++k) {
      const float* const map = outputs[2].ptr<float>(0, k);
      for (int i = 0; i < kTokens; ++i)
        for (int j = 0; j < i; ++j)
          EXPECT_TRUE(map[i] != map[j] || fresh.contains(i) == fresh.contains(j)) << "frame " << f;
    }
    session->changed = std::vector<int>{};
    const auto same = forward(net, frame(images, 0));
    for (std::size_t i = 0; i < same.size(); ++i) EXPECT_TRUE(equal(same[i], outputs[i])) << "frame " << f << ", " << i;
  }
}

TEST_F(ReuseLayers, MisuseIsOneLine) {
  const cv::Mat images = TinySegmenter::randomImages(2, 13);
  EXPECT_THROW(
      {
        cv::dnn::Net lost = model_.net({}, false, {}, 77);
        forward(lost, frame(images, 0));
      },
      cv::Exception)
      << "no session of this number";
  const auto session = ReuseSession::open(1);
  cv::dnn::Net net = model_.net({}, false, {}, 1);
  EXPECT_THROW(forward(net, images), cv::Exception) << "two images";
  session->changed = std::vector<int>{kTokens};
  EXPECT_THROW(forward(net, frame(images, 0)), cv::Exception) << "a patch that is not there";
}

}  // namespace
}  // namespace mpm
