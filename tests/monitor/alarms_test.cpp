// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/alarms.h"

#include "monitor/samples.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

TEST(Alarms, LimitsOfZeroAndBelow) {
  Alarms alarms({.alarms = {parseAlarm("tokens>0"), parseAlarm("tokens<-20")}, .minutes = 0, .hysteresis = 0.1});
  int second = 0;
  const auto add = [&](double value) { return alarms.add(sampleAt(kNoon, value), ++second * 1000).size(); };
  EXPECT_EQ(add(0), 0u) << "on the limit";
  EXPECT_EQ(add(0.5), 1u);
  EXPECT_EQ(add(0.1), 0u);
  EXPECT_EQ(add(0), 1u) << "back";
  EXPECT_EQ(add(-20), 0u);
  EXPECT_EQ(add(-20.5), 1u);
  EXPECT_EQ(add(-19), 0u) << "inside, but within the hysteresis";
  EXPECT_EQ(add(-18), 1u);
}

TEST(Alarms, ABandIsNotEmpty) {
  for (const auto& [upper, right] : {std::pair("tokens>400", false), {"tokens>401", true}, {"gate:tokens>400", true}}) {
    const AlarmOptions options{.alarms = {parseAlarm("tokens<400"), parseAlarm(upper)}};
    if (right)
      EXPECT_NO_THROW(options.validate()) << upper;
    else
      EXPECT_THROW(options.validate(), Error) << upper;
  }
}

TEST(Alarms, MissingFramesRingOnAfterARestart) {
  const AlarmOptions options{.alarms = {parseAlarm("no-frame>60")}};
  std::vector<AlarmState> stored;
  std::vector<std::string> messages;
  for (int run = 0; run < 3; ++run) {
    Alarms alarms(options);
    EXPECT_THAT(alarms.resume(stored, {}, kNoon, 0), IsEmpty());
    for (const double age : {-1., run < 2 ? 90. : 0.})  // none came yet, then the last one is so old
      for (const Event& event : alarms.tick(kNoon, 0, age)) messages.push_back(event.message);
    stored = alarms.states();
  }
  EXPECT_THAT(messages, ElementsAre("no frame for 60 s", "frames come again")) << "each once";
}

// Also one whose region is not measured any more, and of a notation that this version does not read.
TEST(Alarms, WhatRangAndIsNotWatchedForAnyMoreEnds) {
  Alarms alarms({.alarms = {parseAlarm("tokens>500"), parseAlarm("tree:gcc<1")}});
  (void)alarms.setRegions({}, kNoon);
  const auto events = alarms.resume({{"car>20", kNoon, true},
                                     {"sky<5", kNoon, false},
                                     {"tokens>500", kNoon, true},
                                     {"tree:gcc<1", kNoon, true},
                                     {"?", kNoon + kDayMs, true}},
                                    {}, kNoon + kMinuteMs, 0);
  std::vector<std::pair<UnixMs, std::string>> told;
  for (const Event& event : events) {
    EXPECT_EQ(event.kind, EventKind::kAlarmEnded);
    told.emplace_back(event.time - kNoon, event.message);
  }
  EXPECT_THAT(told, ElementsAre(std::pair(kMinuteMs, "area of car no longer watched for"),
                                std::pair(kMinuteMs, "gcc of tree no longer watched for"),
                                std::pair(kDayMs, "? no longer watched for")));
  EXPECT_EQ(alarms.states(), (std::vector<AlarmState>{{"tokens>500", kNoon, true}}));
}

// A number that is outside for two of three minutes rings a minute after the restart; one that was outside before a
// long stop does not: what was between is unknown.
TEST(Alarms, MinutesCountOnOverARestart) {
  for (const auto& [stopped_s, rings_at] : {std::pair(5, 1), {3600, -1}}) {
    const AlarmOptions options{.alarms = {parseAlarm("tokens>500"), parseAlarm("tree:gcc<1")}, .minutes = 3};
    Alarms before(options);
    std::vector<UnixMs> times;
    for (int i = 0; i <= 24; ++i) {
      times.push_back(kNoon + i * 5 * kSecondMs);
      EXPECT_THAT(before.add(sampleAt(times.back(), 600), i * 5 * kSecondMs), IsEmpty());
    }
    EXPECT_EQ(before.states(), (std::vector<AlarmState>{{"tokens>500", kNoon, false}}));
    Alarms after(options);
    const UnixMs now = times.back() + stopped_s * kSecondMs;
    EXPECT_THAT(after.resume(before.states(), times, now, 7'000'000), IsEmpty());
    int rang = -1;
    for (int i = 0; i < 30; ++i)
      if (!after.add(sampleAt(now, 600), 7'000'000 + i * 5 * kSecondMs).empty()) rang = (i * 5 + 5) / 60;
    EXPECT_EQ(rang, rings_at) << stopped_s;
  }
}

// What comes in the time that is asked for now leaves no gap in which values are unknown.
TEST(Alarms, AnotherEveryMakesNoGaps) {
  const AlarmOptions options{.alarms = {parseAlarm("tokens>500")}, .minutes = 1};
  std::vector<UnixMs> times;
  for (int i = 0; i < 20; ++i) times.push_back(kNoon + i * kSecondMs);
  Alarms alarms(options, 30);
  EXPECT_THAT(alarms.resume({}, times, times.back(), 19 * kSecondMs), IsEmpty());
  std::vector<int> rang;
  for (int i = 0; i < 5; ++i)
    if (!alarms.add(sampleAt(kNoon, 600), (40 + i * 30) * kSecondMs).empty()) rang.push_back(i);
  EXPECT_THAT(rang, ElementsAre(2)) << "a minute after the first";
}

// Each text, and what is read: region, quantity, state, above, limit.
TEST(Alarms, AreWrittenInOneNotation) {
  const std::tuple<const char*, Alarm> cases[] = {
      {"car>20", {.quantity = "car", .limit = 20}},
      {"sky<5.5", {.quantity = "sky", .above = false, .limit = 5.5}},
      {"tokens>900", {.quantity = "tokens", .limit = 900}},
      {"no-frame>60", {.quantity = "no-frame", .limit = 60}},
      {"tree:gcc<0.35", {.region = "tree", .quantity = "gcc", .above = false, .limit = 0.35}},
      {"a:b:exg<-2", {.region = "a:b", .quantity = "exg", .above = false, .limit = -2}},
      {"gate=open", {.quantity = "gate", .state = "open"}},
      {"gate=a>b", {.quantity = "gate", .state = "a>b"}}};
  for (const auto& [text, alarm] : cases) {
    EXPECT_EQ(parseAlarm(text), alarm) << text;
    EXPECT_EQ(toString(alarm), text);
  }
  const std::pair<const char*, const char*> wrong[] = {
      {"", "is no alarm"},
      {"car", "is no alarm"},
      {"car>", "is no alarm"},
      {">20", "is no alarm"},
      {"car>2O", "is no alarm"},
      {"tokens>nan", "is no alarm"},
      {"car>120", "0 to 100"},
      {"tree:car<-1", "0 to 100"},
      {"tree:inference_ms>9", "is of the whole picture, not of a region"},
      {":gcc<1", "is not REGION:"},
      {"no-frame<60", "no-frame>SECONDS"},
      {"a:no-frame>6", "no-frame>SECONDS"},
      {"=open", "is not NAME=STATE"},
      {"gate=", "is not NAME=STATE"}};
  for (const auto& one : wrong) EXPECT_MPM_ERROR(parseAlarm(one.first), one.second) << one.first;
}

TEST(Alarms, NoFrame) {
  Alarms alarms({.alarms = {parseAlarm("no-frame>30")}});
  EXPECT_THAT(alarms.tick(kNoon, 0, -1), IsEmpty());
  EXPECT_THAT(alarms.tick(kNoon, 29'000, -1), IsEmpty());
  EXPECT_THAT(alarms.tick(kNoon, 30'000, -1), SizeIs(1)) << "also when there never was one";
  EXPECT_THAT(alarms.tick(kNoon, 31'000, 0.1), SizeIs(1));
  EXPECT_THAT(alarms.tick(kNoon, 61'000, 29.9), IsEmpty());
  EXPECT_THAT(alarms.tick(kNoon, 61'200, 30.1), SizeIs(1));
  EXPECT_THAT(alarms.tick(kNoon, 99'000, 70), IsEmpty());
  Alarms more({.alarms = {parseAlarm("tokens>900"), parseAlarm("no-frame>30")}}), none({});
  EXPECT_THAT(more.follow(alarms, kNoon), IsEmpty());
  EXPECT_THAT(more.tick(kNoon, 99'500, 70.5), IsEmpty()) << "it rings on";
  EXPECT_THAT(more.tick(kNoon, 100'000, 0.1), SizeIs(1));
  EXPECT_THAT(none.follow(alarms, kNoon), SizeIs(1));
}

TEST(Alarms, EachOfTwoSilencesRings) {
  Alarms alarms({.alarms = {parseAlarm("no-frame>20"), parseAlarm("no-frame>6")}});
  const auto rings = [&](double age) {
    (void)alarms.tick(kNoon, 0, age);
    const auto all = alarms.ringing();
    return std::pair(all.at(0).second, all.at(1).second);
  };
  EXPECT_EQ(rings(5), std::pair(false, false));
  EXPECT_EQ(rings(6), std::pair(false, true));
  EXPECT_EQ(rings(20), std::pair(true, true));
  EXPECT_EQ(rings(0), std::pair(false, false));
}

TEST(Alarms, AnAlarmOfAStateRestsWhereItsHeadIsNotRead) {
  Alarms alarms({.alarms = {parseAlarm("gate=open")}});
  EXPECT_THAT(alarms.setHeads({{"gate", "1"}}, kNoon), IsEmpty());
  Sample sample = sampleAt(kNoon);
  sample.states = {{.name = "gate", .state = "open", .counted = "open"}};
  EXPECT_THAT(alarms.add(sample, 0), SizeIs(1));
  const auto events = alarms.setHeads({}, kNoon);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].kind, EventKind::kAlarmEnded);
  EXPECT_THAT(alarms.states(), IsEmpty());
  EXPECT_THAT(alarms.setHeads({}, kNoon), IsEmpty()) << "once";
}

TEST(Alarms, AJumpOfTheClockRingsNothing) {
  Alarms alarms({.alarms = {parseAlarm("tokens>300")}, .minutes = 5});
  EXPECT_THAT(alarms.add(sampleAt(kNoon), 0), IsEmpty());
  EXPECT_THAT(alarms.add(sampleAt(kNoon + kDayMs), 1000), IsEmpty());
}

TEST(Alarms, RefusesNonsense) {
  EXPECT_MPM_ERROR(Alarms({.alarms = {parseAlarm("tokens>300"), parseAlarm("tokens<400")}}), "empty");
  EXPECT_MPM_ERROR(Alarms({.minutes = -1}), "negative");
  for (const double share : {-0.1, 1.0}) EXPECT_MPM_ERROR(Alarms({.hysteresis = share}), "hysteresis");
}

TEST(Alarms, LargeNumbersAreWrittenOut) {
  Alarms alarms({.alarms = {parseAlarm("pixels>122875")}, .minutes = 0});
  Sample sample = sampleAt(kNoon);
  sample.whole().set("pixels", 122876);
  const auto events = alarms.add(sample, 0);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_THAT(events[0].message, HasSubstr("pixels 122876 above 122875"));
}

}  // namespace
}  // namespace mpm::monitor::test
