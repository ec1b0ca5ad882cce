// SPDX-License-Identifier: Apache-2.0
#include "net/preprocess.h"

#include "support/pictures.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

ModelFacts deit() {
  ModelFacts facts;
  facts.mean = {0.485f, 0.456f, 0.406f};
  facts.deviation = {0.229f, 0.224f, 0.225f};
  return facts;
}

TEST(Normalizer, IsTheFormulaOnPlanesInTheOrderOfTheNet) {
  const cv::Mat image = test::noisePicture(40, 30)(cv::Rect(3, 2, 21, 35));  // rows that are not contiguous
  for (const ChannelOrder channels : {ChannelOrder::kRgb, ChannelOrder::kBgr}) {
    ModelFacts facts = deit();
    facts.channels = channels;
    cv::Mat planes;
    Normalizer{facts}(image, planes, Serial());
    ASSERT_EQ(planes.dims, 4);
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < image.rows; ++y)
        for (int x = 0; x < image.cols; ++x) {
          const int from = channels == ChannelOrder::kRgb ? 2 - c : c;
          const double expected = (image.at<cv::Vec3b>(y, x)[from] / 255.0 - facts.mean[c]) / facts.deviation[c];
          ASSERT_NEAR((planes.ptr<float>(0, c, y)[x]), expected, 1e-6)
              << toString(channels) << " " << c << " " << y << " " << x;
        }
  }
}

TEST(Normalizer, ReusesItsMemory) {
  const Normalizer normalize(deit());
  cv::Mat planes;
  normalize(cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(1)), planes, Serial());
  const auto* before = planes.data;
  normalize(cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(2)), planes, Serial());
  EXPECT_EQ(planes.data, before);
}

TEST(Normalizer, RefusesFactsThatMakeNoSense) {
  ModelFacts facts = deit();
  facts.deviation[1] = 0;
  EXPECT_MPM_ERROR(Normalizer{facts}, "std must be positive");
}

}  // namespace
}  // namespace mpm
