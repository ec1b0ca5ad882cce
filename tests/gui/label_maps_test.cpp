// SPDX-License-Identifier: Apache-2.0
#include "gui/models/label_maps.h"

#include <gtest/gtest.h>

#include <QColor>
#include <numeric>

#include "monitor/moving_camera.h"

namespace mpm::gui {
namespace {

const std::vector<QRgb> kColors = {qRgb(200, 0, 0), qRgb(0, 200, 0), qRgb(0, 0, 200)};

TEST(LabelChanges, AreCountedAndPainted) {
  const cv::Mat image(4, 8, CV_8UC3, cv::Scalar::all(80));
  cv::Mat before(4, 8, CV_8U, cv::Scalar(0)), after = before.clone();
  after.row(1).setTo(2);
  after.at<uchar>(3, 7) = 1;
  const LabelChanges result = labelChanges(image, before, after, kColors);
  ASSERT_EQ(result.changes.size(), 2U);
  EXPECT_EQ(result.changes[0].from, 0);
  EXPECT_EQ(result.changes[0].to, 2);
  EXPECT_EQ(result.changes[0].pixels, 8) << "the largest first";
  EXPECT_EQ(result.changes[1].pixels, 1);
  EXPECT_DOUBLE_EQ(result.share, 9 / 32.0);
  EXPECT_EQ(result.picture.pixel(2, 1), kColors[2]);
  EXPECT_EQ(result.picture.pixel(7, 3), kColors[1]);
  EXPECT_EQ(result.picture.pixel(0, 0), qRgb(90, 90, 90));
}

// Maps of other sizes lie over the picture; the oracle asks for each pixel.
TEST(LabelChanges, OfMapsOfAnySizeAreThoseOfEachPixel) {
  cv::RNG random(7);
  for (int round = 0; round < 20; ++round) {
    const auto map = [&] {
      cv::Mat labels(random.uniform(1, 40), random.uniform(1, 40), CV_8U);
      random.fill(labels, cv::RNG::UNIFORM, 0, 3);
      return labels;
    };
    const cv::Mat before = map(), after = map();
    cv::Mat image(random.uniform(1, 60), random.uniform(1, 60), CV_8UC3);
    random.fill(image, cv::RNG::UNIFORM, 0, 256);
    const LabelChanges result = labelChanges(image, before, after, kColors);
    int changed = 0;
    for (int y = 0; y < image.rows; ++y)
      for (int x = 0; x < image.cols; ++x) {
        const auto at = [&](const cv::Mat& labels) {
          return labels.at<uchar>(y * labels.rows / image.rows, x * labels.cols / image.cols);
        };
        const QColor painted(result.picture.pixel(x, y));
        if (at(before) != at(after)) {
          ++changed;
          EXPECT_EQ(painted.rgb(), kColors[at(after)]);
        } else {
          EXPECT_EQ(painted.saturation(), 0);
        }
      }
    EXPECT_DOUBLE_EQ(result.share, changed / static_cast<double>(image.total()));
    EXPECT_EQ(std::accumulate(result.changes.begin(), result.changes.end(), 0,
                              [](int sum, const auto& one) { return sum + one.pixels; }),
              changed);
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

TEST(MovedLabels, AreWhereTheViewMovedThem) {
  for (const char* const when : {"2026-06-10T12:00", "2026-06-10T23:30"}) {
    monitor::test::MovingCamera camera(std::string("seed=3&start=") + when);
    const cv::Mat from = camera.next().image;
    for (const ViewMotion& motion :
         {ViewMotion{.right = 20, .down = -9}, {.turn = 2}, {.zoom = 1.04}, {-12, 7, -1.5, 0.97}}) {
      const cv::Mat labels = labelsOf(from.size());
      cv::Mat expected;
      cv::warpAffine(labels, expected, monitor::matrixOf(motion, from.size()), from.size(), cv::INTER_NEAREST,
                     cv::BORDER_CONSTANT, cv::Scalar(kNoLabel));
      const cv::Mat moved = movedLabels(labels, from, camera.view(motion), kNoLabel);
      ASSERT_FALSE(moved.empty()) << when << ", turned " << motion.turn;
      EXPECT_GT(agreement(moved, expected), 0.97) << when << ", turned " << motion.turn;
      EXPECT_LT(agreement(labels, expected), 0.95) << "without it they would be elsewhere";
    }
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

}  // namespace
}  // namespace mpm::gui
