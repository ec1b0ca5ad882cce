// SPDX-License-Identifier: Apache-2.0
#include "evaluation/states.h"

#include "evaluation/contradictions.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgcodecs.hpp>

#include "support/in_folder.h"
#include "support/pictures.h"
#include "support/throws_with.h"
#include "vision/regions/region.h"

namespace mpm::evaluation {
namespace {

using States = test::InFolder;

const StateHead kGate{.name = "gate", .states = {"closed", "open"}};

cv::Mat randomRows(int rows, int columns, std::uint64_t seed) {
  cv::Mat values(rows, columns, CV_64F);
  cv::RNG(seed).fill(values, cv::RNG::NORMAL, 0, 1);
  return values;
}

// `of_a_day` examples of each day; the state changes from day to day.
std::vector<StateExample> examplesOfDays(int days, int of_a_day) {
  std::vector<StateExample> examples;
  for (int day = 0; day < days; ++day) {
    for (int i = 0; i < of_a_day; ++i) {
      examples.push_back({.file = std::to_string(day) + "_" + std::to_string(i) + ".png",
                          .state = day % 2,
                          .time = day * kDayMs + i * kHourMs,
                          .day = day});
    }
  }
  return examples;
}

// One feature that shows the state, with noise; others that do not.
cv::Mat tellingFeatures(const std::vector<StateExample>& examples, double noise) {
  cv::Mat pooled = randomRows(static_cast<int>(examples.size()), 6, 3);
  for (int i = 0; i < pooled.rows; ++i)
    pooled.at<double>(i, 2) = examples[i].state * 4 + noise * pooled.at<double>(i, 2);
  return pooled;
}

TEST_F(States, PooledTokensAreMeansOfTheRegion) {
  cv::Mat tokens(12, 5, CV_32F), shares(3, 4, CV_32F);
  cv::RNG random(1);
  random.fill(tokens, cv::RNG::NORMAL, 2, 3);
  random.fill(shares, cv::RNG::UNIFORM, 0, 1);
  shares.at<float>(1, 1) = 0;
  const cv::Mat pooled = poolTokens(tokens, shares);
  ASSERT_EQ(pooled.size(), cv::Size(5, 1));
  const auto unit = [&](int i, int c) {
    cv::Scalar mean, deviation;
    cv::meanStdDev(tokens.row(i), mean, deviation);
    return (tokens.at<float>(i, c) - mean[0]) / std::sqrt(deviation[0] * deviation[0] + 1e-5);
  };
  for (int c = 0; c < 5; ++c) {
    double sum = 0, mean = 0;
    for (int i = 0; i < 12; ++i) {
      sum += shares.at<float>(i / 4, i % 4);
      mean += shares.at<float>(i / 4, i % 4) * unit(i, c);
    }
    EXPECT_NEAR(pooled.at<double>(0, c), mean / sum, 1e-9);
  }
  EXPECT_MPM_ERROR(poolTokens(tokens, cv::Mat(3, 4, CV_32F, cv::Scalar(0))), "covers no patch");
  EXPECT_MPM_ERROR(poolTokens(tokens, cv::Mat(3, 3, CV_32F, cv::Scalar(1))), "9 patches, but there are 12 tokens");
}

TEST_F(States, SharesAreOfTheRegionWithoutWhatIsIgnored) {
  const vision::Region left{.name = "left", .size = {80, 40}, .polygons = {{{0, 0}, {39, 0}, {39, 39}, {0, 39}}}};
  const vision::Region stamp{
      .name = "stamp", .ignore = true, .size = {80, 40}, .polygons = {{{0, 0}, {79, 0}, {79, 19}, {0, 19}}}};
  const cv::Mat both = stateView({left, stamp}, {80, 40}, {4, 8}, {}).shares;
  const cv::Mat whole = stateView({stamp}, {80, 40}, {4, 8}, {}).shares;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 8; ++x) {
      EXPECT_NEAR(both.at<float>(y, x), y >= 2 && x < 4 ? 1 : 0, 1e-5);
      EXPECT_NEAR(whole.at<float>(y, x), y >= 2 ? 1 : 0, 1e-5);
    }
  }
  EXPECT_NEAR(cv::sum(stateView({}, {80, 40}, {4, 8}, {}).shares)[0], 32, 1e-4);
  const auto tenLower = [](const vision::Region& one) {
    cv::Mat mask = vision::maskOf(one, {80, 40}), moved(mask.size(), CV_8U, cv::Scalar(0));
    mask.rowRange(0, 30).copyTo(moved.rowRange(10, 40));
    return moved;
  };
  const cv::Mat moved = stateView({left, stamp}, {80, 40}, {4, 8}, {}, tenLower).shares;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 8; ++x)
      EXPECT_NEAR(moved.at<float>(y, x), y == 3 && x < 4 ? 1 : 0, 1e-5) << "what is ignored moves, too";
  }
  vision::Region over = left;
  over.to = 1000;
  EXPECT_TRUE(stateView({over}, {80, 40}, {4, 8}, 2000).shares.empty());
}

TEST_F(States, ACutOutHasTheShapeOfTheNetworkInputAndLiesInThePicture) {
  const auto viewOf = [](cv::Rect at, std::optional<double> cut_out_s) {
    const cv::Point2d begin = at.tl(), end(at.br().x - 1, at.br().y - 1);
    vision::Region latch{.name = "latch", .size = {1920, 1080}, .cut_out_s = cut_out_s};
    latch.polygons = {{begin, {end.x, begin.y}, end, {begin.x, end.y}}};
    return stateView({latch}, {1920, 1080}, {28, 40}, {});
  };
  const cv::Rect picture(0, 0, 1920, 1080);
  for (const cv::Point at : {cv::Point(0, 0), {1909, 1069}, {700, 3}, {5, 500}}) {
    for (const cv::Size size : {cv::Size(10, 10), {3, 200}, {900, 9}, {1900, 1000}}) {
      const cv::Rect inside = cv::Rect(at, size) & picture;
      EXPECT_EQ(viewOf(inside, {}).part, picture) << "not asked for";
      const StateView view = viewOf(inside, 60);
      EXPECT_EQ(view.part & picture, view.part);
      EXPECT_EQ(view.part & inside, inside) << inside << " in " << view.part;
      if (view.part.width < 1920 && view.part.height < 1080) {
        EXPECT_NEAR(static_cast<double>(view.part.width) / view.part.height, 40. / 28, 0.05);
      }
      EXPECT_NEAR(cv::mean(view.shares)[0], static_cast<double>(inside.area()) / view.part.area(), 1e-3);
    }
  }
  EXPECT_EQ(viewOf({900, 500, 10, 10}, 60).part, cv::Rect(882, 489, 46, 32)) << "at least 32 pixels";
  EXPECT_EQ(viewOf({900, 500, 70, 20}, 60).part, cv::Rect(865, 461, 140, 98)) << "twice as wide";
  EXPECT_EQ(viewOf({900, 500, 20, 70}, 60).part, cv::Rect(810, 465, 200, 140)) << "twice as high";
}

TEST_F(States, ExamplesAreCutOutAsSamplesAre) {
  const std::string model = std::string(MPM_TEST_DATA_DIR) + "/segmenter_mask_ts17.onnx";
  vision::Region latch{.name = "latch", .size = {320, 240}, .cut_out_s = 60};
  latch.polygons = {{{200, 100}, {209, 100}, {209, 109}, {200, 109}}};
  StatesJob job{.model = model, .states = {"closed", "open"}, .name = "latch", .regions = {latch}};
  Estimator estimator(model, {.features = true});
  const StateView view = stateView(job.regions, {320, 240}, estimator.model().grid, {});
  cv::Mat pooled;
  for (int i = 0; i < 4; ++i) {
    const cv::Mat picture = test::noisePicture(240, 320, i + 1);
    job.examples.push_back({.file = folder_ / (std::to_string(i) + ".png"), .state = i % 2});
    cv::imwrite(job.examples.back().file, picture);
    pooled.push_back(poolTokens(estimator.estimate(picture(view.part)).features, view.shares));
  }
  EXPECT_LT(cv::norm(teachStates(job)->weights, teachStates(kGate, job.examples, pooled).weights, cv::NORM_INF), 1e-6);
  cv::imwrite(job.examples.back().file, test::noisePicture(480, 640, 4));
  EXPECT_MPM_ERROR(teachStates(job),
                   "3.png' is 640 x 480 px (width x height), but '" + job.examples.front().file + "' is 320 x 240 px");
  job.regions[0].cut_out_s.reset();
  EXPECT_TRUE(teachStates(job)) << "the network input has one size";
}

// The steepest slope, at these weights, of what the training makes small: cross-entropy, each state with the same
// weight, and the penalty on weights of features of variance 1 / their number.
double slopeAt(const cv::Mat& weights, const cv::Mat& pooled, const std::vector<int>& shown) {
  const int states = weights.rows, features = pooled.cols, examples = pooled.rows;
  std::vector<double> mean(features), scale(features);
  for (int f = 0; f < features; ++f) {
    double squares = 0;
    for (int i = 0; i < examples; ++i) mean[f] += pooled.at<double>(i, f) / examples;
    for (int i = 0; i < examples; ++i) squares += std::pow(pooled.at<double>(i, f) - mean[f], 2) / examples;
    scale[f] = 1 / ((std::sqrt(squares) + 1e-6) * std::sqrt(features));
  }
  double steepest = 0;
  for (int s = 0; s < states; ++s) {
    for (int f = 0; f <= features; ++f) {
      double weight = weights.at<double>(s, f);
      if (f < features) weight /= scale[f];
      for (int other = 0; f == features && other < features; ++other)
        weight += weights.at<double>(s, other) * mean[other];
      double slope = 1e-3 * weight;
      for (int i = 0; i < examples; ++i) {
        std::vector<double> power(states);
        double sum = 0;
        for (int t = 0; t < states; ++t) {
          double score = weights.at<double>(t, features);
          for (int other = 0; other < features; ++other)
            score += weights.at<double>(t, other) * pooled.at<double>(i, other);
          sum += power[t] = std::exp(score);
        }
        const double x = f < features ? (pooled.at<double>(i, f) - mean[f]) * scale[f] : 1;
        const auto of_state = std::count(shown.begin(), shown.end(), shown[i]);
        slope += (power[s] / sum - (shown[i] == s)) * x / static_cast<double>(of_state * states);
      }
      steepest = std::max(steepest, std::abs(slope));
    }
  }
  return steepest;
}

TEST_F(States, TrainingReachesTheMinimum) {
  cv::Mat pooled = randomRows(60, 12, 9);
  std::vector<int> shown;
  for (int i = 0; i < pooled.rows; ++i) {
    shown.push_back(i % 7 == 0 ? 2 : i % 2);
    pooled.at<double>(i, shown.back()) += 1;
    pooled.row(i).col(4) *= 100;
  }
  EXPECT_LT(slopeAt(trainStates(pooled, shown, 3), pooled, shown), 5e-4);
  // A rare state far from the others: its rows are long.
  for (int i = 0; i < pooled.rows; ++i) shown[i] = i < 2 ? 2 : i % 2;
  for (int f = 0; f < 12; ++f) pooled.at<double>(0, f) = pooled.at<double>(1, f) = 40;
  EXPECT_LT(slopeAt(trainStates(pooled, shown, 3), pooled, shown), 5e-4);
}

TEST_F(States, HeldOutDaysAreJudgedWhole) {
  // Pictures of a day are almost equal, and nothing but the day tells the state: another day cannot be known.
  const std::vector<StateExample> examples = examplesOfDays(24, 6);
  const cv::Mat of_days = randomRows(24, 30, 5);
  cv::Mat pooled = 0.01 * randomRows(144, 30, 6);
  for (int i = 0; i < 144; ++i) pooled.row(i) += of_days.row(i / 6);
  const StateHead head = teachStates(kGate, examples, pooled);
  EXPECT_TRUE(head.verdict.by_days);
  EXPECT_EQ(head.verdict.rounds, 20);
  EXPECT_LT(head.verdict.right(), 0.75);
  // The same without times leaks: neighbours of each picture are in the training.
  std::vector<StateExample> untimed = examples;
  for (StateExample& one : untimed) one.time.reset();
  std::vector<int> order(144);
  cv::Mat mixed;
  std::vector<StateExample> mixed_examples;
  for (int i = 0; i < 144; ++i) {
    const int at = i % 24 * 6 + i / 24;
    mixed.push_back(pooled.row(at));
    mixed_examples.push_back(untimed[at]);
  }
  const StateHead leaking = teachStates(kGate, mixed_examples, mixed);
  EXPECT_FALSE(leaking.verdict.by_days);
  EXPECT_GT(leaking.verdict.right(), 0.95);
}

// A day is held out whole, and what is then left must show every state.
TEST_F(States, WhatIsTestedDependsOnTheDaysOfAState) {
  const auto verdictOf = [](std::vector<StateExample> examples, const std::function<int(const StateExample&)>& state) {
    for (StateExample& one : examples) one.state = state(one);
    return teachStates(kGate, examples, tellingFeatures(examples, 0.1)).verdict;
  };
  const StateVerdict of_one_day = verdictOf(examplesOfDays(4, 3), [](const auto& one) { return one.day == 3; });
  EXPECT_EQ(of_one_day.untested, 3);
  EXPECT_EQ(of_one_day.answers.size(), 9u);
  // Two states on one day, and one alone on another: without that day, each answer of the one would be right.
  const StateVerdict alone = verdictOf(
      examplesOfDays(2, 6), [](const auto& one) { return one.day == 0 && one.time.value() / kHourMs % 2 == 0; });
  EXPECT_EQ(alone.untested, 6);
  EXPECT_THAT(alone.answers, AllOf(SizeIs(6), Each(::testing::Field(&StateAnswer::truth, 0))));
  const StateVerdict of_two_days =  // which are the same of 20 rounds
      verdictOf(examplesOfDays(22, 2), [](const auto& one) { return one.day == 0 || one.day == 20; });
  EXPECT_EQ(of_two_days.untested, 0);
  EXPECT_EQ(of_two_days.rounds, 21);
  EXPECT_EQ(of_two_days.answers.size(), 44u);
  std::vector<StateExample> examples = examplesOfDays(2, 7);
  for (StateExample& one : examples) one.day = 0;
  const StateVerdict of_a_day = teachStates(kGate, examples, tellingFeatures(examples, 0.1)).verdict;
  EXPECT_FALSE(of_a_day.by_days);
  EXPECT_EQ(of_a_day.rounds, 5);
  EXPECT_EQ(of_a_day.untested, 0);
  EXPECT_EQ(of_a_day.answers.size(), 14u);
  EXPECT_EQ(of_a_day.right(), 1);
  examples = examplesOfDays(2, 2);
  const StateHead untested = teachStates(kGate, examples, tellingFeatures(examples, 0.1));
  EXPECT_EQ(untested.verdict.untested, 4);
  EXPECT_FALSE(readState(untested, tellingFeatures(examples, 0.1).row(0)).sure) << "nothing is tested";
  EXPECT_MPM_ERROR(teachStates({.name = "gate", .states = {"open"}}, {}, {}), "fewer than two states");
  examples.pop_back();
  EXPECT_MPM_ERROR(teachStates(kGate, examples, randomRows(3, 4, 1)), "the state 'open' has 1 example");
}

TEST_F(States, ProbabilityIsHowOftenItIsRight) {
  for (const double noise : {0.5, 1.5, 3.0, 9.0}) {
    SCOPED_TRACE(noise);
    const std::vector<StateExample> examples = examplesOfDays(60, 3);
    const StateVerdict verdict = teachStates(kGate, examples, tellingFeatures(examples, noise)).verdict;
    double probability = 0;
    for (const StateAnswer& one : verdict.answers) {
      probability += one.probability / static_cast<double>(verdict.answers.size());
      EXPECT_EQ(one.sure, one.probability >= 0.85);
    }
    EXPECT_NEAR(probability, verdict.right(), 0.05);
    EXPECT_FALSE(verdict.sureRight() < (noise < 2 ? 0.97 : verdict.right()));  // NaN: none is sure
  }
}

// Three groups far apart; a few examples have the label of another group.
TEST_F(States, ExamplesThatLookLikeOthersContradict) {
  std::vector<int> labels;
  cv::Mat features = randomRows(30, 5, 8);
  for (int i = 0; i < 30; ++i) {
    labels.push_back(i % 3);
    features.row(i) *= 0.1;
    features.at<double>(i, 1) += 1000 * (i % 3);  // channels count the same, whatever their scale
    for (const int group : {0, 1, 2}) features.at<double>(i, group == 1 ? 3 : 2 * group) += 2 * (i % 3 == group);
  }
  EXPECT_TRUE(findContradictions(features, labels).empty());
  labels[4] = 2;
  features.row(9).copyTo(features.row(4));
  features.at<double>(4, 0) += 1e-3;  // it lies beside the 9th of the first group
  labels[14] = 0;                     // and this one in its own, under a wrong name
  const auto found = findContradictions(features, labels);
  ASSERT_EQ(found.size(), 2u) << "those that lie beside a wrong one are right";
  EXPECT_EQ(found[0].example, 4);
  EXPECT_EQ(found[0].like, 9);
  EXPECT_EQ(found[1].example, 14);
  EXPECT_EQ(labels[static_cast<std::size_t>(found[1].like)], 2);
  labels[4] = labels[14] = 7;
  EXPECT_TRUE(findContradictions(features, labels).empty()) << "two examples of a label say nothing";
  EXPECT_TRUE(findContradictions(cv::Mat(0, 3, CV_64F), {}).empty());
}

TEST_F(States, FileGivesTheSameAnswers) {
  const std::string path = folder_ / "gate.json";
  const std::vector<StateExample> examples = examplesOfDays(12, 2);
  StateHead head = kGate;
  head.regions = {{.name = "gate", .size = {64, 48}, .polygons = {{{1, 1}, {40, 1}, {20, 30}}}}};
  head.model_digest = "0123";
  cv::Mat features = tellingFeatures(examples, 2);
  features.row(2).copyTo(features.row(7));
  head = teachStates(head, examples, features);
  ASSERT_FALSE(head.verdict.contradictions.empty());
  writeStates(path, head);
  const StateHead read = readStates(path);
  EXPECT_EQ(read.digest(), head.digest());
  StateHead other = read;
  other.weights = read.weights.clone();
  other.weights.at<double>(1, 0) += 1e-9;
  EXPECT_NE(other.digest(), head.digest());
  other = read;
  other.verdict = {};
  EXPECT_EQ(other.digest(), head.digest()) << "how it was tested changes no answer";
  EXPECT_EQ(read.name, "gate");
  EXPECT_EQ(read.model_digest, "0123");
  EXPECT_EQ(toJson(read.regions.at(0)), toJson(head.regions[0]));
  EXPECT_EQ(toJson(read.verdict, read.states), toJson(head.verdict, head.states));
  const cv::Mat pooled = tellingFeatures(examples, 2).row(5);
  EXPECT_EQ(readState(read, pooled).probability, readState(head, pooled).probability);
  EXPECT_EQ(readState(read, pooled).sure, readState(head, pooled).sure);
  EXPECT_MPM_ERROR(readState(read, cv::Mat(1, 4, CV_64F, cv::Scalar(0))), "'gate' read 6 numbers");
  std::ofstream(path) << R"({"name": "gate", "states": ["open"]})";
  EXPECT_MPM_ERROR(readStates(path), "states");
}

TEST_F(States, ExamplesComeFromFoldersAndLists) {
  const std::string first = "open/cam_20260301_100000.png", second = "open/cam_20260302_100000.png",
                    shut = "closed/cam_20260301_235900.png", csv = folder_ / "list.csv", json = folder_ / "list.json";
  for (const std::string& name : {first, second, shut}) {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    cv::imwrite(folder_ / name, cv::Mat(8, 8, CV_8UC3, cv::Scalar(name[0], name[16], 9)));
  }
  StatesJob job;
  readStateExamples(folder_.path(), {.time_zone = vision::CameraClock("+01:00")}, job);
  EXPECT_EQ(job.states, (std::vector<std::string>{"closed", "open"}));
  ASSERT_EQ(job.examples.size(), 3u);
  EXPECT_TRUE(job.examples[0].file.ends_with(shut)) << "folders by their names";
  EXPECT_EQ(job.examples[0].day, job.examples[1].day) << "by the clock of the camera";
  EXPECT_EQ(job.examples[1].day + 1, job.examples[2].day);

  const auto listed = [&](const std::string& text) {
    std::ofstream(text.starts_with('[') ? json : csv) << text;
    StatesJob found;
    readStateExamples(text.starts_with('[') ? json : csv, {}, found);
    return found;
  };
  const StatesJob two = listed("picture,state\n# a comment\nclosed/../" + first + ", open\n" + shut + ",closed\n");
  ASSERT_EQ(two.examples.size(), 2u);
  EXPECT_EQ(two.examples[0].state, 0) << "in the order of the files, not of the list nor of its spelling";
  EXPECT_EQ(two.examples[1].state, 1);
  EXPECT_EQ(listed(R"([{"picture": ")" + first + R"(", "state": "open"}])").examples.size(), 1u);
  fs::copy_file(folder_ / second, folder_ / "a;b.png");
  EXPECT_EQ(fs::path(listed("a;b.png;open\n").examples.at(0).file).filename(), "a;b.png");
  fs::copy_file(folder_ / first, folder_ / "copy.png");
  EXPECT_EQ(listed(first + ",open\ncopy.png,open\n").examples.size(), 1u)
      << "held out, a picture would be known from its copy";
  for (const std::string line : {"only a name", ",open", "a.png,"})
    EXPECT_MPM_ERROR(listed(line + "\n"), "line 1: '" + line + "' is not PICTURE,STATE");
  for (const auto& [text, why] :
       {std::pair(R"([{"picture": ")" + first + R"(", "state": " "}])", "of a state without a name: give it one"),
        {first + ",open\nopen/../" + first + ",open\n", "100000.png' twice: leave it out once"},
        {first + ",open\n" + first + ",closed\n", "' as open and as closed: keep one of them"},
        {first + ",open\ncopy.png,closed\n", "' as open and as closed: keep one of them"},
        {"gone.png,open\n", "there is no picture"}})
    EXPECT_THAT(([&, &text = text] { listed(text); }), ::testing::ThrowsMessage<Error>(HasSubstr(why)));
  for (const auto& [path, why] : {std::pair(folder_ / "nowhere", "there is no '"),
                                  {folder_ / first, "is a picture: name a folder with"},
                                  {folder_ / "open", "has no folders of pictures"}})
    EXPECT_THAT(([&, &path = path] { readStateExamples(path, {}, job); }),
                ::testing::ThrowsMessage<Error>(HasSubstr(why)));
  StatesJob later = two;
  later.model = std::string(MPM_TEST_DATA_DIR) + "/timm_vit_ts17.onnx";
  later.regions = {{.name = "gate", .size = {8, 8}, .polygons = {{{0, 0}, {7, 0}, {0, 7}}}, .from = 4'000'000'000'000}};
  later.name = "gate";
  EXPECT_MPM_ERROR(teachStates(later),
                   "nothing is left of the region of 'gate' in '" + later.examples[0].file + "': its dates");
}

}  // namespace
}  // namespace mpm::evaluation
