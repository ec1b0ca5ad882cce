// SPDX-License-Identifier: Apache-2.0
// What is day and what is night, how they compare, and the summary of a day.
#include "monitor/statistics/day_night.h"

#include <map>

#include "monitor/clocks.h"
#include "monitor/daily_summary.h"
#include "monitor/privacy.h"
#include "monitor/samples.h"
#include "support/local_zone.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

UnixMs utc(int year, int month, int day, int hour, int minute, int second = 0) {
  std::tm parts{second, minute, hour, day, month - 1, year - 1900, 0, 0, 0, 0, nullptr};
  return static_cast<UnixMs>(::timegm(&parts)) * kSecondMs;
}

TEST(DayNight, AnotherRuleGoesOnFromTheOneBefore) {
  DayNight night(NightByHours{0, 24 * 60, vision::CameraClock()});
  ASSERT_EQ(night.night(kNoon, 200), true);
  night.setRule(NightByBrightness{40, 60});
  EXPECT_EQ(night.night(kNoon, 55), true) << "within the band, so it lasts";
  night.setRule({});
  EXPECT_EQ(night.night(kNoon, 55), std::nullopt);
  EXPECT_THROW(night.setRule(NightByBrightness{60, 40}), Error);
  DayNight resumed;
  resumed.goOn(true);
  EXPECT_EQ(resumed.night(kNoon, 10), std::nullopt) << "what an earlier watch said is no rule";
}

TEST(DayNight, RefusesNonsense) {
  for (const char* text : {"", "21-6", "25:00-06:00", "21:60-06:00", "21:-1-06:00", "21:00-06:60", "21:00-06:-1",
                           "21:00-21:00", "21:00-06:00x", "-1:00-06:00"})
    EXPECT_MPM_ERROR(parseNightHours(text), "");
  EXPECT_MPM_ERROR(DayNight(NightBySun{.latitude = 91, .longitude = 0}), "latitude");
  EXPECT_MPM_ERROR(DayNight(NightBySun{.latitude = 0, .longitude = 181}), "longitude");
  EXPECT_MPM_ERROR(DayNight(NightBySun{.latitude = 0, .longitude = 0, .night_below = -90}), "elevation");
  EXPECT_MPM_ERROR(DayNight(NightByBrightness{.night_below = 60, .day_above = 40}), "day must begin");
  EXPECT_MPM_ERROR(DayNight(NightByBrightness{.night_below = -1, .day_above = 40}), "brightness");
  EXPECT_MPM_ERROR(DayNight(NightByBrightness{.night_below = 60, .day_above = 256}), "brightness");
}

TEST(DayNight, ARuleIsReadBackFromItsText) {
  const NightRule rules[] = {{},
                             NightBySun{.latitude = -33.8675, .longitude = 151.207, .night_below = -0.5},
                             NightBySun{.latitude = 0, .longitude = -1e-7},
                             NightByBrightness{.night_below = 12.25, .day_above = 255},
                             NightByHours{},
                             NightByHours{0, 24 * 60},
                             NightByHours{6 * 60 + 5, 21 * 60 + 59}};
  for (const NightRule& rule : rules) EXPECT_EQ(readNightRule(toText(rule)), rule) << toText(rule);
  for (const char* text : {"sun", "the sun is below -6 degrees at 48 north, 11 east of here",
                           "the sun is below -6 degrees at x north, 11 east", "the sun is below -6 degrees",
                           "the brightness is below 40", "the brightness is below 40, until it is above ",
                           "the clock shows 21:00", "the clock shows 21:00 to 06", "if the clock shows 21:00 to 06:00"})
    EXPECT_EQ(readNightRule(text), std::nullopt) << text;
}

constexpr UnixMs kFirstOfJune = kNoon - kDayMs / 2;

// Frames of a second each, with day and night by the sun, all with the same tokens.
std::vector<HourOfTokens> bySun(UnixMs from, int days) {
  DayNight rule(NightBySun{.latitude = 52.5, .longitude = 13.4});
  std::vector<HourOfTokens> hours;
  for (UnixMs start = from; start < from + days * kDayMs; start += kHourMs) {
    std::int64_t samples[2] = {};
    for (UnixMs time = start; time < start + kHourMs; time += 5 * kMinuteMs) samples[*rule.night(time, 0)] += 300;
    for (const bool night : {false, true})
      if (samples[night] > 0) hours.push_back({start, night, {{400 + (night ? 10 : 0), samples[night]}}});
  }
  return hours;
}

Difference blocksOf(const std::vector<HourOfTokens>& hours) {
  return *compareDayNight(hours, hours.back().start + kHourMs).difference;
}

TEST(Statistics, AMonthHasThirtyDaysInAnySeason) {
  for (int day : {-88, -22, 4, 24, 30, 150}) {  // after 1 June: 5 March, 10 May, 5 June, 25 June, 1 July, 29 October
    const Difference difference = blocksOf(bySun(kFirstOfJune + day * kDayMs, 30));
    EXPECT_EQ(difference.block, Difference::Block::kPeriod) << day;
    EXPECT_EQ(difference.day_blocks, 30) << day;
    EXPECT_EQ(difference.night_blocks, 31) << day << ": the first and the last night are cut";
    EXPECT_NEAR(difference.tokens, 10, 1e-9) << day;
  }
  const Difference year = blocksOf(bySun(kFirstOfJune, 365));
  EXPECT_EQ(year.day_blocks, 365);
  EXPECT_EQ(year.night_blocks, 366);
}

TEST(Statistics, StrayFramesMakeNoDay) {
  std::vector<HourOfTokens> hours = bySun(kFirstOfJune - 88 * kDayMs, 30);
  std::map<UnixMs, int> sides;
  for (const HourOfTokens& hour : hours) ++sides[hour.start];
  for (std::size_t i = 0, count = hours.size(); i < count; ++i)
    if (hours[i].night && sides[hours[i].start] == 1) hours.push_back({hours[i].start, false, {{500, 3}}});
  const Difference difference = blocksOf(hours);
  EXPECT_EQ(difference.block, Difference::Block::kPeriod);
  EXPECT_EQ(difference.day_blocks, 30);
  EXPECT_EQ(difference.night_blocks, 31);
  EXPECT_LT(*difference.plus_minus, 0.1) << "and do not blur the days that there are";
}

TEST(ClockDetector, TellsJumpsFromDrift) {
  ClockDetector watch;
  EXPECT_EQ(watch.jump(1'000'000, 0), std::nullopt);
  for (int second = 1; second < 10000; ++second)  // a clock that runs 0.1 % fast: ten seconds in all
    ASSERT_EQ(watch.jump(1'000'000 + second * 1001, second * 1000), std::nullopt);
  ClockDetector back;
  back.jump(5'000'000, 0);
  EXPECT_EQ(back.jump(5'001'000 - 3'600'000, 1000), -3'600'000);
  EXPECT_EQ(back.jump(5'002'000 - 3'600'000, 2000), std::nullopt) << "reported once";
  EXPECT_EQ(back.jump(5'003'000, 3000), 3'600'000);
}

TEST(Time, IsoText) {
  EXPECT_EQ(isoTime(utc(2026, 11, 3, 17, 4, 5) + 250), "2026-11-03T17:04:05Z");
  EXPECT_EQ(isoTime(utc(2026, 11, 3, 17, 4, 5) + 250, true), "2026-11-03T17:04:05.250Z");
  EXPECT_EQ(isoTime(-1, true), "1969-12-31T23:59:59.999Z");
}

constexpr UnixMs kTenMinutes = 10 * kMinuteMs;
// 2026-10-25, in Berlin 25 hours long.
constexpr UnixMs kFrom = 1'792'879'200'000, kTo = kFrom + 25 * kHourMs, kSeven = kTo + 7 * kHourMs;

class DailySummaryTest : public InFolder {
 protected:
  // A sample each ten minutes of [from, to), with a region, where `night` says so of 500 tokens and more cars.
  void add(UnixMs from, UnixMs to, const std::function<std::optional<bool>(UnixMs)>& night) {
    std::vector<Sample> samples;
    for (UnixMs time = from; time < to; time += kTenMinutes) {
      const bool dark = night(time).value_or(false);
      Sample sample = sampleAt(time, dark ? 500 : 300, night(time));
      sample.whole().areas = {{0, 0.5}, {1, dark ? 0.3 : 0.1}, {2, 0.05}, {3, dark ? 0.14 : 0.04}};
      sample.regions.push_back(regionOf(0, {100, dark ? 50. : 100., 100}));
      samples.push_back(sample);
    }
    record(path_, samples, session("camera 0", 600), {regionNamed("gate")});
  }
  void add(const std::vector<Event>& events) {
    RunningWriter writer(path_);
    for (const Event& event : events) writer.append(event);
    ASSERT_TRUE(writer.flush());
  }
  static std::optional<bool> byClock(UnixMs time) { return time < kFrom + 6 * kHourMs || time >= kFrom + 19 * kHourMs; }
  // The one that is due, if any, which is stored.
  std::optional<Event> due(UnixMs now, const std::string& pictures = "") {
    const std::vector<Event> all = summary_.due(now, path_, "camera 0", pictures);
    EXPECT_LE(all.size(), 1U);
    add(all);
    return all.empty() ? std::nullopt : std::optional(all.front());
  }
  static std::vector<Json> datesOf(const std::vector<Event>& events) {
    std::vector<Json> dates;
    for (const Event& event : events) dates.push_back(event.facts["summary"]["date"]);
    return dates;
  }
  const mpm::test::LocalZone zone_{"CET-1CEST,M3.5.0,M10.5.0/3"};
  const vision::CameraClock clock_ = vision::CameraClock::ofMachine();
  DailySummary summary_{7, clock_, kSeven};
};

TEST_F(DailySummaryTest, HasTheDayBeforeByDayAndByNight) {
  add(kFrom - kHourMs, kFrom + 12 * kHourMs, byClock);
  add(kFrom + 14 * kHourMs, kSeven, byClock);
  const auto alarm = [](UnixMs time, EventKind kind) { return Event{time, kind, Severity::kWarning, "x"}; };
  add({alarm(kFrom - 1, EventKind::kAlarm), alarm(kFrom, EventKind::kAlarm), alarm(kTo - 1, EventKind::kAlarm),
       alarm(kTo - 1, EventKind::kAlarmEnded), alarm(kTo, EventKind::kAlarm)});
  std::filesystem::create_directory(folder_ / "shots");
  for (const auto& [time, source] : {std::pair("25T09-00", "camera 0"),
                                     {"25T11-00", "camera 1"},
                                     {"25T11-15", "camera 0"},
                                     {"25T14-00", "camera 0"},
                                     {"25T23-30", "camera 0"}}) {
    const std::string stem = folder_ / "shots/2026-10-" + time + "-00.000Z";
    for (const char* ending : {".png", "_overlay.png"}) std::ofstream(stem + ending) << "picture";
    std::ofstream(stem + ".json") << Json{{"source", source}, {"database", StoreReader(path_).id()}};
  }
  std::ofstream(folder_ / "shots/2026-10-25T11-10-00.000Z.png") << "of another camera of this stream";
  std::ofstream(folder_ / "shots/2026-10-25T11-10-00.000Z.json") << Json{{"source", "camera 0"}, {"database", "other"}};
  EXPECT_EQ(due(kSeven - 1).value().facts["summary"]["date"], "2026-10-24") << "due since yesterday, and none was told";
  const Event event = due(kSeven, folder_ / "shots").value();
  EXPECT_EQ(std::tuple(event.time, event.kind, event.severity),
            std::tuple(kSeven, EventKind::kSummary, Severity::kInfo));
  const Json told = toJson(event), facts = told["summary"];
  EXPECT_EQ(told["event"], "summary");
  EXPECT_EQ(facts["date"], "2026-10-25");
  EXPECT_EQ(facts["samples"], 23 * 6);
  EXPECT_EQ(facts["gaps"], 1);
  EXPECT_EQ(facts["gap_minutes"], 130) << "from 12:50 to 15:00 of the clock";
  EXPECT_EQ(facts["alarms"], 2);
  EXPECT_EQ(facts["picture_file"], folder_ / "shots/2026-10-25T11-15-00.000Z.png") << "its first one from noon on";
  ASSERT_TRUE(due(kSeven + kDayMs));
  EXPECT_EQ(due(kSeven + 2 * kDayMs, folder_ / "shots").value().facts["summary"]["picture_file"], "");
  EXPECT_EQ(facts["day"]["tokens"], 300);
  EXPECT_EQ(facts["night"]["tokens"], 500);
  EXPECT_EQ(facts["day"]["area_fraction"], Json({{"road", 0.5}, {"car", 0.1}, {"sky", 0.05}, {"tree", 0.04}}));
  EXPECT_EQ(facts["night"]["area_fraction"]["car"], 0.3);
  EXPECT_EQ(facts["day"]["regions"]["gate"]["green"], 100);
  EXPECT_EQ(facts["night"]["regions"]["gate"]["green"], 50);
  EXPECT_FALSE(facts.contains("all"));
  EXPECT_THAT(event.message, ::testing::MatchesRegex(
                                 "2026-10-25 .local time.: 138 samples, 1 gap of 130 minutes, 2 alarms; by day tokens "
                                 "300.0, road 50.0 %, car 10.0 %, "
                                 "sky 5.0 %; by night tokens 500.0, road 50.0 %, car 30.0 %, tree 14.0 %"))
      << "the largest classes of each part";
}

TEST_F(DailySummaryTest, HasAllWhereSomeAreNeitherDayNorNight) {
  const UnixMs rule_from = kFrom + 20 * kHourMs;
  add(kFrom, kSeven, [&](UnixMs time) { return time < rule_from ? std::nullopt : byClock(time); });
  const Event event = due(kSeven).value();
  const Json facts = event.facts["summary"];
  EXPECT_EQ(facts["night"]["tokens"], 500);
  EXPECT_EQ(facts["all"]["tokens"], 340) << "120 samples before the rule, 30 after it";
  EXPECT_THAT(event.message, HasSubstr("; tokens 340.0, road 50.0 %"));
}

TEST_F(DailySummaryTest, HasTheNumbersOfTheModelOfThatDay) {
  add(kFrom, kTo, byClock);
  SessionInfo other = session("camera 0", 600);
  other.model_digest = "00000000000000b2";
  record(path_, {sampleAt(kTo + kHourMs, 111)}, other);
  const Json facts = due(kSeven).value().facts["summary"];
  EXPECT_EQ(facts["samples"], 25 * 6);
  EXPECT_EQ(facts["day"]["tokens"], 300);
  EXPECT_EQ(facts["night"]["regions"]["gate"]["green"], 50);
}

TEST_F(DailySummaryTest, NamesNoPictureThatShowsWhatIsHiddenByNow) {
  add(kFrom, kSeven, byClock);
  const PrivacyOptions hidden{.blurred = {"person"}};
  {
    RunningWriter writer(path_);
    writer.setPrivacy("camera 0", hidden.json());
    ASSERT_TRUE(writer.flush());
  }
  std::filesystem::create_directory(folder_ / "shots");
  const auto write = [&](const std::string& time, const Json& blur) {
    const std::string stem = folder_ / "shots/2026-10-25T" + time + "-00.000Z";
    std::ofstream(stem + ".png") << "picture";
    std::ofstream(stem + ".json") << Json{{"source", "camera 0"},
                                          {"database", StoreReader(path_).id()},
                                          {"hides", {{"regions", hidden.regionsDigest()}, {"blur", blur}}}};
    return stem + ".png";
  };
  (void)write("12-00", Json::array());
  const auto named = [&] {
    return DailySummary(7, clock_, kSeven).due(kSeven, path_, "camera 0", folder_ / "shots").at(0).facts["summary"];
  };
  EXPECT_EQ(named()["picture_file"], "");
  const std::string blurred = write("13-00", {"person"});
  EXPECT_EQ(named()["picture_file"], blurred);
}

TEST_F(DailySummaryTest, ComesOnceADayAlsoAfterARestart) {
  add(kFrom, kTo + 6 * kHourMs, [](UnixMs) { return std::nullopt; });
  const Event event = summary_.due(kTo + 20 * kHourMs, path_, "camera 0", "").at(0);  // it was off at seven
  EXPECT_EQ(event.facts["summary"]["all"]["tokens"], 300) << "day and night are not known";
  EXPECT_FALSE(event.facts["summary"].contains("day"));
  EXPECT_FALSE(due(kTo + 21 * kHourMs));
  summary_ = DailySummary(7, clock_, kTo + 21 * kHourMs);
  EXPECT_TRUE(due(kTo + 21 * kHourMs)) << "it was killed before the event was stored";
  summary_ = DailySummary(7, clock_, kTo + 21 * kHourMs);
  EXPECT_FALSE(due(kTo + 21 * kHourMs));
  const Json next = due(kSeven + kDayMs).value().facts["summary"];
  EXPECT_EQ(next["samples"], 6 * 6);
  EXPECT_EQ(next["gaps"], 1) << "until the end of the day";
  EXPECT_EQ(next["gap_minutes"], 18 * 60 + 10);
}

TEST_F(DailySummaryTest, AfterAnOutageAllThatWereDueCome) {
  add(kFrom, kTo, byClock);
  const auto at = [&](UnixMs now) { return datesOf(summary_.due(now, path_, "camera 0", "")); };
  ASSERT_TRUE(due(kSeven));
  summary_ = DailySummary(7, clock_, kSeven + 3 * kDayMs);
  EXPECT_THAT(at(kSeven + 3 * kDayMs), ElementsAre("2026-10-26", "2026-10-27", "2026-10-28"));
  summary_ = DailySummary(7, clock_, kSeven + 30 * kDayMs);
  EXPECT_THAT(at(kSeven + 30 * kDayMs), AllOf(SizeIs(7), Contains("2026-11-18"), Contains("2026-11-24")));
  summary_ = DailySummary(7, clock_, 0);  // of a scene whose clock is not that of this machine
  EXPECT_THAT(at(kSeven + kDayMs), ElementsAre("2026-10-26"));
}

TEST_F(DailySummaryTest, WhatWasDueYesterdayComesBeforeTheHourOfToday) {
  add(kFrom, kTo, byClock);
  EXPECT_FALSE(due(kSeven - kMinuteMs));
  const UnixMs early = kSeven + kDayMs - 2 * kHourMs;  // a run of each day at five
  EXPECT_EQ(due(early).value().facts["summary"]["date"], "2026-10-25");
  EXPECT_FALSE(due(early + kHourMs));
  for (const int hour : {4, 7, 20}) {  // another hour tells no day twice
    summary_ = DailySummary(hour, clock_, early);
    EXPECT_THAT(datesOf(summary_.due(early + 16 * kHourMs, path_, "camera 0", "")), ElementsAre("2026-10-26"));
  }
}

TEST_F(DailySummaryTest, TheFirstIsOfTheDayBeforeItWasAskedFor) {
  add(kFrom - 2 * kDayMs, kTo, byClock);
  EXPECT_THAT(datesOf(summary_.due(kSeven, path_, "camera 0", "")), ElementsAre("2026-10-25"));
  summary_ = DailySummary(7, clock_, 0);
  EXPECT_THAT(datesOf(summary_.due(kSeven, path_, "camera 0", "")),
              ElementsAre("2026-10-23", "2026-10-24", "2026-10-25"));
  const UnixMs early = kSeven - 2 * kHourMs;
  summary_ = DailySummary(7, clock_, early);
  EXPECT_THAT(datesOf(summary_.due(early, path_, "camera 0", "")), ElementsAre("2026-10-24")) << "due since yesterday";
}

TEST_F(DailySummaryTest, ADayWithoutSamplesIsOneAndTheFirstDayIsNone) {
  add(kFrom + kHourMs, kFrom + 2 * kHourMs, byClock);
  EXPECT_FALSE(due(kFrom + 8 * kHourMs));
  EXPECT_THAT(due(kSeven, folder_ / "missing").value().message,
              HasSubstr("2026-10-25 (local time): 6 samples, 1 gap of 13"))
      << "its first hour is none";
  const Event event = due(kSeven + kDayMs).value();
  EXPECT_EQ(event.message, "2026-10-26 (local time): 0 samples, 1 gap of 1440 minutes, 0 alarms");
  EXPECT_EQ(event.severity, Severity::kWarning);
  EXPECT_THAT(DailySummary(7, clock_, kSeven).due(kSeven, path_, "camera 1", ""), IsEmpty());
}

}  // namespace
}  // namespace mpm::monitor::test
