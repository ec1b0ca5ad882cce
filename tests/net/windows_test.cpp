// SPDX-License-Identifier: Apache-2.0
#include "net/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <opencv2/imgproc.hpp>

namespace mpm {
namespace {

using ::testing::ElementsAre;

TEST(WindowStarts, CoverTheLengthAndEndFlush) {
  EXPECT_THAT(windowStarts(512, 512, 480), ElementsAre(0));
  EXPECT_THAT(windowStarts(513, 512, 480), ElementsAre(0, 1));
  EXPECT_THAT(windowStarts(992, 512, 480), ElementsAre(0, 480));
  EXPECT_THAT(windowStarts(1000, 512, 480), ElementsAre(0, 480, 488));
}

// Segmenter's evaluation written down plainly: logits of each window at full size, summed, divided by how many cover
// each pixel, resized to the image.
cv::Mat plainLabels(const WindowScores& windows, cv::Size size, std::vector<cv::Mat>& planes) {
  const int classes = windows.scores.front().size[1];
  cv::Mat count(windows.image.height, windows.image.width, CV_32F, cv::Scalar(0));
  std::vector<cv::Mat> sums;
  for (int c = 0; c < classes; ++c) sums.push_back(cv::Mat(count.size(), CV_32F, cv::Scalar(0)));
  for (std::size_t i = 0; i < windows.rows.size(); ++i)
    for (std::size_t j = 0; j < windows.columns.size(); ++j) {
      const cv::Rect at(windows.columns[j], windows.rows[i], windows.window.width, windows.window.height);
      count(at) += 1;
      for (int c = 0; c < classes; ++c) {
        const cv::Mat& scores = windows.scores[i * windows.columns.size() + j];
        const cv::Mat grid = scores.col(c).clone().reshape(1, windows.grid.height);
        cv::Mat full;
        cv::resize(grid, full, at.size(), 0, 0, cv::INTER_LINEAR);
        sums[c](at) += full;
      }
    }
  cv::Mat labels(size, CV_8U, cv::Scalar(0)), best;
  for (int c = 0; c < classes; ++c) {
    cv::Mat logits = sums[c] / count, resized;
    cv::resize(logits, resized, size, 0, 0, cv::INTER_LINEAR);
    planes.push_back(resized);
    if (c == 0) {
      best = resized.clone();
      continue;
    }
    const cv::Mat better = resized > best;
    labels.setTo(c, better);
    resized.copyTo(best, better);
  }
  return labels;
}

void expectAgrees(Size2 image, cv::Size labels_size) {
  const Size2 window{32, 48}, grid{4, 6};
  WindowScores windows{image, window, grid, windowStarts(image.height, 32, 30), windowStarts(image.width, 48, 45), {}};
  cv::RNG random(5);
  for (std::size_t i = 0; i < windows.rows.size() * windows.columns.size(); ++i) {
    cv::Mat scores(grid.height * grid.width, 7, CV_32F);
    random.fill(scores, cv::RNG::NORMAL, 0, 1);
    windows.scores.push_back(scores);
  }
  cv::Mat labels(labels_size, CV_8U);
  labelWindows(windows, labels, Serial());
  std::vector<cv::Mat> planes;
  const int differing = cv::countNonZero(labels != plainLabels(windows, labels_size, planes));
  EXPECT_LE(differing, static_cast<int>(labels.total()) / 1000)
      << "of " << labels.total();  // near ties may round apart
  cv::Mat logits(7 * labels_size.height, labels_size.width, CV_32F), expected;
  resizeWindows(windows, labels_size, logits.ptr<float>(), Serial());
  cv::vconcat(planes, expected);
  EXPECT_LE(cv::norm(logits, expected, cv::NORM_INF), 1e-3);
}

TEST(LabelWindows, AgreesWithThePlainComputation) { expectAgrees({70, 100}, {100, 70}); }
TEST(LabelWindows, AgreesForOneWindow) { expectAgrees({32, 48}, {48, 32}); }
TEST(LabelWindows, AgreesForAnImageThatWasScaledUp) { expectAgrees({32, 64}, {40, 20}); }

}  // namespace
}  // namespace mpm
