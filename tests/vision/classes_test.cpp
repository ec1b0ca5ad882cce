// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/classes.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <set>
#include <tuple>

#include "support/matchers.h"
#include "vision/pictures/pictures.h"

namespace mpm::vision {
namespace {

TEST(ClassNames, EveryClassHasANameOfItsOwn) {
  ModelInfo model;
  model.classes = 6;
  model.facts.classes = {{"car", {}}, {"road", {}}, {"car", {}}, {"", {}}};
  EXPECT_THAT(classNames(model), ElementsAre("car", "road", "car_2", "class_3", "class_4", "class_5"));
  model.classes = 2;  // fewer than are named
  EXPECT_THAT(classNames(model), ElementsAre("car", "road"));
  model.classes = 0;
  EXPECT_THAT(classNames(model), IsEmpty());
}

TEST(ClassNames, ANameThatAnotherGetsByItsIndexIsNotTaken) {
  ModelInfo model;
  model.classes = 3;
  model.facts.classes = {{"a_2", {}}, {"a", {}}, {"a", {}}};
  EXPECT_THAT(classNames(model), ElementsAre("a_2", "a", "a_2_2"));
}

TEST(ClassName, IsANumberWithoutAName) {
  EXPECT_EQ(className({"sky", ""}, 0), "sky");
  EXPECT_EQ(className({"sky", ""}, 1), "class_1");
  EXPECT_EQ(className({"sky", ""}, 7), "class_7");
}

TEST(ClassAreas, AreSharesOfThePixels) {
  cv::Mat labels(4, 5, CV_8U, cv::Scalar(255));
  labels(cv::Rect(0, 0, 5, 1)) = 3;
  labels.at<unsigned char>(2, 2) = 0;
  EXPECT_THAT(classAreas(labels), ElementsAre(Pair(0, 1 / 20.), Pair(3, 5 / 20.), Pair(255, 14 / 20.)));
  EXPECT_THAT(classAreas(labels(cv::Rect(1, 0, 2, 2))), ElementsAre(Pair(3, 0.5), Pair(255, 0.5))) << "part of a map";
  EXPECT_THAT(classAreas(cv::Mat()), IsEmpty());
}

TEST(ClassColors, AreThoseOfTheFactsInBgrAndElseOfThePalette) {
  const auto palette = classColors({}, 4);
  const std::array<std::uint8_t, 3> rgb = {1, 2, 3}, other = {4, 5, 6};
  const std::pair<std::vector<ClassInfo>, std::vector<cv::Vec3b>> cases[] = {
      {{{"sky", rgb}, {"road", other}}, {{3, 2, 1}, {6, 5, 4}}},
      {{{"sky", rgb}}, {{3, 2, 1}, palette[1], palette[2], palette[3]}},
      {{{"sky"}, {"road", other}}, {palette[0], {6, 5, 4}}}};
  for (const auto& [classes, colors] : cases)
    EXPECT_EQ(classColors({.name = "any", .classes = classes}, static_cast<int>(colors.size())), colors);
}

TEST(ClassColors, PaletteDoesNotRepeatForEightBitLabels) {
  std::set<std::tuple<int, int, int>> seen;
  for (const cv::Vec3b& color : classColors({}, 256)) seen.insert({color[0], color[1], color[2]});
  EXPECT_EQ(seen.size(), 256u);
  EXPECT_EQ(classColors({}, 2000).size(), 2000u);
}

// sRGB 8 bit to CIE L*a*b* as an eye sees it whose matrix of linear RGB is given.
cv::Vec3f lab(const cv::Vec3b& bgr, const cv::Matx33f& eye = cv::Matx33f::eye()) {
  const auto linear = [](int value) {
    const float v = static_cast<float>(value) / 255;
    return v <= 0.04045f ? v / 12.92f : std::pow((v + 0.055f) / 1.055f, 2.4f);
  };
  cv::Vec3f seen = eye * cv::Vec3f(linear(bgr[2]), linear(bgr[1]), linear(bgr[0]));
  for (int c = 0; c < 3; ++c) {
    const float v = std::clamp(seen[c], 0.f, 1.f);
    seen[c] = v <= 0.0031308f ? v * 12.92f : 1.055f * std::pow(v, 1 / 2.4f) - 0.055f;
  }
  cv::Mat one(1, 1, CV_32FC3, cv::Scalar(seen[0], seen[1], seen[2])), result;
  cv::cvtColor(one, result, cv::COLOR_RGB2Lab);
  return result.at<cv::Vec3f>(0);
}

double apart(const cv::Vec3b& a, const cv::Vec3b& b, const cv::Matx33f& eye = cv::Matx33f::eye()) {
  return cv::norm(lab(a, eye) - lab(b, eye));
}

double hue(const cv::Vec3b& bgr) { return std::atan2(lab(bgr)[2], lab(bgr)[1]) * 180 / CV_PI; }

// Eyes after Machado, Oliveira, Fernandes 2009, another model than the one that the palette was chosen by. Two colours
// 10 apart are reported apart at a glance, 2 apart when they touch.
TEST(ClassColors, PaletteIsApartForColourBlindEyesToo) {
  const std::pair<const char*, cv::Matx33f> eyes[] = {
      {"all cones", cv::Matx33f::eye()},
      {"protanope",
       {0.152286f, 1.052583f, -0.204868f, 0.114503f, 0.786281f, 0.099216f, -0.003882f, -0.048116f, 1.051998f}},
      {"deuteranope",
       {0.367322f, 0.860646f, -0.227968f, 0.280085f, 0.672501f, 0.047413f, -0.011820f, 0.042940f, 0.968881f}}};
  const auto colors = classColors({}, 12);
  for (const auto& [name, eye] : eyes) {
    for (std::size_t i = 0; i < colors.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_GT(apart(colors[i], colors[j], eye), 10) << name << ": " << colors[i] << " and " << colors[j];
    }
  }
}

// Four colours as of asphalt, sky, trees and walls, in quarters.
cv::Mat quarters() {
  cv::Mat picture(160, 160, CV_8UC3);
  const cv::Vec3b colors[] = {{120, 120, 125}, {235, 215, 200}, {70, 110, 90}, {60, 85, 130}};
  for (int i = 0; i < 4; ++i) picture(cv::Rect(80 * (i % 2), 80 * (i / 2), 80, 80)) = cv::Scalar(colors[i]);
  return picture;
}

TEST(ClassColors, NewOnesDifferInLightnessAndHue) {
  std::vector<cv::Vec3b> taken;
  for (int i = 0; i < 5; ++i) {
    const cv::Vec3b color = newClassColor("", taken, quarters());
    for (const cv::Vec3b& other : taken) {
      EXPECT_GT(std::abs(lab(color)[0] - lab(other)[0]), 3) << color << other;
      EXPECT_GT(std::abs(std::remainder(hue(color) - hue(other), 360)), 20) << color << other;
    }
    taken.push_back(color);
  }
}

TEST(ClassColors, NewOnesDifferFromThePicture) {
  const auto nearest = [](const std::vector<cv::Vec3b>& colors, const cv::Mat& picture) {
    double least = 1e9;
    for (const cv::Vec3b& color : colors)
      for (int i = 0; i < 4; ++i) least = std::min(least, apart(color, picture.at<cv::Vec3b>(i / 2 * 80, i % 2 * 80)));
    return least;
  };
  std::vector<cv::Vec3b> taken;
  for (int i = 0; i < 5; ++i) taken.push_back(newClassColor("", taken, quarters()));
  EXPECT_GT(nearest(taken, quarters()), 30);
  const cv::Mat one(160, 160, CV_8UC3, cv::Scalar(newClassColor("", {}, {})));  // what would be taken without a picture
  EXPECT_GT(nearest({newClassColor("", {}, one)}, one), 60);
}

TEST(ClassColors, NewOnesAreWhatTheNameSays) {
  const std::pair<const char*, const char*> names[] = {
      {"sky", "Ciel bleu"},        {"snow", "neige"},         {"Lake", "l'eau"},         {"grass", "Herbes"},
      {"trees", "forêt"},          {"road surface", "ROUTE"}, {"buildings", "Bâtiment"}, {"people", "piétons"},
      {"parked cars", "voitures"}, {"rock", "rochers"}};
  std::vector<cv::Vec3b> taken;
  for (const auto& [english, french] : names) {
    ASSERT_TRUE(usualColor(english)) << english;
    EXPECT_EQ(usualColor(english), usualColor(french)) << french;
    const cv::Vec3b color = newClassColor(english, taken, quarters()), usual = *usualColor(english);
    EXPECT_LT(std::abs(std::remainder(hue(color) - hue(usual), 360)), 0.8 * 180 / CV_PI) << english << color;
    for (const cv::Vec3b& other : taken) EXPECT_GT(apart(color, other), 15) << english << color << other;
    taken.push_back(color);
  }
  for (const char* other : {"", "carpet", "office", "Öl", "merge", "\xC3"}) {
    EXPECT_FALSE(usualColor(other)) << other;
    EXPECT_EQ(newClassColor(other, taken, quarters()), newClassColor("", taken, quarters()));
  }
}

// Two colours 2.3 apart in CIELAB can just be told apart when they touch.
TEST(ClassColors, NewOnesAreFarFromAnyPictureAndEachOther) {
  constexpr int kSide = 96, kClasses = 8;
  for (int surfaces = 1; surfaces <= 8; ++surfaces) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      cv::RNG random(100 * seed + static_cast<std::uint64_t>(surfaces));
      cv::Mat picture(kSide, kSide, CV_8UC3);
      std::vector<cv::Vec3b> shown, classes;
      for (int i = 0; i < surfaces; ++i) {
        shown.emplace_back(random.uniform(0, 256), random.uniform(0, 256), random.uniform(0, 256));
        picture.colRange(kSide * i / surfaces, kSide * (i + 1) / surfaces).setTo(cv::Scalar(shown.back()));
      }
      for (int c = 0; c < kClasses; ++c) {
        const cv::Vec3b color = newClassColor("", classes, picture);
        for (const cv::Vec3b& other : classes) EXPECT_GT(apart(color, other), 15) << surfaces << " " << seed;
        for (const cv::Vec3b& below : shown) EXPECT_GT(apart(color, below), 15) << surfaces << " " << seed;
        classes.push_back(color);
      }
    }
  }
}

TEST(ClassColors, TheFirstNDoNotDependOnHowManyWereAskedFor) {
  const auto few = classColors({}, 11), many = classColors({}, 150);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

}  // namespace
}  // namespace mpm::vision
