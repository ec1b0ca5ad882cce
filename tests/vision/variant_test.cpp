// SPDX-License-Identifier: Apache-2.0
#include "vision/variant.h"

#include <gtest/gtest.h>

#include "support/throws_with.h"

namespace mpm::vision {
namespace {

TEST(Variant, TextGoesBothWays) {
  for (const char* text : {"none", "mpm:blocks=2,5", "mpm:blocks=2,5 proportional", "mpm proportional",
                           "gradual:blocks=0-7:count=48", "tome:count=36:attention=plain", "algm:threshold=0.9"})
    EXPECT_EQ(toString(parseVariant(text)), text);
  EXPECT_EQ(parseVariant("2,5"), mpmBefore({2, 5})) << "a schedule";
  EXPECT_EQ(mpmBefore({}), kFullModel);
  for (const char* text : {"", "5,2", "proportional", "gradual proportional", "tome:count=0"})
    EXPECT_MPM_ERROR(parseVariant(text), "");
}

TEST(Variant, IsThatOfAModel) {
  ModelInfo info;
  EXPECT_EQ(variantOf(info), kFullModel);
  info.schedule = {2};
  EXPECT_EQ(variantOf(info), mpmBefore({2})) << "files from before 0.1 have a schedule only";
  EXPECT_TRUE(variantOf(info).isSchedule());
  info.attention = Attention::kProportional;
  EXPECT_EQ(toString(variantOf(info)), "mpm:blocks=2 proportional");
  EXPECT_FALSE(variantOf(info).isSchedule());
  info.reduction = parseReduction("gradual:count=3");
  EXPECT_EQ(toString(variantOf(info)), "gradual:count=3") << "its attention is part of the method";
}

TEST(Variant, TakesThePlaceOfAnotherReduction) {
  ConvertOptions base{.schedule = Schedule{1}, .attention = Attention::kProportional, .precision = Precision::kBf16};
  const ConvertOptions options = parseVariant("tome:count=3").options(base);
  EXPECT_NO_THROW(options.validate());
  EXPECT_EQ(toString(*options.reduce), "tome:count=3");
  EXPECT_EQ(options.precision, Precision::kBf16);
}

}  // namespace
}  // namespace mpm::vision
