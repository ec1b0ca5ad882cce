// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/picture_quality.h"

#include <algorithm>
#include <cstdio>
#include <opencv2/imgproc.hpp>

#include "monitor/samples.h"
#include "support/throws_with.h"
#include "vision/sources/source.h"

namespace mpm::monitor::test {
namespace {

std::vector<cv::Mat> pictures(const std::string& options) {
  std::vector<cv::Mat> all;
  const auto source = vision::openSource("demo:street?" + options);
  while (const auto frame = source->next()) all.push_back(frame->image.clone());
  return all;
}

cv::Mat scaled(const cv::Mat& image, double factor, double plus = 0) {
  cv::Mat result;
  image.convertTo(result, CV_8U, factor, plus);
  return result;
}

// As a lens does it: the noise of the sensor stays.
cv::Mat blurred(const cv::Mat& image, double sigma, double noise = 2) {
  cv::Mat soft, grain(image.size(), CV_16SC3), sum;
  const double factor = sigma > 20 ? 1. / 16 : 1;  // which takes no time
  cv::resize(image, soft, {}, factor, factor, cv::INTER_AREA);
  cv::GaussianBlur(soft, soft, {}, factor * sigma);
  cv::resize(soft, soft, image.size(), 0, 0, cv::INTER_CUBIC);
  cv::RNG(7).fill(grain, cv::RNG::NORMAL, 0, noise);
  soft.convertTo(sum, CV_16S);
  sum += grain;
  sum.convertTo(soft, CV_8U);
  return soft;
}

struct Change {
  const char* name;
  int flags;  // that it should get
  std::function<cv::Mat(const cv::Mat&)> make;
};
const std::vector<Change> kChanges = {
    {"as it is", 0, [](const cv::Mat& p) { return p; }},
    {"blurred by 3 px", kBlurred, [](const cv::Mat& p) { return blurred(p, 3); }},
    {"blurred by 6 px", kBlurred, [](const cv::Mat& p) { return blurred(p, 6); }},
    {"blurred by 12 px", kBlurred, [](const cv::Mat& p) { return blurred(p, 12); }},
    {"blurred by 12 px, noise 6", kBlurred, [](const cv::Mat& p) { return blurred(p, 12, 6); }},
    {"exposure x 4", kOverexposed, [](const cv::Mat& p) { return scaled(p, 4); }},
    {"exposure x 8", kOverexposed, [](const cv::Mat& p) { return scaled(p, 8); }},
    {"exposure x 0.2", 0, [](const cv::Mat& p) { return scaled(p, 0.2); }},
    {"exposure x 0.05", kDark, [](const cv::Mat& p) { return scaled(p, 0.05); }},
    {"lens cap", kDark, [](const cv::Mat& p) { return blurred(scaled(p, 0), 1, 3); }},
    {"a hand before the lens", kFogged, [](const cv::Mat& p) { return blurred(scaled(p, 0.3, 40), 60); }},
    {"the same, noise 10", kFogged, [](const cv::Mat& p) { return blurred(scaled(p, 0.3, 40), 60, 10); }},
    {"mist on the lens, 80 %", 0, [](const cv::Mat& p) { return scaled(p, 0.2, 140); }},
    {"mist on the lens, 95 %", kFogged, [](const cv::Mat& p) { return scaled(p, 0.05, 140); }}};

const QualityOptions kSharp = {.sharp = 5};  // of streets

int flagsOf(const cv::Mat& image) { return measureQuality(image, kSharp)->flags; }

TEST(PictureQuality, GoodPicturesByDayAndNightAreGood) {
  for (const char* when : {"2026-06-12T10:00", "2026-12-12T23:30"}) {
    for (const char* weather : {"clear", "rain", "snow", "fog"}) {
      for (const cv::Mat& image : pictures("frames=1&seed=3&start=" + std::string(when) + "&weather=" + weather))
        EXPECT_EQ(flagsOf(image), 0) << when << ", " << weather;
    }
  }
}

TEST(PictureQuality, EachFaultHasItsFlag) {
  for (const char* when : {"2026-06-12T10:00", "2026-12-12T23:30"}) {
    for (const cv::Mat& image : pictures("frames=1&seed=3&start=" + std::string(when))) {
      for (const Change& change : kChanges) {
        if (std::string_view(change.name) == "blurred by 3 px" || change.flags == kOverexposed) continue;
        EXPECT_EQ(flagsOf(change.make(image)), change.flags) << when << ", " << change.name;
      }
    }
  }
  EXPECT_EQ(flagsOf(scaled(pictures("frames=1&seed=3")[0], 8)), kOverexposed);
}

TEST(PictureQuality, NoiseIsNoDetailAndOfSmallPicturesNothingIsSaid) {
  cv::Mat grain(512, 512, CV_8UC3);
  cv::RNG(7).fill(grain, cv::RNG::NORMAL, 128, 12);
  EXPECT_LT(measureQuality(grain, {})->sharpness, 8);
  EXPECT_EQ(measureQuality(grain, {})->flags & kBlurred, 0) << "scenes differ";
  for (const cv::Size size : {cv::Size(63, 63), {1920, 60}, {}})
    EXPECT_FALSE(measureQuality(cv::Mat(size, CV_8UC3, cv::Scalar::all(9)), {})) << size;
}

TEST(PictureQuality, DarkIsLessThanOnePercentAboveTheLevel) {
  cv::Mat picture(100, 100, CV_8UC3, cv::Scalar::all(25));
  EXPECT_EQ(measureQuality(picture, {})->flags, kDark) << "no pixel exceeds 25";
  picture.row(0).colRange(0, 99).setTo(cv::Scalar::all(26));
  EXPECT_EQ(measureQuality(picture, {})->flags, kDark);
  picture.row(0).setTo(cv::Scalar::all(26));
  EXPECT_NE(measureQuality(picture, {})->flags, kDark) << "one percent is not less";
  EXPECT_NE(measureQuality(cv::Mat(100, 100, CV_8UC3, cv::Scalar::all(0)), {.dark = 0})->flags, kDark) << "off";
}

TEST(PictureQuality, OptionsAreReadAndChecked) {
  EXPECT_EQ(parseQuality("auto"), QualityOptions{});
  EXPECT_EQ(parseQuality("dark=0:white=90:contrast=1.5:sharp=30:pictures=2"),
            (QualityOptions{.dark = 0, .white = 90, .contrast = 1.5, .sharp = 30, .pictures = 2}));
  EXPECT_MPM_ERROR(parseQuality("bright=3"), "'bright' is none of dark=25, white=50, contrast=3, sharp=0, pictures=5");
  EXPECT_MPM_ERROR(parseQuality("dark=3:dark=4"), "'dark' is there twice");
  EXPECT_MPM_ERROR(parseQuality("dark=x"), "'x' is not a number for dark");
  EXPECT_MPM_ERROR(parseQuality("pictures=1.5"), "'1.5' is not a number for pictures");
  EXPECT_MPM_ERROR(parseQuality("pictures=0"), "pictures must be 1 or more");
  EXPECT_MPM_ERROR(parseQuality("white=101"), "white '101' is not between 0 and 100");
  EXPECT_MPM_ERROR(parseQuality(""), "'' is none of dark=25");
}

std::string textOf(int flags) {
  std::string text;
  for (const QualityFlag flag : {kDark, kOverexposed, kBlurred, kFogged})
    if (flags & flag) text += (text.empty() ? "" : ", ") + toText(flag);
  return text.empty() ? "good" : text;
}

// The tables of docs/monitor.md.
TEST(PictureQuality, LongTableByLightAndWeather) {
  const std::pair<const char*, const char*> kLights[] = {{"day, clear", "weather=clear&start=2026-03-03T08:00"},
                                                         {"day, cloudy", "weather=cloudy&start=2026-03-03T09:00"},
                                                         {"day, rain", "weather=rain&start=2026-03-03T09:00"},
                                                         {"day, snow", "weather=snow&start=2026-01-03T09:00"},
                                                         {"day, fog", "weather=fog&start=2026-03-03T09:00"},
                                                         {"dusk", "weather=clear&start=2026-03-20T18:10"},
                                                         {"night, clear", "weather=clear&start=2026-03-03T22:30"},
                                                         {"night, rain", "weather=rain&start=2026-03-03T23:00"},
                                                         {"night, fog", "weather=fog&start=2026-03-03T23:00"}};
  std::map<std::string, std::map<bool, std::vector<int>>> flagged;  // by change, night
  std::printf("| light | sharpness | contrast | saturated, %% | flagged |\n|---|---|---|---|---|\n");
  for (const auto& [light, options] : kLights) {
    std::vector<PictureQuality> found;
    const bool night = std::string_view(light).starts_with("night");
    for (int seed = 1; seed <= 8; ++seed) {
      for (const char* variety : {"0", "1"}) {
        for (const cv::Mat& image :
             pictures("frames=1&seed=" + std::to_string(seed) + "&variety=" + variety + "&" + options)) {
          for (const Change& change : kChanges) {
            const PictureQuality quality = *measureQuality(change.make(image), kSharp);
            if (change.name == kChanges[0].name) found.push_back(quality);
            flagged[change.name][night].push_back(quality.flags);
          }
        }
      }
    }
    const auto range = [&](double PictureQuality::*value, double factor) {
      std::vector<double> all;
      for (const PictureQuality& quality : found) all.push_back(factor * quality.*value);
      std::sort(all.begin(), all.end());
      std::printf(" %.3g (%.3g to %.3g) |", all[all.size() / 2], all.front(), all.back());
    };
    std::printf("| %s |", light);
    range(&PictureQuality::sharpness, 1);
    range(&PictureQuality::contrast, 1);
    range(&PictureQuality::saturated, 100);
    const auto bad = std::count_if(found.begin(), found.end(), [](const auto& one) { return one.flags != 0; });
    std::printf(" %d of %zu |\n", static_cast<int>(bad), found.size());
    EXPECT_LE(bad, std::string_view(light) == "day, fog" ? 3 : 0) << light;  // a lens that is not sharp, in dense fog
  }
  std::printf("\n| picture | by day | by night |\n|---|---|---|\n");
  for (const Change& change : kChanges) {
    std::printf("| %s |", change.name);
    for (bool night : {false, true}) {
      std::map<int, int> counts;
      const auto& all = flagged[change.name][night];
      for (int flags : all) ++counts[flags];
      for (const auto& [flags, count] : counts)
        std::printf(" %s %.0f %%", textOf(flags).c_str(), 100. * count / static_cast<double>(all.size()));
      std::printf(" |");
    }
    std::printf("\n");
  }
}

}  // namespace
}  // namespace mpm::monitor::test
