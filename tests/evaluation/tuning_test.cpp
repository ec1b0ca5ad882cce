// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/quantiles.h"
#include "cli/models.h"
#include "evaluation/statistics.h"
#include "evaluation/tuning.h"
#include "mpm/convert.hpp"
#include "support/throws_with.h"

namespace mpm::evaluation {
namespace {

TEST(ParetoFront, HasWhatNoOtherBeats) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(paretoFront({{10, 60}, {8, 59}, {9, 58}, {8, 57}, {12, 60}, {7, nan}}),
              ElementsAre(true, true, false, false, false, false));
  EXPECT_THAT(paretoFront({{1, 1}, {1, 1}}), ElementsAre(true, true)) << "equal points do not beat each other";
  EXPECT_TRUE(paretoFront({}).empty());
}

TEST(BlockBootstrap, SaysWhatIsNotKnown) {
  const double nan = std::nan("");
  const BlockBootstrap one({0, 0}), two({0, 1});
  EXPECT_EQ(one.interval(one.means({1, 3})).value, 2);
  EXPECT_TRUE(std::isnan(one.interval(one.means({1, 3})).low)) << "one block has no interval";
  EXPECT_EQ(two.interval(two.means({nan, 3})).value, 3) << "an image without the number does not count";
  EXPECT_TRUE(std::isnan(two.interval(two.means({nan, nan})).value));
  EXPECT_EQ(two.medians({4, 1}).front(), 2.5);
  EXPECT_EQ(BlockBootstrap({0, 1, 2, 3}).medians({3, 1, nan, 2}).front(), 2);
  // 12.7062 is Student's quantile for one degree of freedom, 1.95996 that of the normal distribution.
  EXPECT_NEAR(two.interval({10, 4, 4}).low, 10 - 6 * 12.7062 / 1.95996 * std::sqrt(2), 1e-3);
  const Interval same = two.percentInterval(two.means({100, 90}));
  EXPECT_EQ(same.high, 100) << "a share ends there";
  EXPECT_GT(two.interval(two.means({100, 90})).high, 100);
}

TEST(Spread, TakesPicturesFromAllOfTheTime) {
  std::vector<int> taken;
  for (int i = 0; i < 10; ++i)
    if (isInSpread(i, 10, 4)) taken.push_back(i);
  EXPECT_THAT(taken, ElementsAre(2, 4, 7, 9));
  EXPECT_TRUE(isInSpread(0, 3, 4));
}

TuneRow rowOf(const char* reduce, Interval speed_up, Interval agreement) {
  return {parseReduction(reduce), 0, {.agreement = agreement, .loss = {}, .speed_up = speed_up}};
}

TEST(FastestRow, PassesByTheLowerEndAndOfEqualSpeedsAgreesMost) {
  const TuneRow full = rowOf("none", {1, 1, 1}, {100, 100, 100});
  const std::vector<TuneRow> apart = {rowOf("mpm", {1.8, 1.7, 1.9}, {99.4, 98.9, 99.9}),
                                      rowOf("tome", {1.4, 1.3, 1.5}, {99.3, 99.1, 99.5}), full};
  EXPECT_EQ(fastestRow(apart, 99), 1u);
  EXPECT_EQ(fastestRow(apart, 98.9), 0u);
  EXPECT_EQ(fastestRow(apart, 99.2), 2u) << "the full model where none passes";
  const std::vector<TuneRow> alike = {rowOf("mpm", {1.60, 1.5, 1.7}, {99.2, 99.0, 99.4}),
                                      rowOf("tome", {1.57, 1.5, 1.61}, {99.8, 99.7, 99.9}),
                                      rowOf("algm", {1.50, 1.4, 1.59}, {99.9, 99.9, 99.9}), full};
  EXPECT_EQ(fastestRow(alike, 99), 1u) << "1.57 is 1.60 within its noise, 1.50 is not";
  EXPECT_EQ(fastestRow(alike, 99.8), 2u);
}

TEST(UsualReductions, LeaveEqualTokensByTwoMethods) {
  const std::vector<Reduction> reductions = usualReductions(test::kSegmenter, {});
  int equal = 0;
  for (const Reduction& gradual : reductions) {
    for (const Reduction& tome : reductions) {
      if (gradual.method == ReductionMethod::kGradual && tome.method == ReductionMethod::kTome && gradual.count) {
        equal += *gradual.count * static_cast<int>(gradual.blocks->size()) ==
                 *tome.count * readModelInfo(test::kSegmenter, {}).blocks;
      }
    }
  }
  EXPECT_EQ(equal, 3);
  using enum ReductionMethod;
  for (const auto& [method, there] : {std::pair(kMpm, true), {kGradual, true}, {kTome, true}, {kAlgm, false}})
    EXPECT_EQ(std::ranges::count(reductions, method, &Reduction::method) > 0, there) << "algm needs a fourth block";
  EXPECT_EQ(usualReductions(test::kSegmenter, {.device = "cuda"}), reductions) << "all methods merge on a GPU";
}

class Tune : public ::testing::Test {
 protected:
  Tune() {
    for (int i = 0; i < 9; ++i) pictures_.push_back(test::smoothPicture(32, 64, i + 1));
  }
  static bool goOn(int, int) { return true; }
  std::vector<cv::Mat> pictures_;
};

// Each row is computed again here, with a net of its own.
TEST_F(Tune, MeasuresAllOnTheSamePictures) {
  int last = 0;
  const auto rows = tuneRows(test::kSegmenter, {}, pictures_, [&](int done, int all) {
    EXPECT_EQ(done, ++last);
    EXPECT_LE(done, all);
    return true;
  });
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(last, static_cast<int>(rows->size() * pictures_.size()));
  EstimatorOptions options{.reduce = kFullModel, .task = Task::kSemantic};
  Estimator full(test::kSegmenter, options);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const TuneRow& row = (*rows)[i];
    SCOPED_TRACE(toString(row.variant));
    options.reduce = row.variant;
    Estimator own(test::kSegmenter, options);
    double agreement = 0, tokens = 0;
    for (const cv::Mat& picture : pictures_) {
      const Estimate one = own.estimate(picture), whole = full.estimate(picture);
      agreement += 100.0 * cv::countNonZero(one.labels == whole.labels) / static_cast<double>(one.labels.total()) / 9;
      tokens += one.tokens.back() / 9.0;
    }
    EXPECT_NEAR(row.against_full.agreement.value, agreement, 1e-9);
    EXPECT_NEAR(row.tokens, tokens, 1e-9);
    if (i > 0) {
      EXPECT_LE(row.against_full.speed_up.value, (*rows)[i - 1].against_full.speed_up.value) << "the fastest first";
    }
    EXPECT_EQ(row.variant == kFullModel, row.against_full.agreement.low == 100 && row.tokens == 32);
  }
}

TEST_F(Tune, StopsAndRefuses) {
  int calls = 0;
  EXPECT_FALSE(tuneRows(test::kSegmenter, {}, pictures_, [&](int, int) { return ++calls < 5; }).has_value());
  EXPECT_EQ(calls, 5);
  EXPECT_MPM_ERROR(tuneRows(test::kSegmenter, {}, {pictures_[0]}, goOn), "at least 8 pictures, not 1");
  const test::TemporaryFolder folder;
  convertFile(test::kSegmenter, folder / "m.onnx", {.reduce = kFullModel});
  EXPECT_MPM_ERROR(tuneRows(folder / "m.onnx", {}, pictures_, goOn), "is converted already");
  EXPECT_MPM_ERROR(tuneRows(test::kClassifier, {}, pictures_, goOn), "gives no labels to compare");
}

}  // namespace
}  // namespace mpm::evaluation
