// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/classes.h"

#include <gmock/gmock.h>

namespace mpm::vision {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

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

}  // namespace
}  // namespace mpm::vision
