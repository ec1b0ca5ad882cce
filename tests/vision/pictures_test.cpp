// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/pictures.h"

#include "support/file_size_limit.h"
#include "support/pictures.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::vision {
namespace {

int different(const cv::Mat& a, const cv::Mat& b) {
  cv::Mat difference;
  cv::absdiff(a, b, difference);
  return cv::countNonZero(difference.reshape(1));
}

TEST(OverlayPicture, BlendsTheColourOfEachClass) {
  const cv::Mat image(1, 3, CV_8UC3, cv::Scalar(100, 100, 100));
  const cv::Mat_<unsigned char> labels({1, 3}, {0, 1, 200});
  const std::vector<cv::Vec3b> colors = {{0, 0, 200}, {200, 0, 0}};
  const cv::Mat half = overlayPicture(image, labels, colors, 0.5);
  EXPECT_EQ(half.at<cv::Vec3b>(0, 0), cv::Vec3b(50, 50, 150));
  EXPECT_EQ(half.at<cv::Vec3b>(0, 1), cv::Vec3b(150, 50, 50));
  EXPECT_EQ(half.at<cv::Vec3b>(0, 2), cv::Vec3b(100, 100, 100)) << "a label beyond the colours leaves the image";
  EXPECT_EQ(different(overlayPicture(image, labels, colors, 0.0), image), 0);
  EXPECT_EQ(overlayPicture(image, labels, colors, 1.0).at<cv::Vec3b>(0, 1), colors[1]);
}

TEST(SegmentsPicture, PaintsAndOutlinesSegments) {
  const cv::Mat image(3, 6, CV_8UC3, cv::Scalar::all(100));
  cv::Mat ids(3, 6, CV_16U, cv::Scalar(0));
  ids.colRange(2, 4).setTo(1);
  ids.colRange(4, 6).setTo(2);
  const std::vector<cv::Vec3b> colors = {{0, 0, 200}, {0, 0, 200}};
  const cv::Mat picture = segmentsPicture(image, ids, colors);
  EXPECT_EQ(picture.at<cv::Vec3b>(1, 0), cv::Vec3b::all(100)) << "no segment";
  EXPECT_EQ(picture.at<cv::Vec3b>(1, 2), cv::Vec3b(50, 50, 150));
  EXPECT_NE(picture.at<cv::Vec3b>(1, 3), picture.at<cv::Vec3b>(1, 2)) << "an outline between segments of one colour";
  EXPECT_EQ(picture.at<cv::Vec3b>(2, 5), cv::Vec3b(50, 50, 150)) << "none at the border of the image";
  EXPECT_MPM_ERROR(segmentsPicture(image, cv::Mat::zeros(3, 6, CV_8U), colors), "ids of 16 bits");
}

TEST(MergePicture, FillsClustersWithTheirMeanAndDrawsBorders) {
  // Two clusters, left and right half; the right one is two patches that do not touch the same mean alone.
  cv::Mat image(4, 8, CV_8UC3, cv::Scalar::all(10));
  image.colRange(4, 6).setTo(cv::Scalar(0, 20, 40));
  image.colRange(6, 8).setTo(cv::Scalar(100, 40, 80));
  const cv::Mat picture = mergePicture(image, {0, 0, 1, 1}, {1, 4});
  const cv::Mat parted = mergePicture(image.colRange(2, 8), {0, 1, 0}, {1, 3});
  EXPECT_EQ(parted.at<cv::Vec3b>(2, 0), cv::Vec3b(55, 25, 45)) << "the mean of two parts";
  EXPECT_EQ(picture.at<cv::Vec3b>(2, 0), cv::Vec3b::all(10));
  EXPECT_EQ(picture.at<cv::Vec3b>(2, 2), cv::Vec3b::all(10)) << "no border inside a cluster";
  EXPECT_NE(picture.at<cv::Vec3b>(2, 3), cv::Vec3b::all(10)) << "one pixel between clusters";
  EXPECT_EQ(picture.at<cv::Vec3b>(2, 4), cv::Vec3b(50, 30, 60));
  EXPECT_EQ(picture.at<cv::Vec3b>(2, 7), cv::Vec3b(50, 30, 60));
}

TEST(MergePicture, BordersAreSeenOnBlackAndOnWhite) {
  for (int gray : {0, 255}) {
    const cv::Mat picture = mergePicture(cv::Mat(4, 8, CV_8UC3, cv::Scalar::all(gray)), {0, 1}, {1, 2});
    EXPECT_GT(std::abs(picture.at<cv::Vec3b>(2, 3)[1] - gray), 80);
    EXPECT_EQ(cv::countNonZero(picture.reshape(1) != gray), 4 * 3) << "one column of pixels";
  }
}

TEST(MergePicture, CoversImagesThatThePatchesDoNotDivide) {
  const cv::Mat image = mpm::test::noisePicture(37, 53);
  std::vector<int> map(5 * 7);
  for (int i = 0; i < 35; ++i) map[i] = i;
  EXPECT_EQ(mergePicture(image, map, {5, 7}).size(), image.size());
  EXPECT_NO_THROW(mergePicture(mpm::test::noisePicture(2, 2), map, {5, 7})) << "an image smaller than its grid";
  EXPECT_MPM_ERROR(mergePicture(image, {0, 1, 2}, {2, 2}), "3 tokens, its grid 2 x 2 patches");
  EXPECT_MPM_ERROR(mergePicture(image, {0, -1, 2, 3}, {2, 2}), "negative cluster");
}

TEST(ComputedPicture, KeptPatchesAreDarkAndGrey) {
  const cv::Mat image(32, 64, CV_8UC3, cv::Scalar(60, 120, 180));
  const cv::Mat picture = computedPicture(image, {.rows = 0.25, .patches = {1, 2}}, {2, 4});
  const auto at = [&](int y, int x) { return picture.at<cv::Vec3b>(y, x); };
  const cv::Vec3b own(60, 120, 180), kept = cv::Vec3b::all(20 + (60 * 114 + 120 * 587 + 180 * 299) / 1000 / 3);
  EXPECT_EQ(at(8, 24), own);
  EXPECT_EQ(at(8, 31), own) << "no line between two patches that were computed";
  EXPECT_EQ(at(8, 15), kept);
  EXPECT_NE(at(8, 16), own) << "the outline";
  EXPECT_EQ(at(8, 16), at(15, 30));
  EXPECT_EQ(at(16, 24), kept);
  EXPECT_EQ(at(0, 24), own) << "no line at the edge of the picture";
  EXPECT_EQ(cv::norm(computedPicture(image, {.key_frame = true}, {2, 4}), image), 0) << "all was computed";
}

TEST(WritePicture, LeavesNothingBehindWhenThereIsNoRoom) {
  const test::TemporaryFolder folder;
  const test::FileSizeLimit full(512);
  EXPECT_MPM_ERROR(writePicture(folder / "a.png", mpm::test::noisePicture(64, 64)),
                   "cannot write '" + (folder / "a.png") + "'");
  EXPECT_TRUE(folder.isEmpty());
}

const cv::Mat kDepths = cv::Mat(std::vector<float>{1, 4, 2.5f, 9, 3, 300}).reshape(1, 2).clone();

TEST(DepthRange, IsTheLeastTheMedianAndTheLargest) {
  const DepthRange range = depthRange(cv::Mat(kDepths, cv::Rect(0, 0, 3, 1)));
  EXPECT_EQ(range.min, 1);
  EXPECT_EQ(range.median, 2.5);
  EXPECT_EQ(range.max, 4);
  EXPECT_EQ(depthRange(cv::Mat(std::vector<float>{3, 1})).median, 2) << "two middle values";
  EXPECT_EQ(depthRange(cv::Mat(std::vector<float>{9, 2, 1, 3})).median, 2.5);
  for (const cv::Mat& other : {cv::Mat(), cv::Mat(2, 2, CV_64F, cv::Scalar(1)), cv::Mat(2, 2, CV_32FC2)})
    EXPECT_MPM_ERROR(depthRange(other), "must be CV_32F and not empty");
  const cv::Mat depth = kDepths(cv::Rect(0, 0, 3, 1));
  EXPECT_NEAR(depthDifference(depth, range, depth + 0.6), 0.2, 1e-6) << "as a share of the range";
  EXPECT_EQ(depthDifference(depth, {1, 1, 1}, depth + 0.6), 0) << "one depth everywhere";
}

TEST(DepthImage, OfMetresHasAFixedStepAndOtherwiseUsesAllOfItsValues) {
  const DepthImage metres = depthImage(kDepths, DepthUnit::kMetre);
  EXPECT_EQ(metres.offset, 0);
  EXPECT_EQ(metres.step, 1.0 / 256);
  EXPECT_EQ(metres.pixels.at<std::uint16_t>(0, 2), 640);
  EXPECT_EQ(metres.pixels.at<std::uint16_t>(1, 2), 65535) << "farther than 255.996 m";
  for (const DepthUnit unit : {DepthUnit::kRelative, DepthUnit::kInverse}) {
    const DepthImage image = depthImage(kDepths, unit);
    EXPECT_EQ(image.pixels.at<std::uint16_t>(0, 0), 0);
    EXPECT_EQ(image.pixels.at<std::uint16_t>(1, 2), 65535);
    for (int i = 0; i < 6; ++i) {
      EXPECT_NEAR(image.offset + image.step * image.pixels.at<std::uint16_t>(i / 3, i % 3),
                  kDepths.at<float>(i / 3, i % 3), image.step / 2 * 1.01);
    }
  }
  cv::Mat far(1, 256, CV_32F);  // steps of floats there are 64
  for (int i = 0; i < far.cols; ++i) far.at<float>(i) = 6e8F + 64.F * static_cast<float>(i);
  const DepthImage of_far = depthImage(far, DepthUnit::kRelative);
  for (int i = 0; i < far.cols; ++i) EXPECT_EQ(of_far.pixels.at<std::uint16_t>(i), 257 * i);
  const DepthImage flat = depthImage(cv::Mat(2, 2, CV_32F, cv::Scalar(7)), DepthUnit::kRelative);
  EXPECT_EQ(flat.offset + flat.step * flat.pixels.at<std::uint16_t>(0, 0), 7);
}

TEST(DepthPicture, RunsFromTheFirstColourToTheLast) {
  const cv::Mat picture = depthPicture(kDepths, {1, 0, 9});
  ASSERT_EQ(picture.type(), CV_8UC3);
  EXPECT_EQ(picture.at<cv::Vec3b>(0, 0), depthColors()[0]);
  EXPECT_EQ(picture.at<cv::Vec3b>(1, 0), depthColors()[255]);
  EXPECT_EQ(picture.at<cv::Vec3b>(1, 2), depthColors()[255]) << "beyond the range";
  EXPECT_NE(depthColors()[0], depthColors()[255]);
  EXPECT_EQ(depthPicture(kDepths, {1, 1, 1}).size(), kDepths.size()) << "one depth everywhere";
}

}  // namespace
}  // namespace mpm::vision
