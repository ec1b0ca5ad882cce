// SPDX-License-Identifier: Apache-2.0
#include "gui/models/label_maps.h"

#include <gtest/gtest.h>

#include <QColor>

#include <numeric>

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

}  // namespace
}  // namespace mpm::gui
