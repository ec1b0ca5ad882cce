// SPDX-License-Identifier: Apache-2.0
#include "monitor/pace.h"

#include <cmath>
#include <opencv2/core.hpp>

#include "monitor/age_text.h"
#include "monitor/recorder.h"
#include "monitor/results.h"
#include "monitor/samples.h"

namespace mpm::monitor::test {
namespace {

TEST(AgeText, IsOfTheLargestUnitThatFitsTwice) {
  for (const auto& [ms, text] :
       std::initializer_list<std::pair<std::int64_t, const char*>>{{-1, "in the future"},
                                                                   {0, "0 s ago"},
                                                                   {2 * kMinuteMs - 1, "119 s ago"},
                                                                   {2 * kMinuteMs, "2 minutes ago"},
                                                                   {2 * kHourMs - 1, "119 minutes ago"},
                                                                   {2 * kHourMs, "2 hours ago"},
                                                                   {2 * kDayMs - 1, "47 hours ago"},
                                                                   {2 * kDayMs, "2 days ago"}})
    EXPECT_EQ(ageText(ms), text);
}

TEST(Pace, IsWhatIsReachedButNoLessThanWasAskedFor) {
  // Seconds asked for, and the steps that came.
  const std::tuple<double, std::vector<double>, double> cases[] = {{1, std::vector(15, 1.0), 1},
                                                                   {60, std::vector(15, 5.0), 60},
                                                                   {1, std::vector(8, 10.0), 10},
                                                                   {1, std::vector(7, 10.0), 1},  // not known yet
                                                                   {0, {30, 30, 30, 30}, 30},
                                                                   {1, {1, 1, 1, 7200, 1, 1, 1, 1}, 1},
                                                                   {10, {}, 10},
                                                                   {0, {}, 0},
                                                                   {1, {2, 9, 2, 9, 2, 9, 2, 9}, 9}};
  for (const auto& [every, steps, usual] : cases) {
    PaceMeter meter(every);
    for (const double step : steps) meter.add(step);
    EXPECT_EQ(meter.pace().usual_s, usual) << every << " " << steps.size();
  }
}

TEST(Pace, ACameraIsAliveForAGapAndAMinute) {
  for (const auto& [usual, seconds] : {std::pair(1.0, 70), {10.0, 85}, {3600.0, 9060}}) {
    EXPECT_TRUE(Pace{usual}.alive(kNoon, kNoon + seconds * kSecondMs)) << usual;
    EXPECT_FALSE(Pace{usual}.alive(kNoon, kNoon + seconds * kSecondMs + 1)) << usual;
  }
}

TEST(Pace, AChangeIsKnownSoonAndAGapIsOne) {
  PaceMeter meter(1);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(meter.add(1));
  EXPECT_FALSE(meter.add(10)) << "a machine may be busy for a moment";
  EXPECT_TRUE(meter.add(11));
  int gaps = 0;
  for (int i = 0; i < 100; ++i) gaps += meter.add(12);
  EXPECT_LT(gaps, 5);
  EXPECT_EQ(meter.pace().usual_s, 12);
  EXPECT_TRUE(meter.add(31));
}

// Gaps by an independent rule: of these series a person can tell them.
TEST(Pace, GapsOfWhatIsStored) {
  const auto count = [](std::vector<double> steps, double every, bool archive = false) {
    std::vector<StoredStep> stored;
    for (const double one : steps) stored.push_back({.seconds = one, .every_s = every});
    return std::ranges::count(findGaps(stored, usualSteps(stored), archive), true);
  };
  EXPECT_EQ(count(std::vector<double>(60, 10), 1), 0) << "too slow is not broken";
  std::vector<double> both(100, 1);
  both.insert(both.end(), 100, 12);
  EXPECT_EQ(count(both, 1), 0) << "also where it becomes slow";
  both[50] = 40;
  both[150] = 40;
  EXPECT_EQ(count(both, 1), 2);
  EXPECT_EQ(count({60, 60, 60, 3600, 60, 60}, 60), 1);
  EXPECT_EQ(count({}, 60), 0);
  std::vector<double> days;
  for (int day = 0; day < 10; ++day) {
    days.insert(days.end(), 20, 1800);
    days.push_back(14 * 3600);
  }
  EXPECT_EQ(count(days, 0), 10);
  EXPECT_EQ(count(days, 0, true), 0) << "an archive without nights";
  days[100] = 3 * 86400;
  EXPECT_EQ(count(days, 0, true), 1);
  std::vector<double> hour(20, 60);
  hour[1] = hour[14] = 1800;
  EXPECT_EQ(count(hour, 0, true), 2) << "no night lasts half an hour";
  hour[14] = 2 * 3600;
  EXPECT_EQ(count(hour, 0, true), 1);
  hour[14] = 86401;
  EXPECT_EQ(count(hour, 0, true), 2);

  // The camera was away for four hours by day, once in ten days or once in two.
  std::vector<double> away(days);
  away[100] = away[90] = 1800;
  away[89] = 9 * 1800;
  away.erase(away.begin() + 90, away.begin() + 98);
  EXPECT_EQ(count(away, 0, true), 1);
  std::vector<double> two(96, 1800);
  two[20] = 4 * 3600;
  two.resize(89);
  EXPECT_EQ(count(two, 0, true), 1);
  EXPECT_EQ(count({days.begin(), days.begin() + 40}, 0, true), 0) << "the only night";
  // Pauses at midday on the days 0 to 7 of 15: only of the last one, half of the fourteen days around have pictures
  // then.
  std::vector<double> midday;
  for (int day = 0; day < 15; ++day) {
    midday.insert(midday.end(), 8, 1800);
    day <= 7 ? midday.insert(midday.end(), 1, 4 * 3600) : midday.insert(midday.end(), 8, 1800);
    midday.insert(midday.end(), 8, 1800);
    midday.push_back(12 * 3600);
  }
  EXPECT_EQ(count(midday, 0, true), 1);
  // Each winter night is longer than any of summer, each time pictures come until its evening.
  std::vector<double> year;
  for (int day = 0; day < 365; ++day) {
    const int pictures = 48 - cvRound(2 * (10 + 6 * std::cos(day * 2 * CV_PI / 365)));
    year.insert(year.end(), pictures, 1800);
    year.push_back(86400 - 1800. * pictures);
  }
  EXPECT_EQ(count(year, 0, true), 0);
  // Two weeks of each June, from 8 to 18 h: the winter between them is one gap, and no night is one.
  std::vector<double> june;
  for (int day = 0; day < 28; ++day) {
    june.insert(june.end(), 10, 3600);
    june.push_back((day == 13 ? 351 * 24 + 14 : 14) * 3600.);
  }
  EXPECT_EQ(count(june, 0, true), 1);
}

TEST(Pace, GapsOfStretchesOfAnArchive) {
  std::vector<StoredStep> steps;  // pictures of each ten minutes from 06:00 to 18:00, by hours
  for (int hour = 0; hour < 240; ++hour)
    if (hour % 24 >= 6 && hour % 24 < 18) steps.push_back({hour % 24 == 17 ? 13 * 3600. : 3600., 6, 0, 3600});
  EXPECT_EQ(std::ranges::count(findGaps(steps, usualSteps(steps), true), true), 0);
  steps[50].seconds = 5 * 3600;  // four hours are missing
  steps.erase(steps.begin() + 51, steps.begin() + 55);
  EXPECT_EQ(std::ranges::count(findGaps(steps, usualSteps(steps), true), true), 1);
}

// Stretches of a minute, in which there are samples each second, or each ten seconds.
TEST(Pace, GapsOfStretches) {
  std::vector<StoredStep> steps;
  for (int minute = 0; minute < 60; ++minute) steps.push_back({60, minute < 30 ? 60.0 : 6.0, 1, 60});
  steps[10].seconds = 120;  // one minute is missing
  steps[40].seconds = 120;
  steps[20].seconds = 60.5;
  EXPECT_EQ(std::ranges::count(findGaps(steps, usualSteps(steps), false), true), 2);
}

TEST(SlowPaceDetector, IsOneEventAndItsEnd) {
  SlowPaceDetector watch;
  std::vector<Reached> cameras(8, {2, 2});
  std::vector<std::string> said;
  std::int64_t ms = 0;
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i)
      if (const auto text = watch.look(cameras, ms += kSecondMs)) said.push_back(*text);
  };
  pass(1000);
  EXPECT_THAT(said, IsEmpty());
  cameras[0].usual_s = 4;  // twice: not yet
  pass(1000);
  EXPECT_THAT(said, IsEmpty());
  cameras[1] = {2, 9.96};
  pass(5);
  cameras[4] = {2, 10.02};
  cameras[5] = {2, 7};
  pass(1000);
  EXPECT_THAT(said, ElementsAre("3 of 8 cameras get a sample in 10 s in place of 2: raise 'every'"));
  EXPECT_TRUE(watch.slow());
  for (Reached& one : cameras) one.usual_s = 2;
  pass(700);
  EXPECT_FALSE(watch.slow());
  cameras[1].usual_s = 9;
  pass(1000);
  EXPECT_THAT(said, SizeIs(2)) << "not twice a day";
  EXPECT_EQ(said[1], "samples come in time again");
  ms += kDayMs;
  cameras = {{0, 100}};
  pass(1000);
  EXPECT_THAT(said, SizeIs(2)) << "as they like";
  cameras = {{0.5, 1.25}};
  pass(10);
  EXPECT_EQ(said.back(), "a sample comes in 1.3 s in place of 0.5: raise 'every'");
}

TEST(PaceOfARecorder, IsThatOfItsSamplesByTheClockThatNeverJumps) {
  Recorder recorder({.source = "demo:", .every_s = 1, .own_clock = true}, nullptr);
  EXPECT_FALSE(recorder.pace());
  EXPECT_FALSE(recorder.sampleAge(0));
  for (int i = 1; i <= 20; ++i) {
    InferenceResult result = resultOf({{"road"}}, cv::Mat(64, 64, CV_8UC3, cv::Scalar::all(9)), kNoon + i * kSecondMs,
                                      {4, 4}, mpmBefore({1, 2}));
    result.frame.steady = i * 7000;
    result.session = 1;
    recorder.add(result, 0);
  }
  EXPECT_EQ(recorder.pace()->usual_s, 7);
  EXPECT_EQ(recorder.sampleAge(150'000), 10);
}

}  // namespace
}  // namespace mpm::monitor::test
