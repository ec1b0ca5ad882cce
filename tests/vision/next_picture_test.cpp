// SPDX-License-Identifier: Apache-2.0

#include "support/matchers.h"
#include "vision/labels/label_progress.h"

namespace mpm::vision {
namespace {

// One value in a row.
cv::Mat column(const std::vector<float>& values) {
  return cv::Mat(values, true).reshape(1, static_cast<int>(values.size()));  // OpenCV 5 makes a row of a vector
}

TEST(NextPicture, TakesWhatDiffersMostFromAllBeforeIt) {
  const cv::Mat candidates = column({1, 2, 9, 10, 5}), labelled = column({0, 2});
  EXPECT_THAT(furthestFirst(candidates, labelled, 3), ElementsAre(3, 4, 0)) << "2 is labelled, and 9 is near 10";
  EXPECT_THAT(furthestFirst(candidates, labelled, 9), ElementsAre(3, 4, 0, 2)) << "never one that is labelled";
  EXPECT_THAT(furthestFirst(candidates, {}, 2), ElementsAre(4, 3)) << "the most typical first";
  EXPECT_THAT(furthestFirst({}, labelled, 3), IsEmpty());
  EXPECT_THAT(furthestFirst(candidates, labelled, 0), IsEmpty());
  const cv::Mat feature = pictureFeature(column({3, 4, 0, 5}).reshape(1, 2));  // mean and deviation of tokens
  const float expected[] = {0.3f, 0.9f, 0.3f, 0.1f};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(feature.at<float>(i), expected[i], 1e-5);
  EXPECT_EQ(cv::countNonZero(pictureFeature(cv::Mat::zeros(3, 4, CV_32F)) != 0), 0) << "no division by zero";
}

TEST(LabelProgress, AGoodStartIsFourPicturesOneByNight) {
  const cv::Mat day(4, 4, CV_8UC3, cv::Scalar::all(120)), night(4, 4, CV_8UC3, cv::Scalar(90, 20, 10));
  cv::Mat labels(4, 4, CV_8U, cv::Scalar(255));
  labels.at<uchar>(1, 1) = 2;
  const LabelSummary first = summaryOf(day, labels, 3);
  EXPECT_THAT(first.pixels, ElementsAre(0, 0, 1));
  EXPECT_DOUBLE_EQ(first.brightness, 120);
  EXPECT_DOUBLE_EQ(first.area, 16);
  labels.row(0) = 0;
  const LabelSummary second = summaryOf(night, labels, 3);
  EXPECT_THAT(second.pixels, ElementsAre(4, 0, 1));
  EXPECT_DOUBLE_EQ(second.brightness, 40);

  const LabelProgress begun = progressOf({first, first, first}, 3);
  EXPECT_EQ(begun.pictures, 3);
  EXPECT_FALSE(begun.night);
  EXPECT_THAT(begun.rare, ElementsAre(0, 1));
  const LabelProgress better = progressOf({first, second, second, second}, 3);
  EXPECT_TRUE(better.night);
  EXPECT_FALSE(progressOf({second, second}, 3).night) << "a dark camera by day";
  EXPECT_FALSE(progressOf({}, 3).night);
  EXPECT_THAT(better.rare, ElementsAre(1));
}

}  // namespace
}  // namespace mpm::vision
