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

TEST(ViewMotion, SmallOnesAreThoseThatRegionsFollow) {
  for (const auto& [motion, small] : {std::pair(ViewMotion{.right = 32}, true),
                                      {ViewMotion{.right = 32.1}, false},
                                      {ViewMotion{.down = -32.1}, false},
                                      {ViewMotion{.right = 23, .down = 23}, false},
                                      {ViewMotion{.turn = -3}, true},
                                      {ViewMotion{.turn = -3.1}, false},
                                      {ViewMotion{.zoom = 0.951}, true},
                                      {ViewMotion{.zoom = 0.949}, false},
                                      {ViewMotion{.zoom = 1.051}, false}})
    EXPECT_EQ(isSmall(motion, kPicture), small) << toText(motion);
}

// Stripes whose brightness rises along this direction, degrees from right to down.
cv::Mat stripes(double direction, double contrast) {
  cv::Mat picture(kPicture, CV_8UC3);
  const double x1 = std::cos(direction * CV_PI / 180), y1 = std::sin(direction * CV_PI / 180);
  for (int y = 0; y < picture.rows; ++y) {
    for (int x = 0; x < picture.cols; ++x) {
      picture.at<cv::Vec3b>(y, x) =
          cv::Vec3b::all(cv::saturate_cast<uchar>(128 + contrast * std::sin((x * x1 + y * y1) / 6)));
    }
  }
  return picture;
}

TEST(ViewMotion, EdgesAreTheirDoubledDirections) {
  const cv::Rect inner(40, 40, 240, 140);
  for (const double direction : {0., 30., 45., 90., 120.}) {
    const cv::Mat edges = edgeDirections(stripes(direction, 60));
    ASSERT_EQ(edges.size(), cv::Size(320, 224));
    const cv::Scalar mean = cv::mean(edges(inner));
    const double doubled = 2 * direction * CV_PI / 180;
    // Where the brightness rises fastest an edge counts more than its surroundings, where it turns it does not count.
    EXPECT_NEAR(std::hypot(mean[0], mean[1]), 0.87, 0.05);
    EXPECT_NEAR(mean[0], std::hypot(mean[0], mean[1]) * std::cos(doubled), 0.02) << direction;
    EXPECT_NEAR(mean[1], std::hypot(mean[0], mean[1]) * std::sin(doubled), 0.02) << direction;
  }
  cv::Mat scene = mpm::test::smoothPicture(448, 640, 4), half;
  const cv::Mat edges = edgeDirections(scene);
  const auto apart = [&](const cv::Mat& other) { return cv::norm(edges, other) / cv::norm(edges); };
  EXPECT_LT(apart(edgeDirections(~scene)), 0.12) << "the lighter side does not count";
  scene.convertTo(half, -1, 0.5, 20);
  EXPECT_LT(apart(edgeDirections(half)), 0.3) << "the strength counts little";
  EXPECT_LT(cv::norm(edgeDirections(stripes(0, 1)), cv::NORM_INF), 0.6) << "noise counts less";
}

// The middle of a scene that is twice as wide and high.
cv::Mat view(const cv::Mat& of, const ViewMotion& motion) {
  cv::Mat moved;
  cv::warpAffine(of, moved, matrixOf(motion, of.size()), of.size(), cv::INTER_CUBIC);
  return moved(cv::Rect({kPicture.width / 2, kPicture.height / 2}, kPicture)).clone();
}

// One scene in one light: here the estimate is much better than its limit. `covered`: a part of the picture shows
// something else, which moves on its own.
TEST(ViewMotion, IsExactWhereNothingElseChanges) {
  cv::Mat scene, other;
  cv::GaussianBlur(mpm::test::noisePicture(2 * kPicture.height, 2 * kPicture.width, 5), scene, {}, 4);
  cv::GaussianBlur(mpm::test::noisePicture(2 * kPicture.height, 2 * kPicture.width, 6), other, {}, 4);
  for (cv::Mat* const one : {&scene, &other}) cv::normalize(*one, *one, 0, 255, cv::NORM_MINMAX);
  const cv::Mat before = edgeDirections(view(scene, {}));
  for (const double covered : {0., 0.3}) {
    const ViewMotion all[] = {{.right = 0.6, .down = 0.3},
                              {.right = -5.3, .down = 4.4},
                              {.turn = 1.3},
                              {.zoom = 1.013},
                              {.right = 11, .down = -7, .turn = -1.7, .zoom = 0.983},
                              {.right = 44, .down = 30, .turn = 2.1, .zoom = 1.04}};
    for (const ViewMotion& motion : all) {
      cv::Mat now = view(scene, motion);
      const cv::Rect part(0, 0, cvRound(covered * kPicture.width), kPicture.height);
      if (!part.empty()) view(other, {.right = -9, .down = 13})(part).copyTo(now(part));
      const auto found = estimateMotion(before, edgeDirections(now), {}, kPicture);
      ASSERT_TRUE(found) << toText(motion) << ", covered " << covered;
      EXPECT_LT(distance(*found, motion, kPicture), 0.12) << toText(motion) << ", covered " << covered;
    }
  }
  cv::Mat now = view(scene, {.right = 5});
  const cv::Rect most(0, 0, kPicture.width * 7 / 8, kPicture.height);
  view(other, {})(most).copyTo(now(most));
  EXPECT_FALSE(estimateMotion(before, edgeDirections(now), {}, kPicture)) << "an eighth of the picture is too little";
}

// A block of a slanted edge says how far it moved across the edge, but not how far right and how far down.
TEST(ViewMotion, IsFoundWhereMostEdgesHaveOneDirection) {
  cv::Mat noise;
  cv::GaussianBlur(mpm::test::noisePicture(2 * kPicture.height, 2 * kPicture.width, 5), noise, {}, 4);
  cv::normalize(noise, noise, 0, 255, cv::NORM_MINMAX);
  double errors = 0;
  int motions = 0;
  for (const double direction : {45., -45., 30.}) {
    const double across = std::cos(direction * CV_PI / 180), down = std::sin(direction * CV_PI / 180);
    cv::Mat scene = noise.clone();
    for (int y = 0; y < scene.rows; ++y) {
      for (int x = 0; x < scene.cols; ++x) {
        for (int c = 0; c < 3; ++c) {
          uchar& value = scene.at<cv::Vec3b>(y, x)[c];
          value = cv::saturate_cast<uchar>(128 + 0.8 * (value - 128) + 35 * std::sin((x * across + y * down) / 3));
        }
      }
    }
    const cv::Mat before = edgeDirections(view(scene, {}));
    for (const ViewMotion& motion : {ViewMotion{.right = -1.3, .down = 1.1}, {.right = 2.7, .down = 3.1}}) {
      const auto found = estimateMotion(before, edgeDirections(view(scene, motion)), {}, kPicture);
      ASSERT_TRUE(found) << direction << ", " << toText(motion);
      errors += distance(*found, motion, kPicture);
      ++motions;
    }
  }
  EXPECT_LT(errors / motions, 0.3);
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
  for (const auto& [light, rows] : table) {
    for (const Case& tested : kMotions) {
      const Seen& seen = rows.at(tested.name);
      std::printf("| %s | %s | %d | %.0f %% | %.2f | %.2f |\n", light.c_str(), tested.name, seen.pictures,
                  100. * seen.sure / seen.pictures, seen.sum / std::max(seen.sure, 1), seen.worst);
      EXPECT_LT(seen.worst, 1) << light << ", " << tested.name;
      EXPECT_GE(seen.sure, seen.pictures * (light == "day" ? 0.8 : 0.6)) << light << ", " << tested.name;
    }
  }
  EXPECT_EQ(other_views, 0) << "of " << others << " pictures of another street";
}

}  // namespace
}  // namespace mpm::monitor::test
