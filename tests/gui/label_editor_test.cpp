// SPDX-License-Identifier: Apache-2.0
#include "gui/models/label_editor.h"

#include <gtest/gtest.h>

#include <array>

namespace mpm::gui {
namespace {

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
      ASSERT_EQ(editor.canUndo(), now > 0) << i;
      editor.undo();
      now -= now > 0;
    } else if (what == 1) {
      ASSERT_EQ(editor.canRedo(), now + 1 < copies.size()) << i;
      editor.redo();
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
  for (; now > 0; --now) editor.undo();
  EXPECT_FALSE(editor.canUndo()) << "the oldest strokes are forgotten";
}

TEST(LabelEditor, WhatChangesNothingIsNoStroke) {
  LabelEditor editor(unlabelled(), kIgnore);
  editor.begin();
  editor.brush({-50, -50}, {-40, -50}, 5, 1);
  editor.polygon(QPolygonF({QPointF(1, 1), QPointF(9, 9)}), 1);
  EXPECT_FALSE(editor.end());
  EXPECT_FALSE(editor.canUndo());
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
