// SPDX-License-Identifier: Apache-2.0
// States of the built-in scene, which knows the truth: what docs/states.md measures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "evaluation/states.h"
#include "mpm/estimator.hpp"
#include "scene/street.h"
#include "vision/model_files.h"

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

/// Pictures of random moments of a year on the street of a seed, every other one in the rain, as features and truths of
/// each question.
struct Pool {
  std::vector<StateExample> pictures;        // state: of no question
  std::vector<std::array<int, 3>> truths{};  // of kQuestions
  cv::Mat pooled[3];

  explicit Pool(int count, int seed = 7) {
    using scene::Weather;
    Estimator estimator(vision::defaultModel(), {.features = true});
    std::map<Weather, scene::Street> streets;
    for (const Weather weather : {Weather::kRain, Weather::kClear, Weather::kCloudy, Weather::kFog})
      streets.try_emplace(weather, scene::StreetOptions{.seed = static_cast<std::uint64_t>(seed), .weather = weather});
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

/// Taught with the first examples of each state from picture `first` on, asked about `others` pictures of other days.
/// No answers where the street shows a state too seldom.
StateVerdict measure(const Pool& pool, std::size_t question, std::size_t others, std::size_t first = 0) {
  std::vector<StateExample> examples;
  cv::Mat features;
  std::array<int, 2> found{};
  std::set<std::int64_t> days;
  const std::size_t count = pool.pictures.size();
  for (std::size_t i = first; i < first + count; ++i) {
    const StateExample& picture = pool.pictures[i % count];
    const int state = pool.truths[i % count][question];
    if (found[state]++ >= kExamples) continue;
    examples.push_back(picture);
    examples.back().state = state;
    features.push_back(pool.pooled[question].row(static_cast<int>(i % count)));
    days.insert(picture.day);
  }
  if (std::min(found[0], found[1]) < kExamples) return {};
  const StateHead head =
      teachStates({.name = kQuestions[question].name, .states = kQuestions[question].states}, examples, features);
  StateVerdict verdict;
  for (std::size_t i = first; i < first + count && verdict.answers.size() < others; ++i) {
    if (days.contains(pool.pictures[i % count].day)) continue;
    const StateReading answer = readState(head, pool.pooled[question].row(static_cast<int>(i % count)));
    verdict.answers.push_back({"", pool.truths[i % count][question], answer.state, answer.probability, answer.sure});
  }
  return verdict;
}

void print(std::size_t question, const char* what, const StateVerdict& verdict) {
  std::printf("%-13s %s, %d answers: %5.1f %% right, sure on %5.1f %%, of which %5.1f %% right\n",
              kQuestions[question].name, what, static_cast<int>(verdict.answers.size()), 100 * verdict.right(),
              100 * verdict.sureShare(), 100 * verdict.sureRight());
}

TEST(StatesOfTheScene, LampsAreTold) {
  const StateVerdict verdict = measure(Pool(90), 0, 50);
  EXPECT_GE(verdict.right(), 0.9);
  EXPECT_GE(verdict.sureRight(), 0.95);
  EXPECT_GE(verdict.sureShare(), 0.85);
}

TEST(StatesOfTheScene, LongTwelveExamplesTellTwoHundred) {
  const Pool pool(290);
  for (std::size_t question = 0; question < 3; ++question) {
    SCOPED_TRACE(kQuestions[question].name);
    const StateVerdict verdict = measure(pool, question, 200);
    print(question, "street 7", verdict);
    EXPECT_GE(verdict.sureRight(), 0.97);
    EXPECT_GE(verdict.sureShare(), 0.85);
  }
}

// What another street and other examples make of it. The goals of one street are not those of each draw.
TEST(StatesOfTheScene, LongOtherStreetsAndDraws) {
  StateVerdict all[3];
  for (const int street : {12, 21, 31, 32, 33}) {
    const Pool pool(290, street);
    for (std::size_t question = 0; question < 3; ++question)
      for (std::size_t first = 0; first < 290; first += 60) {
        const StateVerdict one = measure(pool, question, 200, first);
        all[question].answers.insert(all[question].answers.end(), one.answers.begin(), one.answers.end());
      }
  }
  for (std::size_t question = 0; question < 3; ++question) {
    SCOPED_TRACE(kQuestions[question].name);
    print(question, "five streets", all[question]);
    EXPECT_GE(all[question].sureRight(), 0.95);
    EXPECT_GE(all[question].sureShare(), 0.6);
  }
}

}  // namespace
}  // namespace mpm::evaluation
