// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>

#include "mpm/pictures.hpp"

namespace mpm {
namespace {

TEST(ClassColors, AreThoseOfTheFactsInBgr) {
  ModelFacts facts;
  facts.classes = {{"sky", {1, 2, 3}}, {"road", {4, 5, 6}}};
  const auto colors = classColors(facts, 2);
  ASSERT_EQ(colors.size(), 2u);
  EXPECT_EQ(colors[0], cv::Vec3b(3, 2, 1));
  EXPECT_EQ(colors[1], cv::Vec3b(6, 5, 4));
}

TEST(ClassColors, FillUpFromThePaletteWhereFactsNameFewer) {
  ModelFacts facts;
  facts.classes = {{"sky", {1, 2, 3}}};
  const auto colors = classColors(facts, 4), palette = classColors({}, 4);
  ASSERT_EQ(colors.size(), 4u);
  EXPECT_EQ(colors[0], cv::Vec3b(3, 2, 1));
  for (int c = 1; c < 4; ++c) EXPECT_EQ(colors[c], palette[c]);
}

TEST(ClassColors, PaletteDoesNotRepeatForEightBitLabels) {
  std::set<std::tuple<int, int, int>> seen;
  for (const cv::Vec3b& color : classColors({}, 256)) seen.insert({color[0], color[1], color[2]});
  EXPECT_EQ(seen.size(), 256u);
}

TEST(ClassColors, PaletteGivesAnyNumber) { EXPECT_EQ(classColors({}, 2000).size(), 2000u); }

TEST(ClassColors, TheFirstNDoNotDependOnHowManyWereAskedFor) {
  const auto few = classColors({}, 11), many = classColors({}, 150);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

// A person without M cones sees red and green mix: what is left is (0.29 R + 0.71 G, B), in linear light.
TEST(ClassColors, StayApartForDeuteranopes) {
  const auto colors = classColors({}, 8);
  const auto linear = [](int v) { return std::pow(v / 255.0, 2.2); };
  for (std::size_t i = 0; i < colors.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto yellow = [&](const cv::Vec3b& c) { return std::cbrt(0.29 * linear(c[2]) + 0.71 * linear(c[1])); };
      const auto blue = [&](const cv::Vec3b& c) { return std::cbrt(linear(c[0])); };
      EXPECT_GT(std::hypot(yellow(colors[i]) - yellow(colors[j]), blue(colors[i]) - blue(colors[j])), 0.1)
          << colors[i] << " and " << colors[j];
    }
}

}  // namespace
}  // namespace mpm
