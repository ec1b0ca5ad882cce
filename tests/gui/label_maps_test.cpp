// SPDX-License-Identifier: Apache-2.0
// Maps of labels, and how strokes change them.
#include <gtest/gtest.h>
#include <QColor>
#include <array>

#include "gui/models/label_maps.h"
#include "monitor/moving_camera.h"

namespace mpm::gui {
namespace {

// Maps of other sizes lie over the picture; the oracle asks for each pixel.
TEST(Differences, OfMapsOfAnySizeAreThoseOfEachPixel) {
  constexpr QRgb kColor = qRgb(200, 0, 0);
  cv::RNG random(7);
  for (int round = 0; round < 20; ++round) {
    const auto map = [&] {
      cv::Mat labels(random.uniform(1, 40), random.uniform(1, 40), CV_8U);
      random.fill(labels, cv::RNG::UNIFORM, 0, 3);
      return labels;
    };
    const cv::Mat one = map(), other = map();
    cv::Mat image(random.uniform(1, 60), random.uniform(1, 60), CV_8UC3);
    random.fill(image, cv::RNG::UNIFORM, 0, 256);
    const QImage painted = paintDifferences(image, one, other, kColor);
    for (int y = 0; y < image.rows; ++y) {
      for (int x = 0; x < image.cols; ++x) {
        const auto at = [&](const cv::Mat& labels) {
          return labels.at<uchar>(y * labels.rows / image.rows, x * labels.cols / image.cols);
        };
        const auto& bgr = image.at<cv::Vec3b>(y, x);
        const int grey = 40 + qGray(bgr[2], bgr[1], bgr[0]) * 5 / 8;
        EXPECT_EQ(painted.pixel(x, y), at(one) != at(other) ? kColor : qRgb(grey, grey, grey));
      }
    }
  }
}

using monitor::ViewMotion;

constexpr int kNoLabel = 255;

cv::Mat labelsOf(cv::Size size) {
  cv::Mat labels(size, CV_8UC1, cv::Scalar(kNoLabel));
  cv::ellipse(labels, {size.width / 3, size.height / 2}, {90, 60}, 20, 0, 360, cv::Scalar(1), cv::FILLED);
  cv::rectangle(labels, cv::Rect(400, 250, 150, 120), cv::Scalar(4), cv::FILLED);
  return labels;
}

// Share of the labelled pixels that have the label they should have.
double agreement(const cv::Mat& labels, const cv::Mat& expected) {
  const cv::Mat labelled = (labels != kNoLabel) | (expected != kNoLabel), equal = labels == expected;
  return cv::countNonZero(equal & labelled) / static_cast<double>(cv::countNonZero(labelled));
}

// Each kind of motion by day and night: tests/monitor/view_motion_test.cpp.
TEST(MovedLabels, AreWhereTheViewMovedThem) {
  for (const auto& [when, motion] : {std::pair("2026-06-10T12:00", ViewMotion{-12, 7, -1.5, 0.97}),
                                     {"2026-06-10T23:30", ViewMotion{.right = 20, .down = -9}}}) {
    monitor::test::MovingCamera camera(std::string("seed=3&start=") + when);
    const cv::Mat from = camera.next().image;
    const cv::Mat labels = labelsOf(from.size());
    cv::Mat expected;
    cv::warpAffine(labels, expected, monitor::matrixOf(motion, from.size()), from.size(), cv::INTER_NEAREST,
                   cv::BORDER_CONSTANT, cv::Scalar(kNoLabel));
    const cv::Mat moved = movedLabels(labels, from, camera.view(motion), kNoLabel);
    ASSERT_FALSE(moved.empty()) << when;
    EXPECT_GT(agreement(moved, expected), 0.97) << when;
    EXPECT_LT(agreement(labels, expected), 0.95) << "without it they would be elsewhere";
  }
}

TEST(MovedLabels, StayWhereTheViewStayed) {
  monitor::test::MovingCamera camera("seed=3&step=3600&start=2026-06-10T09:00");
  const cv::Mat from = camera.next().image, labels = labelsOf(from.size());
  EXPECT_TRUE(movedLabels(labels, from, camera.next().image, kNoLabel).empty()) << "an hour later";
  EXPECT_TRUE(movedLabels(labels, from, camera.view({.right = 90}), kNoLabel).empty()) << "another view";
  monitor::test::MovingCamera other("seed=8&start=2026-06-10T12:00");
  EXPECT_TRUE(movedLabels(labels, from, other.next().image, kNoLabel).empty()) << "another street";
  EXPECT_TRUE(
      movedLabels(cv::Mat(20, 20, CV_8U), cv::Mat(20, 20, CV_8UC3), cv::Mat(20, 20, CV_8UC3), kNoLabel).empty());
  const cv::Mat moved = camera.view({.right = 20});
  EXPECT_TRUE(movedLabels(labels, from.rowRange(0, 300), moved.rowRange(0, 300), kNoLabel).empty()) << "another size";
}

constexpr int kIgnore = 255;

cv::Mat unlabelled() { return cv::Mat(40, 60, CV_8U, cv::Scalar(kIgnore)); }
int count(const LabelEditor& editor, int label) { return cv::countNonZero(editor.labels() == label); }

// Strokes, undo and redo at random beside a list of whole copies.
TEST(LabelEditor, AnySequenceOfUndoAndRedoGivesTheMapOfThatStep) {
  constexpr std::size_t kKept = 100;  // steps
  cv::RNG random(3);
  LabelEditor editor(unlabelled(), kIgnore);
  std::vector<cv::Mat> copies = {unlabelled()};
  std::size_t now = 0;
  for (int i = 0; i < 2000; ++i) {
    const int what = random.uniform(0, 5);
    if (what == 0) {
      ASSERT_EQ(editor.steps().canUndo(), now > 0) << i;
      editor.steps().undo();
      now -= now > 0;
    } else if (what == 1) {
      ASSERT_EQ(editor.steps().canRedo(), now + 1 < copies.size()) << i;
      editor.steps().redo();
      now += now + 1 < copies.size();
    } else {
      editor.begin();
      const QPointF from(random.uniform(-5, 65), random.uniform(-5, 45));
      editor.brush(from, {random.uniform(-5., 65.), random.uniform(-5., 45.)}, 3, random.uniform(0, 4));
      cv::Mat drawn = editor.labels().clone();
      const bool changed = cv::countNonZero(drawn != copies[now]) > 0;
      ASSERT_EQ(editor.end(), changed) << i;
      if (changed) {
        copies.resize(now + 1);
        copies.push_back(std::move(drawn));
        ++now;
      }
    }
    const std::size_t lost = copies.size() > kKept + 1 ? copies.size() - kKept - 1 : 0;
    copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(lost));
    now -= lost;
    ASSERT_EQ(cv::countNonZero(editor.labels() != copies[now]), 0) << i;
  }
  for (; now > 0; --now) editor.steps().undo();
  EXPECT_FALSE(editor.steps().canUndo()) << "the oldest strokes are forgotten";
}

TEST(LabelEditor, WhatChangesNothingIsNoStroke) {
  LabelEditor editor(unlabelled(), kIgnore);
  editor.begin();
  editor.brush({-50, -50}, {-40, -50}, 5, 1);
  editor.polygon(QPolygonF({QPointF(1, 1), QPointF(9, 9)}), 1);
  EXPECT_FALSE(editor.end());
  EXPECT_FALSE(editor.steps().canUndo());
  editor.brush({5, 5}, {5, 5}, 0.3, 1);
  EXPECT_EQ(count(editor, 1), 1) << "the smallest brush";
}

TEST(LabelEditor, FillsCellsThatMeetWithoutAGap) {
  LabelEditor editor(unlabelled(), kIgnore);
  const Size2 grid{3, 7};  // neither side is a multiple
  std::array<int, 21> all{};
  for (int i = 0; i < 21; ++i) all[i] = i;
  editor.begin();
  editor.cells(grid, all, 4);
  EXPECT_EQ(count(editor, 4), 40 * 60);
  const std::array<int, 1> last = {20};
  editor.cells(grid, last, 5);
  EXPECT_EQ(editor.labels().at<uchar>(39, 59), 5);
  EXPECT_EQ(editor.labels().at<uchar>(39, 50), 4);
  EXPECT_TRUE(editor.end());
}

TEST(LabelEditor, AcceptsOneConnectedRegionOfAPrediction) {
  LabelEditor editor(unlabelled(), kIgnore);
  cv::Mat prediction(4, 6, CV_8U, cv::Scalar(0));  // a tenth of the picture
  prediction.at<uchar>(1, 1) = prediction.at<uchar>(1, 2) = 3;
  prediction.at<uchar>(3, 5) = 3;
  editor.begin();
  editor.region(prediction, {15, 15});
  EXPECT_TRUE(editor.end());
  EXPECT_EQ(count(editor, 3), 2 * 100);
  EXPECT_EQ(editor.labels().at<uchar>(35, 55), kIgnore) << "the same class elsewhere";
  prediction.setTo(kIgnore);
  editor.begin();
  editor.region(prediction, {15, 15});
  editor.region(prediction, {-3, 99});
  EXPECT_FALSE(editor.end()) << "of nothing there is nothing to accept";
}

TEST(LabelEditor, FillsPolygons) {
  LabelEditor editor(unlabelled(), kIgnore);
  editor.begin();
  editor.polygon(QPolygonF({QPointF(10, 10), QPointF(29, 10), QPointF(29, 19), QPointF(10, 19)}), 1);
  EXPECT_TRUE(editor.end());
  EXPECT_EQ(count(editor, 1), 20 * 10);
}

}  // namespace
}  // namespace mpm::gui
