// SPDX-License-Identifier: Apache-2.0
// States of the built-in scene, which knows the truth: what docs/states.md measures.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <opencv2/imgproc.hpp>
#include <set>

#include "evaluation/states.h"
#include "mpm/estimator.hpp"
#include "scene/street.h"
#include "vision/default_model.h"

namespace mpm::evaluation {
namespace {

constexpr int kExamples = 12;  // of each state

const vision::Region kRoad{
    .name = "road", .size = {640, 448}, .polygons = {{{130, 447}, {250, 200}, {350, 200}, {520, 447}}}};
const vision::Region kBay{
    .name = "bay", .size = {640, 448}, .polygons = {{{450, 305}, {545, 305}, {610, 385}, {610, 430}, {495, 430}}}};

struct Question {
  const char* name;
  std::vector<std::string> states;
  std::vector<vision::Region> regions;
};
const Question kQuestions[] = {
    {"street lamps", {"off", "on"}, {}}, {"road", {"dry", "wet"}, {kRoad}}, {"parked car", {"free", "taken"}, {kBay}}};

/// Pictures of random moments of a year on one street, every other one in the rain, as features and truths of each
/// question.
struct Pool {
  std::vector<StateExample> pictures;        // state: of no question
  std::vector<std::array<int, 3>> truths{};  // of kQuestions
  cv::Mat pooled[3];

  explicit Pool(int count) {
    using scene::Weather;
    Estimator estimator(vision::defaultModel(), {.features = true});
    std::map<Weather, scene::Street> streets;
    for (const Weather weather : {Weather::kRain, Weather::kClear, Weather::kCloudy, Weather::kFog}) {
      scene::StreetOptions options;
      options.seed = 7;
      options.weather = weather;
      streets.try_emplace(weather, options);
    }
    cv::RNG random(33);
    const cv::Mat bay = vision::maskOf(kBay, {640, 448});
    for (int i = 0; i < count; ++i) {
      constexpr Weather kDry[] = {Weather::kClear, Weather::kCloudy, Weather::kFog};
      const bool wet = i % 2 == 0;
      const double time = 1767225600 + random.uniform(0, 365 * 1440) * 60.0;
      const scene::Rendering seen = streets.at(wet ? Weather::kRain : kDry[i / 2 % 3]).render(time);
      cv::Mat car = seen.labels == static_cast<int>(scene::Class::kCar);
      const double covered = cv::countNonZero(car & bay) / static_cast<double>(cv::countNonZero(bay));
      truths.push_back({seen.truth.lamps_on, wet, covered > 0.5});
      pictures.push_back({.file = std::to_string(i),
                          .time = static_cast<UnixMs>(time * 1000),
                          .day = static_cast<std::int64_t>(time / 86400)});
      const Estimate estimate = estimator.estimate(seen.image);
      for (int q = 0; q < 3; ++q)
        pooled[q].push_back(
            poolTokens(estimate.features, patchShares(kQuestions[q].regions, seen.image.size(), estimate.grid, {})));
    }
  }
};

struct Measured {
  double right, sure, sure_right;
};

/// Taught with the first examples of each state, asked about `others` pictures of other days.
Measured measure(const Pool& pool, int question, int others) {
  std::vector<StateExample> examples;
  cv::Mat features;
  std::array<int, 2> found{};
  std::set<std::int64_t> days;
  for (std::size_t i = 0; i < pool.pictures.size(); ++i)
    if (const int state = pool.truths[i][static_cast<std::size_t>(question)];
        found[static_cast<std::size_t>(state)]++ < kExamples) {
      examples.push_back(pool.pictures[i]);
      examples.back().state = state;
      features.push_back(pool.pooled[question].row(static_cast<int>(i)));
      days.insert(pool.pictures[i].day);
    }
  const StateHead head =
      teachStates({.name = kQuestions[question].name, .states = kQuestions[question].states}, examples, features);
  StateVerdict verdict;
  for (std::size_t i = 0; i < pool.pictures.size() && static_cast<int>(verdict.answers.size()) < others; ++i) {
    if (days.contains(pool.pictures[i].day)) continue;
    const StateReading answer = readState(head, pool.pooled[question].row(static_cast<int>(i)));
    verdict.answers.push_back(
        {"", pool.truths[i][static_cast<std::size_t>(question)], answer.state, answer.probability, answer.sure});
  }
  const Measured measured{verdict.right(), verdict.sureShare(), verdict.sureRight()};
  std::printf(
      "%-13s verdict: %5.1f %% right, sure on %5.1f %%; %d other pictures: %5.1f %% right, sure on %5.1f %%, of which "
      "%5.1f %% right\n",
      head.name.c_str(), 100 * head.verdict.right(), 100 * head.verdict.sureShare(),
      static_cast<int>(verdict.answers.size()), 100 * measured.right, 100 * measured.sure, 100 * measured.sure_right);
  return measured;
}

TEST(StatesOfTheScene, LampsAreTold) {
  const Measured measured = measure(Pool(90), 0, 50);
  EXPECT_GE(measured.right, 0.9);
  EXPECT_GE(measured.sure_right, 0.95);
  EXPECT_GE(measured.sure, 0.6);
}

TEST(StatesOfTheScene, LongTwelveExamplesTellTwoHundred) {
  const Pool pool(290);
  for (int question = 0; question < 3; ++question) {
    SCOPED_TRACE(kQuestions[question].name);
    const Measured measured = measure(pool, question, 200);
    EXPECT_GE(measured.sure_right, 0.97);
    EXPECT_GE(measured.sure, question == 0 ? 0.8 : 0.85);  // the goal is 0.85: docs/states.md, "Measured"
  }
}

}  // namespace
}  // namespace mpm::evaluation
