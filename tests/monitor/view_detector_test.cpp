// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/view_detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "monitor/moving_camera.h"
#include "monitor/statistics/region_meter.h"
#include "support/pictures.h"

namespace mpm::monitor::test {
namespace {

const cv::Size kSize(320, 240);
constexpr UnixMs kBetween = 40'000;

struct Found {
  int after = -1;  // pictures; -1: none
  ViewChange change = ViewChange::kNone;
};

class Watched {
 public:
  // The first change within so many pictures.
  Found watch(MovingCamera& camera, int pictures) {
    for (int i = 0; i < pictures; ++i, time_ += kBetween) {
      if (const ViewChange change = view.add(camera.next().image, time_, false); change != ViewChange::kNone)
        return {i, change};
    }
    return {};
  }

  ViewDetector view;

 private:
  UnixMs time_ = 0;
};

struct Moment {
  const char* name;
  const char* options;
  ViewMotion large;
};

class ViewDetectorAt : public ::testing::TestWithParam<Moment> {};

TEST_P(ViewDetectorAt, FindsTheViewThatMoved) {
  MovingCamera camera(GetParam().options, kSize);
  Watched watched;
  ASSERT_EQ(watched.watch(camera, 12).after, -1) << "it has not moved yet";
  camera.motion = GetParam().large;
  ASSERT_EQ(watched.watch(camera, 12).change, ViewChange::kLarge);
  EXPECT_LT(distance(watched.view.moved(), camera.motion, kSize), 2);
  EXPECT_FALSE(watched.view.motion()) << "of a view that is not known yet";
  EXPECT_EQ(watched.watch(camera, 12).after, -1) << "one move is found once";
  ASSERT_TRUE(watched.view.motion());
  EXPECT_LT(distance(*watched.view.motion(), {}, kSize), 2) << "the moved view is the one to compare with";
}

// The numbers of a region in a view that moved are those of the view before, but for what the sampling does to its
// edge.
TEST_P(ViewDetectorAt, RegionsFollowASmallMotionAndTheReferenceStays) {
  const auto box = [](const char* name, double left, double top, double right, double bottom) {
    return vision::Region{
        .name = name, .size = {640, 448}, .polygons = {{{left, top}, {right, top}, {right, bottom}, {left, bottom}}}};
  };
  const std::vector<vision::Region> regions = {box("left", 60, 120, 240, 300), box("right", 420, 60, 580, 240),
                                               box("road", 200, 300, 500, 400)};
  const cv::Size size(640, 448);
  MovingCamera camera(GetParam().options, size);
  Watched watched;
  ASSERT_EQ(watched.watch(camera, 12).after, -1);
  RegionMeter meter(regions);
  const auto measured = [&](const cv::Mat& image, const ViewMotion& moved) {
    Sample sample{.view_offset = moved};
    meter.measure(sample, {}, image, {}, {});
    sample.regions.erase(sample.regions.begin());
    return sample.regions;
  };
  double worst_still = 0, worst = 0;
  for (const ViewMotion& motion :
       {ViewMotion{.right = 28, .down = -12, .turn = 1.5}, {.right = -15, .turn = -2, .zoom = 1.045}}) {
    camera.motion = motion;
    ASSERT_EQ(watched.watch(camera, 12).change, ViewChange::kSmall) << toText(motion);
    EXPECT_EQ(watched.watch(camera, 4).after, -1) << "one move is found once";
    EXPECT_LT(distance(watched.view.offset(), motion, size), 1.5) << toText(motion);
    const auto before = measured(camera.view({}), {}), after = measured(camera.view(motion), watched.view.offset()),
               still = measured(camera.view(motion), {});
    ASSERT_EQ(after.size(), regions.size());
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const auto apart = [&](const RegionSample& one) {
        return std::max({std::abs(*one.value("red") - *before[i].value("red")),
                         std::abs(*one.value("green") - *before[i].value("green")),
                         std::abs(*one.value("blue") - *before[i].value("blue"))});
      };
      const auto gcc = [](const RegionSample& one) {
        return *one.value("green") / (*one.value("red") + *one.value("green") + *one.value("blue"));
      };
      EXPECT_LT(apart(after[i]), 1.5) << regions[i].name << ", " << toText(motion);
      EXPECT_NEAR(gcc(after[i]), gcc(before[i]), 0.002) << regions[i].name << ", " << toText(motion);
      EXPECT_NEAR(*after[i].value("pixels") / *before[i].value("pixels"), motion.zoom * motion.zoom, 0.02);
      worst = std::max(worst, apart(after[i]));
      worst_still = std::max(worst_still, apart(still[i]));
    }
  }
  EXPECT_GT(worst_still, 5 * worst) << "without following";
  std::printf("%s: means differ by at most %.2f grey levels, without following by %.1f\n", GetParam().name, worst,
              worst_still);
}

INSTANTIATE_TEST_SUITE_P(
    Street, ViewDetectorAt,
    ::testing::Values(
        Moment{"day", "seed=1&start=2026-06-21T10:00&step=40", {.turn = 4}},
        Moment{"night", "seed=2&start=2026-11-10T23:00&step=40", {.right = -32}},
        Moment{"rain", "seed=3&weather=rain&start=2026-09-02T15:00&step=40", {.right = 27, .down = 9}},
        Moment{"rushHour", "seed=4&weather=cloudy&start=2026-05-12T17:00&step=40", {.right = 27, .down = 9}}),
    [](const auto& tested) { return tested.param.name; });

TEST(ViewDetector, ThirtyDaysOfAnUnmovedViewRaiseNoAlarm) {
  for (const char* seed : {"seed=5", "seed=6"}) {
    MovingCamera camera(std::string(seed) + "&weather=auto&start=2026-03-01T00:00&step=7237", kSize);
    ViewDetector view;
    for (UnixMs time = 0; time < 30 * kDayMs; time += 7237 * kSecondMs)
      ASSERT_EQ(view.add(camera.next().image, time, false), ViewChange::kNone) << seed << ": " << toText(view.moved());
  }
}

// Dawn, when everything changes within an hour, picture by picture.
TEST(ViewDetector, DawnIsNoMove) {
  MovingCamera camera("seed=7&start=2026-04-02T03:30&step=240", kSize);
  Watched watched;
  EXPECT_EQ(watched.watch(camera, 60).after, -1);
}

// The reference is stored: nothing in it depends on a pixel that must not be seen, and the rest tells how the view
// moved.
TEST(ViewDetector, LearnsNothingOfWhatIsHidden) {
  for (const cv::Size size : {cv::Size(640, 480), cv::Size(320, 240), cv::Size(210, 150)}) {
    SCOPED_TRACE(::testing::Message() << size);
    const double unit = size.width / 320.;
    const vision::Region board{
        .name = "board", .size = {320, 240}, .polygons = {{{100, 60}, {219, 60}, {219, 159}, {100, 159}}}};
    cv::Mat scene;
    cv::GaussianBlur(mpm::test::noisePicture(2 * size.height, 2 * size.width, 5), scene, {}, 3 * unit);
    // A view of the scene, with something else on the board.
    const auto view = [&](int seed, const ViewMotion& motion) {
      cv::Mat there = scene.clone(), picture;
      const cv::Rect rest({size.width / 2, size.height / 2}, size);
      mpm::test::noisePicture(size.height, size.width, seed).copyTo(there(rest), vision::maskOf(board, size));
      cv::warpAffine(there, picture, matrixOf(motion, there.size()), there.size(), cv::INTER_LINEAR);
      return picture(rest).clone();
    };
    std::vector<cv::Mat> learned;
    for (const int seed : {1, 2}) {
      ViewDetector watch;
      UnixMs time = 0;
      const auto add = [&](const ViewMotion& motion) {
        const cv::Mat picture = view(seed, motion);
        return watch.add(picture, time += kHourMs, false,
                         [&](const ViewMotion& place) { return movedMask(board, size, place); });
      };
      for (int i = 0; i < 18; ++i) add({.right = (i % 3 - 1) * unit, .down = (i % 2) * unit});
      learned.push_back(watch.takeLearned().value().edges);
      EXPECT_GT(cv::norm(learned.back()), 0);
      ASSERT_TRUE(watch.motion());
      EXPECT_LT(distance(*watch.motion(), {.right = unit, .down = unit}, size), unit);
      const ViewMotion far{.right = 12 * unit, .down = -8 * unit};
      ViewChange change = ViewChange::kNone;
      for (int i = 0; i < 6; ++i) change = std::max(change, add(far));
      EXPECT_EQ(change, ViewChange::kSmall);
      EXPECT_LT(distance(watch.offset(), far, size), unit);
    }
    EXPECT_EQ(cv::norm(learned[0], learned[1], cv::NORM_INF), 0) << "two boards, one reference";
  }
}

TEST(ViewDetector, LearnsNothingOfAPictureThatIsHiddenAsAWhole) {
  MovingCamera camera("seed=1&start=2026-06-21T10:00&step=40", kSize);
  ViewDetector view;
  for (int i = 0; i < 12; ++i) {
    view.add(camera.next().image, i * kBetween, false,
             [](const ViewMotion&) { return cv::Mat(kSize, CV_8U, cv::Scalar(255)); });
  }
  EXPECT_FALSE(view.takeLearned());
}

TEST(ViewDetector, WhatItForgetsLeavesTheViewInPlace) {
  MovingCamera camera("seed=1&start=2026-06-21T10:00&step=40", kSize);
  Watched watched;
  ASSERT_EQ(watched.watch(camera, 12).after, -1);
  camera.motion = {.right = 12, .down = -6};
  ASSERT_EQ(watched.watch(camera, 12).change, ViewChange::kSmall);
  const ViewMotion offset = watched.view.offset();
  watched.view.forget();
  EXPECT_FALSE(watched.view.takeLearned());
  EXPECT_LT(distance(watched.view.offset(), offset, kSize), 1);
  EXPECT_EQ(watched.watch(camera, 14).after, -1) << "it learns anew";
  EXPECT_TRUE(watched.view.motion());
  EXPECT_LT(distance(watched.view.offset(), camera.motion, kSize), 2) << "regions stay where they are";
}

TEST(ViewDetector, APictureWithoutEdgesIsNoMove) {
  MovingCamera camera("seed=1&start=2026-06-21T10:00&step=40", kSize);
  ViewDetector view;
  UnixMs time = 0;
  for (int i = 0; i < 12; ++i) view.add(camera.next().image, time += kBetween, false);
  EXPECT_TRUE(view.motion());
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(view.add(cv::Mat(kSize, CV_8UC3, cv::Scalar(9, 9, 9)), time += kBetween, false), ViewChange::kNone);
    EXPECT_FALSE(view.motion()) << "a black lens";
  }
}

TEST(ViewDetector, LooksTwiceAMinuteOrAtEachPicture) {
  MovingCamera camera("seed=1&start=2026-06-21T10:00&step=40", kSize);
  ViewDetector seldom, each;
  for (int i = 0; i < 20; ++i) {
    const cv::Mat image = camera.next().image;
    seldom.add(image, i * kSecondMs, false);
    each.add(image, i * kSecondMs, true);
  }
  EXPECT_EQ(seldom.takeLearned()->pictures, 1);
  EXPECT_EQ(each.takeLearned()->pictures, 10) << "then one an hour";
  EXPECT_FALSE(each.takeLearned()) << "nothing new";
  EXPECT_FALSE(seldom.motion());
  EXPECT_TRUE(each.motion());
}

TEST(ViewDetector, APictureBesideTheSeriesHasAPlaceAndIsNotLearned) {
  MovingCamera camera("seed=1&start=2026-06-21T10:00&step=40", kSize);
  ViewDetector view;
  const ViewMotion moved{.right = 12, .down = -6};
  for (int i = 0; i < 12; ++i) {
    view.add(camera.next().image, i * kBetween, false);
    if (i < 9) {
      EXPECT_EQ(distance(view.offsetOf(camera.view(moved)), {}, kSize), 0) << "the reference is not learned yet";
    }
  }
  (void)view.takeLearned();
  EXPECT_LT(distance(view.offsetOf(camera.view(moved)), moved, kSize), 1);
  EXPECT_LT(distance(view.offset(), {}, kSize), 1);
  EXPECT_FALSE(view.takeLearned());
  EXPECT_EQ(distance(view.offsetOf(cv::Mat(480, 640, CV_8UC3, cv::Scalar::all(90))), view.offset(), kSize), 0)
      << "of another size";
}

TEST(ViewDetector, GoesOnWithTheReferenceOfAnEarlierWatch) {
  MovingCamera camera("seed=1&start=2026-06-21T10:00&step=40", kSize);
  Watched before;
  before.watch(camera, 12);
  const ViewReference reference = before.view.takeLearned().value();
  camera.motion = {.right = 8, .turn = -1};
  ASSERT_EQ(before.watch(camera, 12).change, ViewChange::kSmall);
  EXPECT_LT(distance(before.view.takeLearned().value().motion, camera.motion, kSize), 1.5) << "it is stored at once";
  ViewDetector after, other_size;
  after.start(reference);
  after.add(camera.next().image, 0, true);
  ASSERT_TRUE(after.motion()) << "from the first picture on";
  EXPECT_LT(distance(*after.motion(), camera.motion, kSize), 1.5);
  other_size.start(reference);
  other_size.add(cv::Mat(480, 640, CV_8UC3, cv::Scalar::all(0)), 0, true);
  EXPECT_EQ(other_size.takeLearned()->pictures, 1) << "pictures of another size: it learns anew";
}

}  // namespace
}  // namespace mpm::monitor::test
