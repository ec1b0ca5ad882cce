// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/region_meter.h"

#include <opencv2/imgproc.hpp>

#include "support/matchers.h"

namespace mpm::monitor {
namespace {

const cv::Size kSize{64, 48};

vision::Region box(const std::string& name, cv::Rect place) {
  const double l = place.x, t = place.y, r = place.br().x - 1, b = place.br().y - 1;
  return {.name = name, .size = kSize, .polygons = {{{l, t}, {r, t}, {r, b}, {l, b}}}};
}

struct Picture {
  Picture() : image(kSize, CV_8UC3), labels(kSize, CV_8U) {
    cv::RNG random(7);
    random.fill(image, cv::RNG::UNIFORM, 0, 256);
    random.fill(labels, cv::RNG::UNIFORM, 0, 4);
    report.grid = {6, 8};
    report.cluster_of_token = {std::vector<int>(48)};
    for (int i = 0; i < 48; ++i) report.cluster_of_token[0][i] = i < 24 ? i : 24 + (i - 24) / 2;  // pairs below
  }
  // Without the whole picture, which is `whole`.
  std::vector<RegionSample> measure(RegionMeter& meter, UnixMs time = 0, const ViewMotion& place = {}) {
    Sample sample{.time = time, .view_offset = place};
    try {
      meter.measure(sample, {}, image, labels, report);
    } catch (const Error&) {
      whole = sample.whole();
      throw;
    }
    whole = sample.whole();
    sample.regions.erase(sample.regions.begin());
    return sample.regions;
  }

  cv::Mat image, labels;
  RunReport report;
  RegionSample whole;
};

TEST(RegionMeter, FollowsTheViewThatMoved) {
  Picture picture;
  const vision::Region stamp = {
      .name = "stamp", .ignore = true, .size = kSize, .polygons = {{{0, 0}, {19, 0}, {19, 5}, {0, 5}}}};
  RegionMeter meter({box("a", {20, 16, 16, 12}), stamp});
  Picture later = picture;
  later.image = cv::Mat();  // else one picture would be both
  const cv::Matx23d matrix(1, 0, 6, 0, 1, -4);
  cv::warpAffine(picture.image, later.image, matrix, kSize);
  const auto before = picture.measure(meter), still = later.measure(meter);
  const auto after = later.measure(meter, 0, {.right = 6, .down = -4});
  EXPECT_EQ(after[0].value("pixels"), before[0].value("pixels"));
  EXPECT_EQ(after[0].value("green"), before[0].value("green"));
  EXPECT_NE(still[0].value("green"), before[0].value("green"));
  EXPECT_EQ(later.whole.value("pixels"), 64 * 48 - (20 * 6 + 20 * 2 - 14 * 2)) << "the stamp stays and what it covered";
  EXPECT_EQ(picture.measure(meter)[0].value("green"), before[0].value("green")) << "and back";
}

// A picture of 64x48 with a region of 4x4; the cut-out around it has 42x32, in the shape of the grid.
TEST(RegionMeter, ClassesAtTheResolutionOfTheCameraAreOfACutOut) {
  Picture picture;
  picture.labels.setTo(0);
  vision::Region latch = box("latch", {30, 20, 4, 4});
  latch.cut_out_s = 60;
  RegionMeter meter({latch, box("road", {0, 0, 20, 20})});
  std::vector<cv::Mat> looks;
  int label = 1;
  bool works = true;
  const auto look = [&](const cv::Mat& cut_out) {
    looks.push_back(cut_out);
    cv::Mat labels(cut_out.size(), CV_8U, cv::Scalar(3));
    labels(cv::Rect(cut_out.cols / 2 - 2, cut_out.rows / 2 - 2, 2, 4)).setTo(label);
    return works ? labels : cv::Mat();
  };
  using Areas = std::vector<std::pair<int, double>>;
  FrameFacts facts{.quality = PictureQuality()};
  const auto areasAt = [&](UnixMs time, const ViewMotion& place = {}) {
    Sample sample{.time = time, .view_offset = place};
    meter.measure(sample, facts, picture.image, picture.labels, picture.report, look);
    EXPECT_EQ(sample.regions.at(2).areas, (Areas{{0, 1.0}})) << "the other region is of the whole picture";
    EXPECT_EQ(sample.regions.at(0).areas, (Areas{{0, 1.0}}));
    return sample.regions.at(1).areas;
  };
  EXPECT_EQ(areasAt(0), (Areas{{1, 0.5}, {3, 0.5}}));
  ASSERT_THAT(looks, SizeIs(1));
  EXPECT_EQ(looks[0].size(), cv::Size(43, 32));
  EXPECT_EQ(cv::norm(looks[0], picture.image(cv::Rect(11, 6, 43, 32)), cv::NORM_INF), 0) << "around the region";
  label = 2;
  EXPECT_EQ(areasAt(30 * kSecondMs), (Areas{{1, 0.5}, {3, 0.5}})) << "the last look holds";
  facts.quality->flags = kDark;
  EXPECT_EQ(areasAt(59 * kSecondMs), (Areas{{1, 0.5}, {3, 0.5}})) << "a flagged picture would count in good samples";
  facts.quality->flags = 0;
  EXPECT_EQ(areasAt(60 * kSecondMs), (Areas{{2, 0.5}, {3, 0.5}}));
  EXPECT_THAT(looks, SizeIs(2));
  (void)areasAt(70 * kSecondMs, {.right = 3});
  EXPECT_THAT(looks, SizeIs(2)) << "what was seen still shows the region";
  (void)areasAt(80 * kSecondMs, {.right = 28});
  EXPECT_THAT(looks, SizeIs(3)) << "the region has left it";
  meter.lookAgain();
  label = 1;
  EXPECT_EQ(areasAt(90 * kSecondMs), (Areas{{1, 0.5}, {3, 0.5}})) << "another model";
  works = false;
  EXPECT_EQ(areasAt(150 * kSecondMs), (Areas{{0, 1.0}})) << "else the labels of the picture";
  EXPECT_EQ(areasAt(151 * kSecondMs), (Areas{{0, 1.0}}));
  EXPECT_THAT(looks, SizeIs(5)) << "a look that fails waits for its turn";
  Sample sample{.time = 300 * kSecondMs};
  meter.measure(sample, {}, picture.image, picture.labels, picture.report);
  EXPECT_THAT(looks, SizeIs(5)) << "for display nothing is looked at";
}

}  // namespace
}  // namespace mpm::monitor
