// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
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

TEST(Bootstrap, GivesTheIntervalOfAMean) {
  std::vector<double> values;  // of mean 50 and standard deviation 28.9
  for (int i = 0; i < 400; ++i) values.push_back(0.25 * i);
  const auto mean = [&](const std::vector<int>& pictures) {
    double sum = 0;
    for (const int picture : pictures) sum += values.at(static_cast<std::size_t>(picture));
    return sum / static_cast<double>(pictures.size());
  };
  const auto draws = bootstrap(400, mean);
  const auto [low, high] = interval(draws);
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
    return up / down;
  };
  std::vector<double> every;
  for (int i = 0; i < 3125; ++i) {
    double up = 0, down = 0;
    for (int k = 0, rest = i; k < 5; ++k, rest /= 5) {
      up += a[rest % 5];
      down += b[rest % 5];
    }
    every.push_back(up / down);
  }
  const auto shareBelow = [&](double value) {
    double count = 0;
    for (const double one : every) count += one < value ? 1 : one == value ? 0.5 : 0;
    return count / static_cast<double>(every.size());
  };
  const auto draws = bootstrap(5, ratio);
  ASSERT_EQ(draws.size(), 1000u);
  const auto [low, high] = interval(draws);
  EXPECT_NEAR(shareBelow(low), 0.025, 0.015);
  EXPECT_NEAR(shareBelow(high), 0.975, 0.015);
  EXPECT_EQ(interval(bootstrap(5, [](const auto&) { return 1.0; })), std::pair(1.0, 1.0));
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

class Tune : public ::testing::Test {
 protected:
  Tune() {
    for (int i = 0; i < 12; ++i)
      pictures_.push_back({test::smoothPicture(32, 64, i + 1), cv::Mat(32, 64, CV_8U, cv::Scalar(i % 4)), i});
  }
  std::vector<TunePicture> pictures_;
  TuneOptions options_{.model = test::kSegmenter};
};

/// Mean over the pictures that the search does not use, with a net of their own for each row.
void expectMeasured(const TuneRow& row, const std::vector<TunePicture>& pictures, int searched, bool labelled) {
  SCOPED_TRACE(toString(row));
  EstimatorOptions options{.read = {.convert = {.reduce = kFullModel}}, .task = Task::kSemantic};
  Estimator full(test::kSegmenter, options);
  options.read.convert.reduce = row.variant;
  Estimator own(test::kSegmenter, options);
  double agreement = 0, tokens = 0;
  int count = 0;
  std::array<std::array<std::array<double, 256>, 256>, 2> pixels{};  // of the full model and of this one
  const auto size = static_cast<int>(pictures.size());
  for (int i = 0; i < size; ++i) {
    if (isInSpread(i, size, searched)) continue;
    const TunePicture& picture = pictures[i];
    const Estimate one = own.estimate(picture.image), whole = full.estimate(picture.image);
    agreement += 100.0 * cv::countNonZero(one.labels == whole.labels) / static_cast<double>(one.labels.total());
    tokens += one.tokens.back();
    ++count;
    for (int y = 0; y < one.labels.rows; ++y)
      for (int x = 0; x < one.labels.cols; ++x) {
        ++pixels[0][picture.truth.at<uchar>(y, x)][whole.labels.at<uchar>(y, x)];
        ++pixels[1][picture.truth.at<uchar>(y, x)][one.labels.at<uchar>(y, x)];
      }
  }
  EXPECT_NEAR(row.tokens, tokens / count, 1e-9);
  EXPECT_NEAR(row.agreement, agreement / count - 0.005, 0.00501) << "never more than it is";
  double miou[2] = {};
  for (const int model : {0, 1})
    for (int c = 0; c < 4; ++c) {  // each is the truth somewhere
      double of_class = 0;
      for (int other = 0; other < 256; ++other) of_class += pixels[model][c][other] + pixels[model][other][c];
      miou[model] += 25 * pixels[model][c][c] / (of_class - pixels[model][c][c]);
    }
  if (!labelled) return;
  EXPECT_NEAR(row.loss.value(), miou[0] - miou[1] + 0.005, 0.00501) << "never less than it is";
}

TEST_F(Tune, ChoosesTheFastestThatPasses) {
  options_.agreement = 90;
  int last = 0;
  options_.progress = [&](int done, int estimate) {
    EXPECT_EQ(done, last + 1);
    EXPECT_LE(done, estimate);
    last = done;
    return true;
  };
  const TuneResult result = tune(pictures_, options_).value();
  EXPECT_EQ(result.searched, 4);
  EXPECT_EQ(result.held_back, 8);
  EXPECT_GT(result.tried, static_cast<int>(result.rows.size()));
  const auto full = std::find_if(result.rows.begin(), result.rows.end(),
                                 [](const TuneRow& row) { return row.variant == kFullModel; });
  ASSERT_NE(full, result.rows.end());
  EXPECT_EQ(std::tuple(full->agreement, full->speed_up, full->tokens), std::tuple(100, 1, 32));
  double speed_up = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const TuneRow& row = result.rows[i];
    expectMeasured(row, pictures_, 4, false);
    EXPECT_LE(row.speed_up, speed_up);
    speed_up = row.speed_up;
    EXPECT_EQ(row.passes, row.agreement_low >= 90);
    EXPECT_LE(row.agreement_low, row.agreement);
    ASSERT_EQ(row.example.size(), result.example.size()) << "each row has the labels of one picture";
    EXPECT_FALSE(i < result.chosen && row.passes) << "a faster one that passes would be the choice";
  }
  EXPECT_TRUE(result.choice().passes);
  EXPECT_TRUE(result.choice().front) << "no row that is shown is as fast and better";
}

TEST(Explanation, NamesTheChoiceOrTheFastest) {
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
  EXPECT_THAT(explanation(result, options), EndsWith("the full model stays."));
  result.rows[0].reuse = parseReuse("threshold=12");
  EXPECT_THAT(explanation(result, options),
              AllOf(HasSubstr("none --reuse threshold=12 is the fastest that"),
                    HasSubstr("frames that follow each other"), HasSubstr("No file holds it")));
}

TEST_F(Tune, TriesReuseOnFramesInARow) {
  options_.reuse = parseReuse("threshold=12");
  options_.sequence.assign(12, pictures_.front().image);
  const TuneResult result = tune(pictures_, options_).value();
  const auto row =
      std::find_if(result.rows.begin(), result.rows.end(), [](const TuneRow& one) { return one.reuse.on; });
  ASSERT_NE(row, result.rows.end());
  EXPECT_EQ(row->agreement, 100) << "nothing changes";
  EXPECT_EQ(row->agreement_low, 100);
  EXPECT_TRUE(row->passes);
  EXPECT_EQ(toString(*row), "none --reuse threshold=12");
}

TEST_F(Tune, MeasuresTheLossWithLabels) {
  options_.loss = 100;
  const TuneResult result = tune(pictures_, options_).value();
  for (const TuneRow& row : result.rows) {
    expectMeasured(row, pictures_, 4, true);
    EXPECT_LE(row.loss_low.value(), *row.loss);
    EXPECT_GE(row.loss_high.value(), *row.loss);
    EXPECT_TRUE(row.passes);
  }
  EXPECT_EQ(result.chosen, 0u) << "all pass, so the fastest";
}

TEST_F(Tune, KeepsTheFullModelWhereNothingPasses) {
  options_.agreement = 100;
  const TuneResult result = tune(pictures_, options_).value();
  for (const TuneRow& row : result.rows) EXPECT_EQ(row.passes, row.agreement_low == 100);
  EXPECT_EQ(result.choice().agreement, 100);
}

TEST_F(Tune, Stops) {
  int calls = 0;
  options_.progress = [&](int, int) { return ++calls < 5; };
  EXPECT_FALSE(tune(pictures_, options_).has_value());
  EXPECT_EQ(calls, 5);
}

TEST_F(Tune, RefusesWhatItCannotTune) {
  EXPECT_MPM_ERROR(tune({pictures_[0]}, options_), "at least 8 pictures, not 1");
  const test::TemporaryFolder folder;
  convertFile(test::kSegmenter, options_.model = folder / "m.onnx", {.reduce = kFullModel});
  EXPECT_MPM_ERROR(tune(pictures_, options_), "is converted already");
  options_.model = test::kClassifier;
  EXPECT_MPM_ERROR(tune(pictures_, options_), "does not segment: nothing to compare");
  options_.model = test::kSegmenter;
  options_.reuse = parseReuse("threshold=12");
  options_.sequence.assign(7, pictures_.front().image);
  EXPECT_MPM_ERROR(tune(pictures_, options_), "at least 8 frames that follow each other, not 7");
  options_ = {.model = test::kSegmenter, .loss = 100};
  for (const bool searched : {true, false}) {
    std::vector<TunePicture> part = pictures_;
    for (int i = 0; i < 12; ++i)
      if (isInSpread(i, 12, 4) == searched)
        part[static_cast<std::size_t>(i)].truth = cv::Mat(32, 64, CV_8U, cv::Scalar(255));
    EXPECT_MPM_ERROR(tune(part, options_), searched ? "no pixel of 4 pictures has" : "no pixel of 8 pictures has");
  }
}

}  // namespace
}  // namespace mpm::evaluation
