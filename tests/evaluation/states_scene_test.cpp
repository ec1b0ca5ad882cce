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
      for (int q = 0; q < 3; ++q) {
        pooled[q].push_back(poolTokens(estimate.features,
                                       stateView(kQuestions[q].regions, seen.image.size(), estimate.grid, {}).shares));
      }
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

// A latch of 10x10 px on a wall, in the light that falls on the wall: a plate, and a bolt that lies across it or is
// drawn back.
void drawLatch(cv::Mat& picture, cv::Point at, bool open, cv::RNG& random) {
  cv::Mat around = picture(cv::Rect(at.x - 12, at.y - 12, 34, 34)).clone().reshape(1, 34 * 34), sorted;
  cv::sort(around, sorted, cv::SORT_EVERY_COLUMN | cv::SORT_ASCENDING);
  const cv::Mat wall = sorted.row(17 * 34);  // the median of each channel
  cv::Mat latch(10, 10, CV_32FC3);
  for (int y = 0; y < 10; ++y) {
    for (int x = 0; x < 10; ++x) {
      const bool dark = y >= 3 && y < 7 && x >= 1 && x < (open ? 3 : 9);
      for (int c = 0; c < 3; ++c)
        latch.at<cv::Vec3f>(y, x)[c] = static_cast<float>(wall.at<uchar>(c) * (dark ? 0.35 : 1.3) + random.gaussian(2));
    }
  }
  latch.convertTo(picture(cv::Rect(at, cv::Size(10, 10))), CV_8UC3);
}

TEST(StatesOfTheScene, LongALatchOfTenPixelsIsToldAtTheCamerasResolution) {
  constexpr int kPictures = 120, kLatchExamples = 11;
  const cv::Point at(1870, 650);
  using scene::Weather;
  Estimator estimator(vision::defaultModel(), {.features = true});
  vision::Region region{.name = "latch", .size = {1920, 1080}};
  region.polygons = {{at, at + cv::Point(9, 0), at + cv::Point(9, 9), at + cv::Point(0, 9)}};
  scene::Street street({.seed = 7, .size = {1920, 1080}, .weather = Weather::kAuto, .shake = 0});
  cv::RNG random(7);
  std::vector<StateExample> pictures;
  std::vector<bool> nights;
  cv::Mat pooled[2];  // at the size of the network input, and of a cut-out
  for (int i = 0; i < kPictures; ++i) {
    const double time = 1767225600 + random.uniform(0, 365 * 1440) * 60.0;
    scene::Rendering seen = street.render(time);
    const int open = random.uniform(0, 2);
    drawLatch(seen.image, at, open != 0, random);
    pictures.push_back({.file = std::to_string(i), .state = open, .day = static_cast<std::int64_t>(time / 86400)});
    pictures.back().time = static_cast<UnixMs>(time * 1000);
    nights.push_back(seen.truth.is_night);
    for (const int cut_out : {0, 1}) {
      if (cut_out != 0) region.cut_out_s = 60;
      const StateView view = stateView({region}, seen.image.size(), estimator.model().grid, {});
      pooled[cut_out].push_back(poolTokens(estimator.estimate(seen.image(view.part)).features, view.shares));
      region.cut_out_s.reset();
    }
  }
  double right[2][2];
  for (const int cut_out : {0, 1}) {
    std::vector<StateExample> examples;
    cv::Mat features;
    std::array<int, 2> found{};
    std::set<std::int64_t> days;
    for (int i = 0; i < kPictures; ++i) {
      if (found[static_cast<std::size_t>(pictures[i].state)]++ >= kLatchExamples) continue;
      examples.push_back(pictures[i]);
      features.push_back(pooled[cut_out].row(i));
      days.insert(pictures[i].day);
    }
    const StateHead head = teachStates({.name = "latch", .states = {"closed", "open"}}, examples, features);
    std::array<int, 2> asked{}, told{};
    for (int i = 0; i < kPictures; ++i) {
      if (days.contains(pictures[i].day)) continue;
      const std::size_t night = nights[i] ? 1 : 0;
      ++asked[night];
      told[night] += readState(head, pooled[cut_out].row(i)).state == pictures[i].state;
    }
    for (const std::size_t night : {0, 1}) right[cut_out][night] = 100.0 * told[night] / asked[night];
    std::printf("latch of 10 px, %s: %5.1f %% of %d right by day, %5.1f %% of %d by night\n",
                cut_out != 0 ? "at the camera's resolution " : "at that of the network input", right[cut_out][0],
                asked[0], right[cut_out][1], asked[1]);
  }
  EXPECT_GE(right[1][0], 95);
  EXPECT_GE(right[1][1], 85);
  EXPECT_LT(right[0][0], right[1][0]);
  EXPECT_LT(right[0][1], right[1][1]);
}

// What another street and other examples make of it. The goals of one street are not those of each draw.
TEST(StatesOfTheScene, LongOtherStreetsAndDraws) {
  StateVerdict all[3];
  for (const int street : {12, 21, 31, 32, 33}) {
    const Pool pool(290, street);
    for (std::size_t question = 0; question < 3; ++question) {
      for (std::size_t first = 0; first < 290; first += 60) {
        const StateVerdict one = measure(pool, question, 200, first);
        all[question].answers.insert(all[question].answers.end(), one.answers.begin(), one.answers.end());
      }
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
