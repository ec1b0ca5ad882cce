// SPDX-License-Identifier: Apache-2.0
// The rule of docs/reuse.md that decides which patches changed, against plain loops.
#include "net/reuse_gate.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/threads.h"

namespace mpm {
namespace {

// A grid of 4 x 5 patches.
constexpr PatchPlaces squares(int kernel, int stride, int pad = 0) {
  return {4, 5, kernel, kernel, stride, stride, pad, pad};
}

constexpr PatchPlaces kPlaces = squares(16, 16);
constexpr int kPatches = 20;

cv::Mat grey(int level) { return cv::Mat(64, 80, CV_8UC3, cv::Scalar::all(level)); }

cv::Mat noisy(int level, double sigma, int seed) {
  // Not cv::RNG: OpenCV 5.0 fills such a small matrix of 16-bit numbers with zeros.
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  std::normal_distribution<double> noise(level, sigma);
  cv::Mat picture(64, 80, CV_8UC3);
  for (auto& pixel : cv::Mat_<cv::Vec3b>(picture))
    for (int channel = 0; channel < 3; ++channel) pixel[channel] = cv::saturate_cast<std::uint8_t>(noise(random));
  return picture;
}

/// Adds `change` to one 4x4 cell of a patch.
void paint(cv::Mat& picture, int patch, int cell, int change) {
  const cv::Rect place(patch % 5 * 16 + cell % 4 * 4, patch / 5 * 16 + cell / 4 * 4, 4, 4);
  picture(place) += cv::Scalar::all(change);
}

ReuseGate::Frame look(ReuseGate& gate, const cv::Mat& picture, double seconds = 0) {
  return gate.look(picture, seconds, Serial());
}

TEST(ReuseGate, AFirstFrameIsAKeyFrame) {
  ReuseGate gate({.on = true, .threshold = 12}, kPlaces);
  const ReuseGate::Frame first = look(gate, grey(100));
  EXPECT_TRUE(first.key);
  EXPECT_EQ(first.changed.size(), static_cast<std::size_t>(kPatches));
  const ReuseGate::Frame second = look(gate, grey(100));
  EXPECT_FALSE(second.key);
  EXPECT_TRUE(second.changed.empty());
  gate.reset();
  EXPECT_TRUE(look(gate, grey(100)).key);
}

TEST(ReuseGate, PatchesMayBeWiderThanHigh) {
  ReuseGate gate({.on = true, .threshold = 12},
                 {.grid_h = 3, .grid_w = 2, .kernel_h = 8, .kernel_w = 16, .stride_h = 8, .stride_w = 16});
  cv::Mat picture(24, 32, CV_8UC3, cv::Scalar::all(100));
  look(gate, picture);
  picture(cv::Rect(4, 20, 4, 4)) += cv::Scalar::all(50);
  EXPECT_EQ(look(gate, picture).changed, std::vector{4});
}

TEST(ReuseGate, OneCellAboveTheThresholdIsAChange) {
  ReuseGate gate({.on = true, .threshold = 12}, kPlaces);
  cv::Mat picture = grey(100);
  look(gate, picture);
  paint(picture, 7, 5, 12);
  paint(picture, 13, 15, -13);
  EXPECT_EQ(look(gate, picture).changed, std::vector{13});
}

TEST(ReuseGate, SlowDriftAddsUpAndIsSeen) {
  ReuseGate gate({.on = true, .threshold = 12}, kPlaces);
  cv::Mat picture = grey(50);
  look(gate, picture);
  int seen = 0;
  for (int frame = 1; frame <= 52; ++frame) {
    paint(picture, 3, 0, 1);
    seen += !look(gate, picture).changed.empty();
  }
  EXPECT_EQ(seen, 4) << "each time after 13 levels, above the 12 of the threshold";
}

TEST(ReuseGate, TooManyChangesAreAKeyFrame) {
  ReuseGate gate({.on = true, .threshold = 12, .flush = 0.5}, kPlaces);
  cv::Mat picture = grey(100);
  look(gate, picture);
  for (int patch = 0; patch < 10; ++patch) paint(picture, patch, 0, 50);
  EXPECT_EQ(look(gate, picture).changed.size(), 10u);
  for (int patch = 0; patch < 11; ++patch) paint(picture, patch, 0, 50);
  EXPECT_TRUE(look(gate, picture).key);
}

TEST(ReuseGate, TheThresholdFollowsTheNoiseOfTheCamera) {
  ReuseGate gate({.on = true}, kPlaces);
  look(gate, noisy(100, 20, 0));
  double noise = -1;
  cv::Mat before = noisy(100, 20, 0);
  for (int frame = 1; frame < 8; ++frame) {
    const cv::Mat now = noisy(100, 20, frame);
    std::vector<double> moved;
    for (int patch = 0; patch < kPatches; ++patch) {
      double most = 0;
      for (int cell = 0; cell < 16; ++cell) {
        const cv::Rect place(patch % 5 * 16 + cell % 4 * 4, patch / 5 * 16 + cell / 4 * 4, 4, 4);
        const cv::Scalar a = cv::mean(now(place)), b = cv::mean(before(place));
        for (int c = 0; c < 3; ++c) most = std::max(most, std::abs(a[c] - b[c]));
      }
      moved.push_back(most);
    }
    std::sort(moved.begin(), moved.end());
    const double seen = std::min(moved[5], 16.0);
    noise = noise < 0 ? seen : 0.7 * noise + 0.3 * seen;
    look(gate, now);
    EXPECT_NEAR(gate.threshold(), 6 + noise, 1e-3);
    before = now;
  }
  EXPECT_GT(noise, 8);
}

TEST(ReuseGate, AChangeOfLightIsNoNoise) {
  ReuseGate gate({.on = true}, kPlaces);
  look(gate, noisy(100, 2, 0));
  EXPECT_TRUE(look(gate, noisy(160, 2, 1)).key);
  EXPECT_LE(gate.threshold(), 6 + 16);
  const double before = gate.threshold();
  const cv::Mat still = noisy(160, 2, 2);
  look(gate, still);
  const double after = gate.threshold();
  EXPECT_LT(after, before);
  look(gate, still);
  EXPECT_EQ(gate.threshold(), after) << "a repeated frame says nothing of the noise";
  gate.reset();
  EXPECT_EQ(gate.threshold(), 6) << "another camera";
}

TEST(ReuseGate, AKeyFrameIsDueAfterRefreshSeconds) {
  ReuseGate gate({.on = true, .threshold = 12, .refresh = 60}, kPlaces);
  EXPECT_TRUE(look(gate, grey(100), 1000).key);
  EXPECT_FALSE(look(gate, grey(100), 1059).due);
  EXPECT_TRUE(look(gate, grey(100), 1060).due);
  EXPECT_FALSE(look(gate, grey(100), 1061).due);
  EXPECT_TRUE(look(gate, grey(100), 500).due) << "the clock was set back";
  EXPECT_FALSE(look(gate, grey(100), 501).due);
}

TEST(ReuseGate, AgreementSteersTheThreshold) {
  ReuseGate gate({.on = true, .agreement = 99}, kPlaces);
  EXPECT_EQ(gate.threshold(), 6);
  gate.compared(98);
  EXPECT_DOUBLE_EQ(gate.threshold(), 4.8);
  gate.compared(99.2);
  EXPECT_DOUBLE_EQ(gate.threshold(), 4.8) << "well enough";
  gate.compared(99.8);
  EXPECT_DOUBLE_EQ(gate.threshold(), 4.8 * 1.1);
  for (int i = 0; i < 50; ++i) gate.compared(50);
  EXPECT_EQ(gate.threshold(), 2);
  for (int i = 0; i < 50; ++i) gate.compared(100);
  EXPECT_EQ(gate.threshold(), 30);
}

// Patches of 14 px, that overlap or reach into a border: every pixel belongs to a cell of a patch that sees it.
TEST(ReuseGate, EveryPixelOfAPatchCounts) {
  for (const PatchPlaces& places : {squares(14, 14), squares(16, 14), squares(16, 16, 2)}) {
    for (int y = 0; y < 56; y += 5) {
      for (int x = 0; x < 70; x += 3) {
        ReuseGate gate({.on = true, .threshold = 5}, places);
        cv::Mat picture(60, 76, CV_8UC3, cv::Scalar::all(0));
        look(gate, picture);
        picture.at<cv::Vec3b>(y, x) = {0, 255, 0};
        std::vector<int> expected;
        for (int patch = 0; patch < kPatches; ++patch) {
          const int top = patch / 5 * places.stride_h - places.pad_h, left = patch % 5 * places.stride_w - places.pad_w;
          if (cv::Rect(left, top, places.kernel_w, places.kernel_h).contains(cv::Point(x, y)))
            expected.push_back(patch);
        }
        ASSERT_EQ(look(gate, picture).changed, expected) << y << ", " << x;
      }
    }
  }
}

TEST(ReuseGate, SameForAnyNumberOfThreads) {
  ReuseGate serial({.on = true}, kPlaces), parallel({.on = true}, kPlaces);
  for (int frame = 0; frame < 6; ++frame) {
    const cv::Mat picture = noisy(90 + frame, 12, frame);
    EXPECT_EQ(look(serial, picture).changed, parallel.look(picture, 0, test::Threads(3)).changed);
  }
}

TEST(ReuseGate, ABudgetComputesThePatchesThatChangedMost) {
  ReuseGate gate({.on = true, .budget = 0.1}, kPlaces);  // 2 of 20
  cv::Mat picture = grey(100);
  look(gate, picture);
  EXPECT_EQ(look(gate, picture).changed, (std::vector{0, 1})) << "ties go to the lowest";
  paint(picture, 19, 15, 30);
  paint(picture, 7, 0, 20);  // a larger change than that of the next in one cell, but of two
  paint(picture, 7, 1, 20);
  paint(picture, 3, 2, 25);
  EXPECT_EQ(look(gate, picture).changed, (std::vector{7, 19}));
  EXPECT_EQ(look(gate, picture).changed, (std::vector{0, 3})) << "7 and 19 were computed, 3 was not yet";
  ReuseGate whole({.on = true, .budget = 1, .flush = 0}, kPlaces);
  look(whole, picture);
  EXPECT_FALSE(look(whole, picture).key) << "a budget is no flood";
}

TEST(ReuseGate, ACosineSeesTheDirectionAndNotTheLength) {
  ReuseGate gate({.on = true, .cosine = 0.9}, kPlaces);
  cv::Mat picture = grey(160);
  look(gate, picture);
  EXPECT_TRUE(look(gate, grey(240)).changed.empty()) << "brighter, but the same side of grey";
  paint(picture, 19, 3, -120);  // one cell of 16 turns round: 14 / 16 plus its share
  paint(picture, 2, 3, -20);
  EXPECT_EQ(look(gate, picture).changed, std::vector{19});
  EXPECT_TRUE(look(gate, grey(20)).key) << "all turned round";
}

TEST(ReuseGate, TheCallerMayNameThePatches) {
  ReuseGate gate({.on = true, .threshold = 12, .flush = 0}, kPlaces);
  cv::Mat picture = grey(100);
  EXPECT_TRUE(gate.look(picture, 0, Serial(), std::vector{3}).key) << "nothing is kept yet";
  paint(picture, 5, 0, 90);
  const ReuseGate::Frame named = gate.look(picture, 0, Serial(), std::vector{3, 19});
  EXPECT_EQ(named.changed, (std::vector{3, 19}));
  EXPECT_FALSE(named.key);
  EXPECT_TRUE(look(gate, picture).key) << "patch 5 was not computed, and any change is a flood here";
}

}  // namespace
}  // namespace mpm
