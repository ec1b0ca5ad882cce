// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/quantiles.h"
#include "base/spread.h"
#include "cli/models.h"
#include "evaluation/statistics.h"
#include "evaluation/tuning.h"
#include "mpm/error.hpp"
#include "support/throws_with.h"

namespace mpm::evaluation {
namespace {

using ::testing::ElementsAre;

TEST(ParetoFront, HasWhatNoOtherBeats) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(paretoFront({{10, 60}, {8, 59}, {9, 58}, {8, 57}, {12, 60}, {7, nan}}),
              ElementsAre(true, true, false, false, false, false));
  EXPECT_THAT(paretoFront({{1, 1}, {1, 1}}), ElementsAre(true, true)) << "equal points do not beat each other";
  EXPECT_TRUE(paretoFront({}).empty());
}

TEST(Bootstrap, GivesTheIntervalOfAMean) {
  std::vector<double> values;  // of mean 50 and standard deviation 28.9
  for (int i = 0; i < 400; ++i) values.push_back(0.25 * i);
  const auto mean = [&](const std::vector<int>& pictures) {
    double sum = 0;
    for (const int picture : pictures) sum += values.at(static_cast<std::size_t>(picture));
    return std::vector{sum / static_cast<double>(pictures.size())};
  };
  const auto draws = bootstrap(400, mean);
  const auto [low, high] = interval(draws.at(0));
  const double half = 1.96 * 28.9 / std::sqrt(400.0);
  EXPECT_NEAR(low, 49.9 - half, 0.5);
  EXPECT_NEAR(high, 49.9 + half, 0.5);
  EXPECT_EQ(draws, bootstrap(400, mean)) << "the same pictures are drawn again";
  EXPECT_TRUE(bootstrap(1, mean).empty());
  EXPECT_TRUE(std::isnan(interval({}).first));
}

// All 3125 samples of five pictures are listed here, so the true share of samples below a number is known.
TEST(Bootstrap, HasTheQuantilesOfAllSamples) {
  const std::vector<double> a = {3, 1, 4, 1, 5}, b = {2, 7, 1, 8, 2};  // sums: their ratio is no mean over pictures
  const auto ratio = [&](const std::vector<int>& pictures) {
    double up = 0, down = 0;
    for (const int picture : pictures) {
      up += a.at(static_cast<std::size_t>(picture));
      down += b.at(static_cast<std::size_t>(picture));
    }
    return std::vector{up / down, 1.0};
  };
  std::vector<double> every;
  for (int i = 0; i < 3125; ++i) {
    double up = 0, down = 0;
    for (int k = 0, rest = i; k < 5; ++k, rest /= 5) {
      up += a[static_cast<std::size_t>(rest % 5)];
      down += b[static_cast<std::size_t>(rest % 5)];
    }
    every.push_back(up / down);
  }
  const auto shareBelow = [&](double value) {
    double count = 0;
    for (const double one : every) count += one < value ? 1 : one == value ? 0.5 : 0;
    return count / static_cast<double>(every.size());
  };
  const auto draws = bootstrap(5, ratio);
  ASSERT_EQ(draws.size(), 2u);
  ASSERT_EQ(draws[0].size(), 1000u);
  const auto [low, high] = interval(draws[0]);
  EXPECT_NEAR(shareBelow(low), 0.025, 0.015);
  EXPECT_NEAR(shareBelow(high), 0.975, 0.015);
  EXPECT_EQ(interval(draws[1]), std::pair(1.0, 1.0));
}

TEST(Spread, TakesPicturesFromAllOfTheTime) {
  std::vector<int> taken;
  for (int i = 0; i < 10; ++i)
    if (isInSpread(i, 10, 4)) taken.push_back(i);
  EXPECT_THAT(taken, ElementsAre(2, 4, 7, 9));
  EXPECT_TRUE(isInSpread(0, 3, 4));
}

TEST(LargestPassing, IsFoundByBisection) {
  int calls = 0;
  const auto below = [&](double limit) {
    return [&calls, limit](double x) {
      ++calls;
      return x <= limit;
    };
  };
  EXPECT_NEAR(largestPassing(8, below(0.3)).value(), 0.3, 1.0 / 256);
  EXPECT_EQ(calls, 8);
  EXPECT_GT(largestPassing(8, below(1)).value(), 0.99);
  EXPECT_FALSE(largestPassing(8, below(0)).has_value());
}

TEST(Variants, TakeTurnsOnEachImageWithTheFullModel) {
  std::vector<cv::Mat> images;
  for (int i = 0; i < 3; ++i) {
    images.emplace_back(40, 70, CV_8UC3);
    cv::RNG(static_cast<unsigned>(i) + 1).fill(images.back(), cv::RNG::UNIFORM, 0, 256);
  }
  const std::vector<Reduction> variants = {mpmBefore({1}, Attention::kProportional),
                                           parseReduction("gradual:blocks=0-2:count=2")};
  for (const double bytes : {1e9, 1.0}) {  // both nets beside the full model, and one after the other
    InterleavedVariants nets(test::kSegmenter, {}, bytes);
    std::vector<std::vector<int>> seen(images.size());
    int full_runs = 0;
    EXPECT_TRUE(nets.run(variants, images, [&](int image, int variant, const VariantRun& run) {
      EXPECT_EQ(run.result.labels.size(), images[0].size());
      EXPECT_GT(run.ms, 0);
      EXPECT_GT(run.full_ms, 0);
      EXPECT_EQ(run.result.tokens.size(), variant < 0 ? 1u : variant == 0 ? 2u : 4u);
      variant < 0 ? void(++full_runs) : seen[static_cast<std::size_t>(image)].push_back(variant);
      return true;
    }));
    EXPECT_EQ(full_runs, 3);
    for (const auto& order : seen) EXPECT_THAT(order, ::testing::UnorderedElementsAre(0, 1));
    if (bytes > 1) {
      EXPECT_NE(seen[0], seen[1]) << "none is always the one after the full model";
    }
  }
  int calls = 0;
  EXPECT_FALSE(InterleavedVariants(test::kSegmenter, {}).run(variants, images, [&](int, int, const VariantRun&) {
    return ++calls < 2;
  }));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(toString(variants[0]), "mpm:blocks=1:attention=proportional");
  EXPECT_EQ(toString(variants[1]), "gradual:blocks=0-2:count=2");
}

class Tune : public ::testing::Test {
 protected:
  Tune() {
    for (int i = 0; i < 12; ++i) {
      cv::Mat small(7, 9, CV_8UC3), image;
      cv::RNG(static_cast<unsigned>(i) + 1).fill(small, cv::RNG::UNIFORM, 0, 256);
      cv::resize(small, image, {64, 32}, 0, 0, cv::INTER_CUBIC);
      pictures_.push_back({image, cv::Mat(32, 64, CV_8U, cv::Scalar(i % 4)), i});
    }
  }
  std::vector<TunePicture> pictures_;
  TuneOptions options_{.model = test::kSegmenter};
};

TEST_F(Tune, ChoosesTheFastestThatPasses) {
  options_.agreement = 90;
  int last = 0;
  options_.progress = [&](int done, int estimate) {
    EXPECT_EQ(done, last + 1);
    EXPECT_LE(done, estimate);
    last = done;
    return true;
  };
  const auto result = tune(pictures_, options_);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->searched, 4);
  EXPECT_EQ(result->held_back, 8);
  EXPECT_GT(result->tried, static_cast<int>(result->rows.size()));
  bool full = false;
  for (std::size_t i = 0; i < result->rows.size(); ++i) {
    const TuneRow& row = result->rows[i];
    if (i > 0) {
      EXPECT_LE(row.speed_up, result->rows[i - 1].speed_up);
    }
    EXPECT_EQ(row.passes, row.agreement_low >= 90);
    EXPECT_LE(row.agreement_low, row.agreement);
    ASSERT_EQ(row.example.size(), result->example.size()) << "each row has the labels of one picture";
    if (i < result->chosen) {
      EXPECT_FALSE(row.passes) << "a faster one that passes would be the choice";
    }
    if (row.variant == kFullModel) {
      full = true;
      EXPECT_EQ(row.agreement, 100);
      EXPECT_EQ(row.speed_up, 1);
      EXPECT_EQ(row.tokens, 32);
    } else {
      EXPECT_LE(row.tokens, 32);
    }
  }
  EXPECT_TRUE(full);
  EXPECT_TRUE(result->choice().passes);
  EXPECT_TRUE(result->choice().front) << "no row that is shown is as fast and better";
}

TEST(Explanation, NamesTheChoiceOrTheFastest) {
  using ::testing::AllOf, ::testing::HasSubstr;
  TuneResult result;
  result.tried = 7;
  result.held_back = 8;
  result.rows.resize(2);
  TuneRow& fast = result.rows[0];
  fast.variant = {parseReduction("mpm:blocks=1")};
  fast.ms = 8;
  fast.speed_up = 1.5;
  fast.agreement = 97;
  result.rows[1].variant = kFullModel;
  const TuneOptions options;
  EXPECT_THAT(explanation(result, options),
              AllOf(HasSubstr("Of the 2 rows of the table, mpm:blocks=1 is the fastest that"),
                    HasSubstr("99.00 % of the pixels"), HasSubstr("8.0 ms"), HasSubstr("1.50 times as fast"),
                    HasSubstr("97.00 %")));
  result.chosen = 1;
  EXPECT_THAT(explanation(result, options), AllOf(HasSubstr("None of 7 reductions"),
                                                  HasSubstr("the full model stays. The fastest was mpm:blocks=1")));
  // A reduction takes more time than it saves where the model is tiny.
  std::swap(result.rows[0], result.rows[1]);
  result.chosen = 0;
  EXPECT_THAT(explanation(result, options), ::testing::EndsWith("the full model stays."));
  result.rows[0].reuse = parseReuse("threshold=12");
  EXPECT_THAT(explanation(result, options),
              AllOf(HasSubstr("none --reuse threshold=12 is the fastest that"),
                    HasSubstr("frames that follow each other"), HasSubstr("No file holds it")));
}

TEST_F(Tune, TriesReuseOnFramesInARow) {
  options_.reuse = parseReuse("threshold=12");
  EXPECT_THROW(tune(pictures_, options_), Error) << "without such frames";
  options_.sequence.assign(12, pictures_.front().image);
  const auto result = tune(pictures_, options_);
  ASSERT_TRUE(result.has_value());
  const auto row =
      std::find_if(result->rows.begin(), result->rows.end(), [](const TuneRow& one) { return one.reuse.on; });
  ASSERT_NE(row, result->rows.end());
  EXPECT_EQ(row->agreement, 100) << "nothing changes";
  EXPECT_EQ(row->agreement_low, 100);
  EXPECT_TRUE(row->passes);
  EXPECT_EQ(toString(*row), "none --reuse threshold=12");
  options_.loss = 1;
  EXPECT_THROW(tune(pictures_, options_), Error) << "a loss is not measured with it";
}

TEST_F(Tune, MeasuresTheLossWithLabels) {
  options_.loss = 100;
  const auto result = tune(pictures_, options_);
  ASSERT_TRUE(result.has_value());
  for (const TuneRow& row : result->rows) {
    ASSERT_TRUE(row.loss.has_value());
    EXPECT_LE(row.loss_low.value(), *row.loss);
    EXPECT_GE(row.loss_high.value(), *row.loss);
    EXPECT_TRUE(row.passes);
  }
  EXPECT_EQ(result->chosen, 0u) << "all pass, so the fastest";
}

TEST_F(Tune, KeepsTheFullModelWhereNothingPasses) {
  options_.agreement = 100;
  const auto result = tune(pictures_, options_);
  ASSERT_TRUE(result.has_value());
  for (const TuneRow& row : result->rows) EXPECT_EQ(row.passes, row.agreement_low == 100);
  EXPECT_EQ(result->choice().agreement, 100);
}

TEST_F(Tune, Stops) {
  int calls = 0;
  options_.progress = [&](int, int) { return ++calls < 5; };
  EXPECT_FALSE(tune(pictures_, options_).has_value());
  EXPECT_EQ(calls, 5);
}

TEST_F(Tune, RefusesWhatItCannotTune) {
  EXPECT_MPM_ERROR(tune({pictures_[0]}, options_), "at least 8 pictures, not 1");
  options_.model = test::kClassifier;
  EXPECT_MPM_ERROR(tune(pictures_, options_), "does not segment");
  options_.model = test::kSegmenter;
  options_.agreement = 101;
  EXPECT_MPM_ERROR(tune(pictures_, options_), "at most 100 percent");
}

}  // namespace
}  // namespace mpm::evaluation
