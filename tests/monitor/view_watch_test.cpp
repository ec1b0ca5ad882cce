// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/view_watch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "vision/sources/source.h"

namespace mpm::monitor {
namespace {

constexpr int kMargin = 40;  // px of the rendering around the view
constexpr std::int64_t kBetweenMs = 40'000;

/// A view of the street that can be moved: a window of a larger rendering.
class Camera {
 public:
  explicit Camera(const std::string& options) : source_(vision::openSource("demo:street?size=320x400&" + options)) {}

  cv::Mat next() {
    const cv::Mat all = source_->next()->image;
    const cv::Rect view(kMargin - right, kMargin - down, all.cols - 2 * kMargin, all.rows - 2 * kMargin);
    return all(view).clone();
  }

  int right = 0, down = 0;  // by how much what it shows is moved

 private:
  std::unique_ptr<vision::FrameSource> source_;
};

struct Found {
  int after = -1;  // pictures
  ViewShift shift;
};

class Watched {
 public:
  // The first move within so many pictures.
  Found watch(Camera& camera, int pictures) {
    for (int i = 0; i < pictures; ++i, steady_ += kBetweenMs)
      if (const auto shift = watch_.add(camera.next(), steady_)) return {i, *shift};
    return {};
  }

 private:
  ViewWatch watch_;
  std::int64_t steady_ = 0;
};

struct Moment {
  const char* name;
  const char* options;
};

class ViewWatchAt : public ::testing::TestWithParam<Moment> {};

TEST_P(ViewWatchAt, FindsTheViewThatMoved) {
  for (const auto& [right, down] : {std::pair(17, 6), {-24, 0}, {0, -9}}) {
    Camera camera(GetParam().options);
    Watched watched;
    ASSERT_EQ(watched.watch(camera, 30).after, -1) << "it has not moved yet";
    camera.right = right;
    camera.down = down;
    const Found found = watched.watch(camera, 24);
    ASSERT_GE(found.after, 0) << right << ", " << down;
    EXPECT_NEAR(found.shift.right, right, 3);
    EXPECT_NEAR(found.shift.down, down, 3);
    EXPECT_EQ(watched.watch(camera, 30).after, -1) << "one move is found once";
  }
}

INSTANTIATE_TEST_SUITE_P(Street, ViewWatchAt,
                         ::testing::Values(Moment{"day", "seed=1&start=2026-06-21T10:00&step=40"},
                                           Moment{"night", "seed=2&start=2026-11-10T23:00&step=40"},
                                           Moment{"rain", "seed=3&weather=rain&start=2026-09-02T15:00&step=40"},
                                           Moment{"rushHour", "seed=4&weather=cloudy&start=2026-05-12T17:00&step=40"}),
                         [](const auto& tested) { return tested.param.name; });

TEST(ViewWatch, ThirtyDaysOfAnUnmovedViewRaiseNoAlarm) {
  for (const char* seed : {"seed=5", "seed=6"}) {
    Camera camera(std::string(seed) + "&weather=auto&start=2026-03-01T00:00&step=7237");
    Watched watched;
    const Found found = watched.watch(camera, 30 * 86400 / 7237);
    EXPECT_EQ(found.after, -1) << seed << ": moved by " << found.shift.right << ", " << found.shift.down;
  }
}

// Dawn, when everything changes within an hour, picture by picture.
TEST(ViewWatch, DawnIsNoMove) {
  Camera camera("seed=7&start=2026-04-02T03:30&step=60");
  Watched watched;
  EXPECT_EQ(watched.watch(camera, 240).after, -1);
}

TEST(ViewWatch, APictureWithoutEdgesIsNoMove) {
  Camera camera("seed=1&start=2026-06-21T10:00&step=40");
  ViewWatch watch;
  std::int64_t steady = 0;
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(watch.add(camera.next(), steady += kBetweenMs));
  for (int i = 0; i < 30; ++i)
    EXPECT_FALSE(watch.add(cv::Mat(240, 320, CV_8UC3, cv::Scalar(9, 9, 9)), steady += kBetweenMs)) << "a black lens";
}

}  // namespace
}  // namespace mpm::monitor
