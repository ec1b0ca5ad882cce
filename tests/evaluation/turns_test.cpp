// SPDX-License-Identifier: Apache-2.0
#include "evaluation/turns.h"

#include "cli/models.h"
#include "mpm/convert.hpp"
#include "support/throws_with.h"

namespace mpm::evaluation {
namespace {

std::vector<std::size_t> sizesOf(const std::vector<TurnGroup>& groups) {
  std::vector<std::size_t> sizes;
  std::size_t next = 0;
  for (const TurnGroup& group : groups) {
    EXPECT_EQ(group.first, next);
    sizes.push_back((next = group.last) - group.first);
  }
  return sizes;
}

TEST(TurnGroups, FitIntoMemoryWithTheFullModel) {
  EXPECT_THAT(sizesOf(turnGroups(13, 5'700'000)), ElementsAre(13)) << "ViT-Ti: 23 MB each";
  EXPECT_THAT(sizesOf(turnGroups(6, 86'000'000)), ElementsAre(4, 2)) << "ViT-B: 344 MB each";
  EXPECT_THAT(sizesOf(turnGroups(3, 304'000'000)), ElementsAre(1, 1, 1)) << "ViT-L: 1.2 GB each";
  EXPECT_TRUE(turnGroups(0, 1).empty());
}

class TurnsTest : public ::testing::Test {
 protected:
  TurnsTest() {
    const ModelInfo info = readModelInfo(test::kSegmenter, {});
    std::vector<std::string> classes;
    for (int c = 0; c < info.classes; ++c) classes.push_back(std::to_string(c));
    for (const char* reduce : {"none", "mpm", "tome:count=2"}) {
      variants_.push_back({.options = {.reduce = parseReduction(reduce), .task = Task::kSemantic},
                           .line = {{"reduce", reduce}, {"fit", "resize"}, {"classes", classes}},
                           .full = 0});
    }
  }
  static TurnPicture picture(int index, std::vector<std::size_t> variants) {
    return {.image = test::smoothPicture(32, 64, index + 1),
            .truth = Truth({}, 255),
            .line = {{"name", std::to_string(index)}, {"index", index}},
            .variants = std::move(variants),
            .index = index};
  }
  std::vector<TurnVariant> variants_;
};

TEST_F(TurnsTest, TheFullModelRunsWithEachGroupAndIsMeasuredInItsOwn) {
  Turns turns(test::kSegmenter, variants_, {1, 3}, {});
  int runs = 0;
  const auto measured = turns.measure(picture(0, {1, 2}), [&] { return ++runs > 0; });
  EXPECT_EQ(runs, 3);
  ASSERT_TRUE(measured && measured->size() == 2);
  for (const auto& [v, one] : *measured) {
    EXPECT_EQ(one.line.at("reduce"), variants_[v].line.at("reduce"));
    Estimator own(test::kSegmenter, variants_[v].options), full(test::kSegmenter, variants_[0].options);
    const cv::Mat image = picture(0, {}).image;
    EXPECT_EQ(one.agreement, agreementPercent(own.estimate(image), full.estimate(image)));
  }
  EXPECT_FALSE(turns.measure(picture(1, {1}), [] { return false; }).has_value());
}

TEST_F(TurnsTest, WithLabelsOfTheFullModelTheFirstFrameOfAFilmSaysNothingOfReuse) {
  variants_[1].options.reuse.on = true;
  Turns turns(test::kSegmenter, variants_, {0, 2}, {.labels_of_full = true});
  const auto measuredIn = [&](int index, int film) {
    TurnPicture one = picture(index, {0, 1});
    one.line["film"] = std::to_string(film);
    std::vector<std::size_t> variants;
    const auto measured = turns.measure(one);
    for (const auto& [v, measurement] : measured.value()) {
      variants.push_back(v);
      EXPECT_FALSE(measurement.counts.empty()) << "the labels of the full model count";
      if (v == 1) {
        EXPECT_TRUE(measurement.rows.has_value());
      }
    }
    return variants;
  };
  EXPECT_THAT(measuredIn(0, 0), ElementsAre(0));
  EXPECT_THAT(measuredIn(1, 0), ElementsAre(0, 1));
  EXPECT_THAT(measuredIn(2, 1), ElementsAre(0));
}

TEST_F(TurnsTest, AnErrorNamesThePictureOrItsLabels) {
  Turns turns(test::kSegmenter, variants_, {0, 1}, {});
  TurnPicture empty = picture(0, {0});
  empty.image.release();
  empty.name = "street.png";
  EXPECT_MPM_ERROR(turns.measure(empty), "'street.png': the image is empty");
  TurnPicture small = picture(0, {0});
  small.truth = Truth(cv::Mat1b(2, 2, static_cast<unsigned char>(0)), 255);
  small.label = "labels/street.png";
  EXPECT_MPM_ERROR(turns.measure(small), "'labels/street.png': ");
}

}  // namespace
}  // namespace mpm::evaluation
