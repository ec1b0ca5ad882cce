// SPDX-License-Identifier: Apache-2.0
// The rule of docs/reuse.md that decides which patches changed, against plain loops.
#include "net/reuse_gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

#include "kernels/threads.h"

namespace mpm {
namespace {

using Random = std::mt19937;

int below(Random& random, int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); }

/// The rule, patch by patch and pixel by pixel.
struct PlainGate {
  using Cells = std::vector<float>;  // of a patch, 4 x 4 x 3: rounded as they are there, so that ties are ties

  Reuse options;
  PatchPlaces places;
  std::vector<Cells> computed, before;
  double offset = 6, noise = -1, last_key = 0;

  double threshold() const { return options.threshold ? *options.threshold : offset + std::max(noise, 0.0); }

  Cells cellsOf(const cv::Mat& picture, int patch) const {
    const int top = patch / places.grid_w * places.stride_h - places.pad_h,
              left = patch % places.grid_w * places.stride_w - places.pad_w;
    std::vector<int> sums(48), pixels(16);
    for (int y = 0; y < places.kernel_h; ++y) {
      for (int x = 0; x < places.kernel_w; ++x) {
        if (top + y < 0 || left + x < 0 || top + y >= picture.rows || left + x >= picture.cols) continue;
        const int cell = (4 * y + 3) / places.kernel_h * 4 + (4 * x + 3) / places.kernel_w;
        ++pixels[cell];
        for (int c = 0; c < 3; ++c) sums[3 * cell + c] += picture.at<cv::Vec3b>(top + y, left + x)[c];
      }
    }
    Cells cells;
    for (int i = 0; i < 48; ++i)
      cells.push_back(static_cast<float>(sums[i]) / static_cast<float>(std::max(pixels[i / 3], 1)));
    return cells;
  }
  static double most(const Cells& a, const Cells& b) {
    float found = 0;
    for (int i = 0; i < 48; ++i) found = std::max(found, std::abs(a[i] - b[i]));
    return static_cast<double>(found);
  }
  /// The length of the difference, and the cosine of the angle, of cells as vectors from middle grey.
  static std::pair<double, double> vectors(const Cells& a, const Cells& b) {
    double apart = 0, product = 0, aa = 0, bb = 0;
    for (int i = 0; i < 48; ++i) {
      const double x = static_cast<double>(a[i]) - 127.5, y = static_cast<double>(b[i]) - 127.5;
      apart += (x - y) * (x - y);
      product += x * y;
      aa += x * x;
      bb += y * y;
    }
    return {std::sqrt(apart), apart == 0 ? 1 : product / std::sqrt(aa * bb)};
  }

  ReuseGate::Frame look(const cv::Mat& picture, double seconds, const std::optional<std::vector<int>>& given) {
    const int count = places.grid_h * places.grid_w;
    std::vector<Cells> now;
    for (int i = 0; i < count; ++i) now.push_back(cellsOf(picture, i));
    ReuseGate::Frame frame;
    frame.key = computed.empty();
    if (!frame.key) {
      std::vector<double> moved;
      for (int i = 0; i < count; ++i) moved.push_back(most(now[i], before[i]));
      std::sort(moved.begin(), moved.end());
      const double seen = std::min(moved[count / 4], 16.0);
      if (seen > 0) noise = noise < 0 ? seen : 0.7 * noise + 0.3 * seen;
      std::vector<std::pair<double, int>> order;  // the most changed first, of equal ones the first
      for (int i = 0; i < count; ++i) {
        const auto [length, cosine] = vectors(now[i], computed[i]);
        order.emplace_back(-length, i);
        const bool changed = options.cosine ? cosine < *options.cosine : most(now[i], computed[i]) > threshold();
        if (changed && !options.budget) frame.changed.push_back(i);
      }
      std::sort(order.begin(), order.end());
      for (int i = 0; options.budget && i < std::lround(*options.budget * count); ++i)
        frame.changed.push_back(order[i].second);
      std::sort(frame.changed.begin(), frame.changed.end());
      if (given) frame.changed = *given;
      frame.key = !given && !options.budget && static_cast<double>(frame.changed.size()) > options.flush * count;
      frame.due = !frame.key && (seconds < last_key || seconds >= last_key + options.refresh);
    }
    before = now;
    if (frame.key || frame.due) {
      last_key = seconds;
      computed = now;
    }
    for (const int i : frame.changed) computed[i] = now[i];
    if (!frame.key) return frame;
    frame.changed.resize(count);
    std::iota(frame.changed.begin(), frame.changed.end(), 0);
    return frame;
  }
  void compared(double agreement) {
    if (!options.agreement) return;
    if (agreement < *options.agreement) offset *= 0.8;
    if (agreement > (*options.agreement + 100) / 2) offset *= 1.1;
    offset = std::min(std::max(offset, 2.0), 30.0);
  }
  void reset() {
    computed.clear();
    offset = 6;
    noise = -1;
  }
};

/// The next picture of a camera: still, noisy, in another light, with other patches, or with a mark of one pixel.
cv::Mat nextPicture(const cv::Mat& before, Random& random) {
  cv::Mat picture = before.clone();
  const int kind = below(random, 5);
  std::normal_distribution<double> noise(0, below(random, 20) + 1);
  if (kind == 1) {
    for (auto& pixel : cv::Mat_<cv::Vec3b>(picture))
      for (int c = 0; c < 3; ++c) pixel[c] = cv::saturate_cast<std::uint8_t>(pixel[c] + noise(random));
  } else if (kind == 2) {
    picture += cv::Scalar::all(below(random, 90) - 45);
  } else if (kind == 3) {
    for (int k = below(random, 12); k > 0; --k)  // whole cells of patches of 16 px
      picture(cv::Rect(4 * below(random, 20), 4 * below(random, 16), 4, 4)) += cv::Scalar::all(below(random, 60) - 30);
  } else if (kind == 4) {
    picture.at<cv::Vec3b>(below(random, 64), below(random, 80)) = {0, 255, 0};
  }
  return picture;
}

TEST(ReuseGate, IsTheRuleInPlainLoops) {
  const PatchPlaces all_places[] = {{4, 5, 16, 16, 16, 16},
                                    {4, 5, 14, 14, 14, 14},
                                    {4, 5, 16, 16, 14, 14},
                                    {4, 5, 16, 16, 16, 16, 2, 2},
                                    {8, 5, 8, 16, 8, 16}};
  const Reuse all_options[] = {{.on = true, .threshold = 12, .refresh = 5, .flush = 0.25},
                               {.on = true, .threshold = 5},
                               {.on = true, .refresh = 3},
                               {.on = true, .agreement = 99},
                               {.on = true, .budget = 0.1},
                               {.on = true, .budget = 1, .flush = 0},
                               {.on = true, .cosine = 0.9}};
  int keys = 0, dues = 0, parts = 0;
  for (const PatchPlaces& places : all_places) {
    for (std::size_t k = 0; k < std::size(all_options); ++k) {
      Random random(static_cast<unsigned>(k));
      ReuseGate gate(all_options[k], places), threaded(all_options[k], places);
      PlainGate plain{all_options[k], places, {}, {}};
      cv::Mat picture(64, 80, CV_8UC3, cv::Scalar(100, 90, 120));
      double seconds = 1000;
      for (int frame = 0; frame < 40; ++frame) {
        SCOPED_TRACE(::testing::Message() << places.kernel_h << " px, options " << k << ", frame " << frame);
        seconds += below(random, 8) == 0 ? -20 : below(random, 3);
        if (below(random, 12) == 0) {
          gate.reset();
          threaded.reset();
          plain.reset();
        }
        if (below(random, 6) == 0) {
          const double agreement = std::vector{50.0, 98.0, 99.0, 99.5, 99.8, 100.0}[random() % 6];
          for (int times = below(random, 2) * 30; times >= 0; --times) {
            gate.compared(agreement);
            threaded.compared(agreement);
            plain.compared(agreement);
          }
        }
        std::optional<std::vector<int>> given;
        if (below(random, 8) == 0) given = std::vector{3, 19};
        const ReuseGate::Frame found = gate.look(picture, seconds, Serial(), given),
                               other = threaded.look(picture, seconds, test::Threads(3), given),
                               expected = plain.look(picture, seconds, given);
        EXPECT_EQ(found.key, expected.key);
        EXPECT_EQ(found.due, expected.due);
        ASSERT_EQ(found.changed, expected.changed);
        ASSERT_EQ(other.changed, expected.changed);
        ASSERT_NEAR(gate.threshold(), plain.threshold(), 1e-6);
        keys += found.key;
        dues += found.due;
        parts += !found.key && !found.changed.empty();
        picture = nextPicture(picture, random);
      }
    }
  }
  for (const int count : {keys, dues, parts}) EXPECT_GT(count, 40) << "seen too seldom";
}

// What random pictures seldom hit.
TEST(ReuseGate, AChangeIsAboveTheThresholdAndAFloodAboveItsShare) {
  ReuseGate gate({.on = true, .threshold = 12, .flush = 0.5}, {4, 5, 16, 16, 16, 16});
  cv::Mat picture(64, 80, CV_8UC3, cv::Scalar::all(100));
  const auto look = [&](int patches, int change) {
    for (int patch = 0; patch < patches; ++patch)
      picture(cv::Rect(patch % 5 * 16 + 4, patch / 5 * 16 + 8, 4, 4)) += cv::Scalar::all(change);
    return gate.look(picture, 0, Serial());
  };
  look(0, 0);
  EXPECT_TRUE(look(20, 12).changed.empty());
  EXPECT_EQ(look(1, 1).changed, std::vector{0});
  EXPECT_TRUE(look(1, -12).changed.empty());
  EXPECT_EQ(look(1, -1).changed, std::vector{0});
  EXPECT_EQ(look(10, 50).changed.size(), 10u);
  EXPECT_TRUE(look(11, 50).key);
}

}  // namespace
}  // namespace mpm
