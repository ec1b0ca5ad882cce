// SPDX-License-Identifier: Apache-2.0
#include <opencv2/imgproc.hpp>

#include "scene/street.h"
#include "support/throws_with.h"

namespace mpm::scene {
namespace {

TEST(StreetOptions, EveryKey) {
  const StreetOptions o = parseStreet(
      "street?seed=18446744073709551615&start=2026-06-21T04:00&speed=600&fps=12.5&size=200x320&weather=snow&latitude=-"
      "33.9"
      "&longitude=18.4&shake=0&noise=2&variety=0.25&jpeg=80&frames=12");
  EXPECT_EQ(o.seed, 18446744073709551615u);
  EXPECT_EQ(o.start, 1782014400);
  EXPECT_EQ(o.speed, 600);
  EXPECT_EQ(o.fps, 12.5);
  EXPECT_EQ(o.size, cv::Size(320, 200));
  EXPECT_EQ(o.weather, Weather::kSnow);
  EXPECT_EQ(o.latitude, -33.9);
  EXPECT_EQ(o.longitude, 18.4);
  EXPECT_EQ(o.shake, 0);
  EXPECT_EQ(o.noise, 2);
  EXPECT_EQ(o.variety, 0.25);
  EXPECT_EQ(o.jpeg, 80);
  EXPECT_EQ(o.frames, 12);
  EXPECT_EQ(o.timeOf(5), 1782014400 + 5 * 600 / 12.5);
}

TEST(StreetOptions, DayIsOneOfTheStreet) {
  const StreetOptions day = parseStreet("day");
  EXPECT_EQ(day.frames, 144);
  EXPECT_EQ(day.timeOf(144) - day.timeOf(0), 86400);
  EXPECT_EQ(parseStreet("day?step=60&frames=2&weather=rain").timeOf(1), day.start + 60);
  EXPECT_EQ(parseStreet("day?speed=1").timeOf(1), day.start + 0.04);
  EXPECT_MPM_ERROR(parseStreet("night"), "there are demo:street and demo:day");
}

TEST(StreetOptions, SeveralStreetsDifferInTheirSeed) {
  const auto streets = parseStreets("street?seed=3..5&frames=2&size=64x96");
  ASSERT_EQ(streets.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(streets[i].seed, 3 + i);
    EXPECT_EQ(streets[i].size, cv::Size(96, 64));
    EXPECT_EQ(streets[i].frames, 2);
  }
  EXPECT_EQ(parseStreets("street?seed=7..7").size(), 1u);
  EXPECT_EQ(parseStreets("").front().seed, StreetOptions().seed);
  EXPECT_MPM_ERROR(parseStreets("street?seed=1..2"), "frames=N");
  EXPECT_MPM_ERROR(parseStreets("street?seed=2..1&frames=1"), "seed=2..1");
  EXPECT_MPM_ERROR(parseStreets("street?seed=1..&frames=1"), "seed=1..");
  EXPECT_MPM_ERROR(parseStreets("street?seed=0..18446744073709551615&frames=1"), "at most");
  EXPECT_MPM_ERROR(parseStreet("street?seed=1..2&frames=1"), "only one street");
}

TEST(StreetOptions, StepIsTheSpeedOfAFrame) {
  EXPECT_EQ(parseStreet("street?step=600&start=0&frames=3").timeOf(2), 1200);
  EXPECT_EQ(parseStreet("street?step=1314000&fps=2&start=0").timeOf(24), 365 * 86400);
  EXPECT_MPM_ERROR(parseStreet("street?step=600&speed=1"), "speed and step");
  EXPECT_MPM_ERROR(parseStreet("street?step=-1"), "speed");
  EXPECT_MPM_ERROR(parseStreet("street?step=often"), "step=often");
}

TEST(StreetOptions, EndBefore2100) {
  EXPECT_MPM_ERROR(parseStreet("street?frames=3&speed=1e8&fps=1e-6"), "the last frame must be before the year 2100");
  EXPECT_MPM_ERROR(parseStreet("street?speed=1e8&fps=1e-6"), "2100");
  EXPECT_MPM_ERROR(parseStreet("street?start=2099-12-31T00:00&step=86400&frames=3"), "2100");
  EXPECT_EQ(parseStreet("street?start=2099-12-31T00:00&step=86400&frames=2").frames, 2);
  EXPECT_EQ(parseStreet("street?speed=1e8&fps=1e-6&frames=1").frames, 1);
}

TEST(StreetOptions, RefusalsNameTheKeyAndWhatIsAllowed) {
  EXPECT_MPM_ERROR(parseStreet("beach"), "'beach'");
  const auto refused = [](const std::string& option, const std::string& why) {
    EXPECT_MPM_ERROR(parseStreet("street?" + option), why);
  };
  for (const char* as_written : {"seed=-1", "seed=", "seed=7x", "weather=hail", "variety=wide"})
    refused(as_written, as_written);
  for (const std::string out_of_range :
       {"start=nan", "speed=-1", "speed=inf", "fps=0", "latitude=91", "jpeg=101", "noise=-0.1", "frames=-1"})
    refused(out_of_range, out_of_range.substr(0, out_of_range.find('=')));
  for (const char* variety : {"-0.1", "1.1", "nan"}) refused(std::string("variety=") + variety, "must be 0 to 1");
  for (const char* time : {"2026-02-29T00:00", "2026-02-28T24:00"})
    refused(std::string("start=") + time, "no such date");
  for (const auto& [option, why] : {std::pair("sead=7", "'sead'"),
                                    {"sead=7", "seed"},
                                    {"seed", "seed="},
                                    {"weather=hail", "fog"},
                                    {"size=640", "448x640"},
                                    {"size=640x", "448x640"},
                                    {"size=8x8", "64x64"},
                                    {"start=yesterday", "YYYY-MM-DD"},
                                    {"&seed=1", "''"}})
    refused(option, why);
}

TEST(ClassStyles, ColoursStayApartToColourBlindEyes) {
  // Linear RGB as people without L cones and without M cones see it (Vienot, Brettel, Mollon 1999).
  const std::array<cv::Matx33f, 3> eyes = {cv::Matx33f::eye(),
                                           {0.11238f, 0.88762f, 0, 0.11238f, 0.88762f, 0, 0.00401f, -0.00401f, 1},
                                           {0.29275f, 0.70725f, 0, 0.29275f, 0.70725f, 0, -0.02234f, 0.02234f, 1}};
  for (const cv::Matx33f& eye : eyes) {
    cv::Mat lab(1, kClasses, CV_32FC3);
    for (int c = 0; c < kClasses; ++c) {
      cv::Vec3f linear;
      for (int i = 0; i < 3; ++i) linear[i] = std::pow(static_cast<float>(kClassStyles[c].rgb[i]) / 255, 2.2f);
      lab.at<cv::Vec3f>(c) = eye * linear;
    }
    cv::cvtColor(lab, lab, cv::COLOR_LRGB2Lab);
    for (int a = 0; a < kClasses; ++a) {
      for (int b = 0; b < a; ++b) {
        EXPECT_GT(cv::norm(lab.at<cv::Vec3f>(a), lab.at<cv::Vec3f>(b)), 20)
            << kClassStyles[a].name << " and " << kClassStyles[b].name;
      }
    }
  }
}

}  // namespace
}  // namespace mpm::scene
