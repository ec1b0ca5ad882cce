// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/view_detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "monitor/moving_camera.h"
#include "support/pictures.h"

namespace mpm::monitor::test {
namespace {

const cv::Size kPicture(640, 448);  // a network picture

cv::Mat average(MovingCamera& camera, int pictures) {
  cv::Mat sum;
  for (int i = 0; i < pictures; ++i) {
    const cv::Mat edges = edgeDirections(camera.next().image);
    if (sum.empty()) sum = cv::Mat::zeros(edges.size(), edges.type());
    sum += edges;
  }
  return sum / pictures;
}

cv::Vec2d moved(const ViewMotion& motion, double x, double y) {
  return matrixOf(motion, kPicture) * cv::Vec3d(x, y, 1);
}

TEST(ViewMotion, MovesPointsAsItsNumbersSay) {
  EXPECT_LT(cv::norm(moved({}, 12, 34) - cv::Vec2d(12, 34)), 1e-9);
  EXPECT_LT(cv::norm(moved({.right = 3, .down = -5}, 12, 34) - cv::Vec2d(15, 29)), 1e-9);
  EXPECT_LT(cv::norm(moved({.zoom = 2}, 319.5, 223.5) - cv::Vec2d(319.5, 223.5)), 1e-9) << "the centre stays";
  EXPECT_LT(cv::norm(moved({.zoom = 2}, 329.5, 223.5) - cv::Vec2d(339.5, 223.5)), 1e-9);
  EXPECT_LT(cv::norm(moved({.turn = 90}, 329.5, 223.5) - cv::Vec2d(319.5, 233.5)), 1e-9) << "right goes down";
  const ViewMotion motion{.right = -7, .down = 2.5, .turn = -2, .zoom = 1.05};
  const ViewMotion back = motionOf(matrixOf(motion, kPicture), kPicture);
  EXPECT_NEAR(back.right, -7, 1e-9);
  EXPECT_NEAR(back.down, 2.5, 1e-9);
  EXPECT_NEAR(back.turn, -2, 1e-9);
  EXPECT_NEAR(back.zoom, 1.05, 1e-9);
}

TEST(ViewMotion, DistanceIsThatOfTheWorstCorner) {
  EXPECT_NEAR(distance({.right = 3}, {.down = 4}, kPicture), 5, 1e-9);
  EXPECT_NEAR(distance({.zoom = 1.1}, {}, kPicture), 0.1 * std::hypot(319.5, 223.5), 1e-9);
}

TEST(ViewMotion, SaysItInWords) {
  EXPECT_EQ(toText({.right = 15.4, .down = -8}), "moved 15 px right and 8 px up");
  EXPECT_EQ(toText({.right = -2, .turn = -1.26, .zoom = 0.97}),
            "moved 2 px left, turned 1.3 degrees counter-clockwise, became 3 % smaller");
  EXPECT_EQ(toText({.down = 1, .turn = 12, .zoom = 1.02}),
            "moved 1 px down, turned 12.0 degrees clockwise, became 2 % larger");
  EXPECT_EQ(toText(ViewMotion{}), "moved by less than a pixel");
}

struct Case {
  const char* name;
  ViewMotion motion;
};
const Case kMotions[] = {{"none", {}},
                         {"shift 1 %", {.right = 5, .down = -4}},
                         {"shift 5 %", {.right = -28, .down = 14}},
                         {"turn 1", {.turn = 1}},
                         {"turn 3", {.turn = -3}},
                         {"zoom 2 %", {.zoom = 1.02}},
                         {"zoom 5 %", {.zoom = 0.95}},
                         {"all", {.right = 20, .down = 10, .turn = 2, .zoom = 1.04}},
                         {"large", {.right = 60, .down = -20, .turn = 4.5, .zoom = 1.08}}};

struct Seen {
  int pictures = 0, sure = 0;
  double sum = 0, worst = 0;  // px, of the corner where it is worst
  void add(const std::optional<ViewMotion>& found, const ViewMotion& truth) {
    ++pictures;
    if (!found) return;
    ++sure;
    const double error = distance(*found, truth, kPicture);
    sum += error;
    worst = std::max(worst, error);
  }
};

TEST(ViewMotion, FindsShiftsTurnsAndZoomsByDayAndNight) {
  MovingCamera reference("shake=0&seed=3&weather=auto&start=2026-05-01T06:30&step=14400");
  const cv::Mat before = average(reference, 6);  // a day and a night
  for (const char* when : {"2026-06-12T10:00&weather=clear", "2026-05-20T23:30&weather=cloudy"}) {
    MovingCamera camera(std::string("shake=0&seed=3&start=") + when);
    camera.next();
    Seen seen;
    for (const Case& tested : kMotions) {
      const auto found = estimateMotion(before, edgeDirections(camera.view(tested.motion)), {}, kPicture);
      seen.add(found, tested.motion);
      if (found) {
        EXPECT_LT(distance(*found, tested.motion, kPicture), 1) << when << ", " << tested.name;
      }
    }
    EXPECT_GE(seen.sure, 8) << when;
  }
}

TEST(ViewMotion, AnotherViewOrNoneIsNotSure) {
  MovingCamera reference("shake=0&seed=3&start=2026-05-01T06:30&step=7200");
  const cv::Mat before = average(reference, 3);
  for (const char* seed : {"4", "5", "6"}) {
    MovingCamera other(std::string("start=2026-06-12T10:00&seed=") + seed);
    EXPECT_FALSE(estimateMotion(before, edgeDirections(other.next().image), {}, kPicture)) << "street " << seed;
  }
  const cv::Mat noise = mpm::test::noisePicture(kPicture.height, kPicture.width, 7);
  EXPECT_FALSE(estimateMotion(before, edgeDirections(noise), {}, kPicture));
  for (const cv::Size narrow : {cv::Size(1, 128), {1, 1}, {300, 1}}) {
    const cv::Mat edges = edgeDirections(mpm::test::noisePicture(narrow.height, narrow.width));
    (void)estimateMotion(edges, edges, {}, narrow);  // OpenCV limits the sides of what it moves
  }
  EXPECT_FALSE(estimateMotion(before, edgeDirections(cv::Mat(kPicture, CV_8UC3, cv::Scalar::all(9))), {}, kPicture));
}

// The table of docs/monitor.md. The reference is the mean of two days, each picture is of another week.
TEST(ViewMotion, LongTableByDayAndNight) {
  std::map<std::string, std::map<std::string, Seen>> table;
  int others = 0, other_views = 0;
  cv::Mat last;
  for (int seed = 1; seed <= 8; ++seed) {
    const std::string street = "shake=0&weather=auto&seed=" + std::to_string(seed);
    MovingCamera reference(street + "&start=2026-03-01T00:30&step=3600");
    const cv::Mat before = average(reference, 48);
    MovingCamera camera(street + "&start=2026-04-03T08:10&step=637200");  // a week and nine hours
    for (int i = 0; i < 24; ++i) {
      const bool night = camera.next().night.value();
      for (const Case& tested : kMotions) {
        const cv::Mat edges = edgeDirections(camera.view(tested.motion));
        table[night ? "night" : "day"][tested.name].add(estimateMotion(before, edges, {}, kPicture), tested.motion);
      }
      if (last.empty()) continue;
      ++others;
      other_views += estimateMotion(last, edgeDirections(camera.view({})), {}, kPicture).has_value();
    }
    last = before;
  }
  for (const auto& [light, rows] : table)
    for (const Case& tested : kMotions) {
      const Seen& seen = rows.at(tested.name);
      std::printf("| %s | %s | %d | %.0f %% | %.2f | %.2f |\n", light.c_str(), tested.name, seen.pictures,
                  100. * seen.sure / seen.pictures, seen.sum / std::max(seen.sure, 1), seen.worst);
      EXPECT_LT(seen.worst, 1) << light << ", " << tested.name;
      EXPECT_GE(seen.sure, seen.pictures * (light == "day" ? 0.8 : 0.6)) << light << ", " << tested.name;
    }
  EXPECT_EQ(other_views, 0) << "of " << others << " pictures of another street";
}

}  // namespace
}  // namespace mpm::monitor::test
