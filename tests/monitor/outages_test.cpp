// SPDX-License-Identifier: Apache-2.0
#include "monitor/samples.h"
#include "monitor/sql.h"
#include "monitor/store/calendar.h"

namespace mpm::monitor::test {
namespace {

using Cause = OutageCause;

using OutagesTest = InFolder;

// After noon.
UnixMs minutesOn(double minutes) { return kNoon + static_cast<UnixMs>(minutes * kMinuteMs); }

Sample sampleOf(double minute, int flags = 0, std::optional<bool> unchanged = {}, bool night = false) {
  FrameFacts facts{.unchanged = unchanged};
  facts.quality = {.sharpness = 90, .contrast = 20, .flags = flags};
  return sampleAt(minutesOn(minute), 377, night, facts);
}

Event damagedAt(double minute) {
  return {minutesOn(minute), EventKind::kDamaged, Severity::kWarning, "left out: it is cut off"};
}

// Of all that is stored, in minutes after noon.
std::vector<std::tuple<double, double, OutageCause>> outagesIn(const std::string& path, UnixMs from = INT64_MIN,
                                                               UnixMs to = INT64_MAX, std::optional<UnixMs> now = {}) {
  std::vector<std::tuple<double, double, OutageCause>> found;
  const auto minutes = [](UnixMs time) { return static_cast<double>(time - kNoon) / kMinuteMs; };
  for (const Outage& one : StoreReader(path).outages(1, from, to, now))
    found.emplace_back(minutes(one.begin), minutes(one.end), one.cause);
  return found;
}

TEST_F(OutagesTest, ACameraIsAwaitedUntilItsWatchEnds) {
  const UnixMs last = minutesOn(19), now = minutesOn(120);
  std::vector<Sample> samples;
  for (int minute = 0; minute <= 19; ++minute) samples.push_back(sampleOf(minute));
  record(path_, samples, session("camera 0", 60));
  EXPECT_EQ(StoreReader(path_).awaited(1, now), std::nullopt);
  EXPECT_EQ(StoreReader(path_).awaited(1, now, true), now);
  runSql(path_, "UPDATE session SET ended_ms = NULL");
  EXPECT_EQ(StoreReader(path_).awaited(1, now), now);
  EXPECT_EQ(StoreReader(path_).awaited(1, now, false), std::nullopt);
  EXPECT_THAT(outagesIn(path_, minutesOn(10), last + kMinuteMs, now), SizeIs(1))
      << "also in a span that ends soon after the last sample";
  runSql(path_, "UPDATE source SET archive = 1");
  EXPECT_EQ(StoreReader(path_).awaited(1, now, true), std::nullopt);
  runSql(path_, "UPDATE source SET archive = 0, name = 'demo:street'");
  EXPECT_EQ(StoreReader(path_).awaited(1, now, true), std::nullopt);
}

TEST_F(OutagesTest, DamagedPicturesOfACameraAreTheCauseOfAGap) {
  {
    StoreWriter writer(path_);
    writer.beginSession(session("camera 0", 60));
    for (int minute = 0; minute < 200; ++minute)
      if (minute <= 50 || minute >= 90) writer.append(sampleOf(minute));
    for (const double minute : {20.5, 60.0, 70.0, 210.0}) writer.append(damagedAt(minute));
    writer.append(Event{minutesOn(65), EventKind::kSource, Severity::kWarning, "is silent"});
    ASSERT_TRUE(writer.flush());
  }
  EXPECT_THAT(outagesIn(path_), ElementsAre(std::tuple(50, 60, Cause::kGap), std::tuple(60, 90, Cause::kDamaged)))
      << "a frame that is damaged between others is no outage";
  EXPECT_THAT(outagesIn(path_, minutesOn(180), INT64_MAX, minutesOn(300)),
              ElementsAre(std::tuple(199, 210, Cause::kGap), std::tuple(210, 300 - 1. / kMinuteMs, Cause::kDamaged)));
  EXPECT_EQ(StoreReader(path_).gaps(1, INT64_MIN, INT64_MAX).total, 40 * kMinuteMs) << "it is a gap all the same";
}

TEST_F(OutagesTest, AnotherEveryMakesNoCameraSlow) {
  {
    StoreWriter writer(path_);
    double minute = 0;
    std::string began;
    for (int id = 1; const double every_s : {60, 600, 30}) {
      writer.beginSession(session("camera 0", every_s));
      began += "UPDATE session SET started_ms = " + std::to_string(minutesOn(minute)) +
               " WHERE id = " + std::to_string(id++) + ";";
      for (int i = 0; i < 40; ++i, minute += every_s / 60) writer.append(sampleOf(minute));
    }
    ASSERT_TRUE(writer.flush());
    runSql(path_, began);
  }
  EXPECT_THAT(outagesIn(path_), IsEmpty());
}

TEST_F(OutagesTest, AMachineThatIsTooSlowAndACameraThatWasMoved) {
  {
    StoreWriter writer(path_);
    writer.beginSession(session("camera 0", 10));
    double minute = 0;
    for (int i = 0; i < 60; ++i, minute += 1. / 6) writer.append(sampleOf(minute));
    for (int i = 0; i < 40; ++i, minute += 0.5) writer.append(sampleOf(minute));
    for (int i = 0; i < 60; ++i, minute += 1. / 6) writer.append(sampleOf(minute));
    writer.append(Event{minutesOn(20), EventKind::kView, Severity::kWarning, "the camera was moved"});
    writer.append(Event{minutesOn(5), EventKind::kView, Severity::kInfo, "the camera was moved a little"});
    ASSERT_TRUE(writer.flush());
  }
  runSql(path_, "UPDATE session SET started_ms = " + std::to_string(minutesOn(0)));
  const auto found = outagesIn(path_);
  ASSERT_EQ(found.size(), 2u) << "regions follow a small motion";
  const auto [begin, end, cause] = found[0];
  EXPECT_EQ(cause, Cause::kSlow);
  EXPECT_NEAR(begin, 10, 1);
  EXPECT_NEAR(end, 30, 2);
  EXPECT_EQ(found[1], std::tuple(20, 20, Cause::kMoved));
  const auto bands = chartBands({}, {}, StoreReader(path_).outages(1, INT64_MIN, INT64_MAX));
  ASSERT_EQ(bands.size(), 1u);
  std::vector<std::string> words;
  for (const auto& [time, word] : bands[0].changes) words.push_back(word);
  EXPECT_THAT(words, ElementsAre("too slow", "moved", "too slow", ""));
  EXPECT_THAT(bands[0].known, ::testing::IsSupersetOf({"too slow", "moved", "stuck"})) << "each has its own colour";
}

TEST_F(OutagesTest, AreTheSameForEachSpan) {
  constexpr double kHours = 60, kDays = 24 * kHours;
  std::vector<Sample> archive, camera;
  const std::vector<std::pair<int, int>> pauses = {{-470, -460}, {-446, -436}, {-44, -34}, {-20, -10}};
  for (int hour = -480; hour < 0; ++hour) {
    if (std::ranges::none_of(pauses, [&](const auto& one) { return one.first < hour && hour < one.second; }))
      archive.push_back(sampleOf(hour * kHours));
  }
  for (int i = 0; i < 40; ++i) camera.push_back(sampleOf((2 * i - (i < 20 ? 104 : 100)) * kDays));
  {
    StoreWriter writer(path_);
    writer.beginSession(session("archive", 0), archive.front().time);
    for (const Sample& sample : archive) writer.append(sample);
    ASSERT_TRUE(writer.flush());
  }
  record(folder_ / "camera.db", camera, session("camera 0", 0));
  std::vector<std::tuple<double, double, OutageCause>> gaps;
  for (const auto& [from, to] : pauses) gaps.emplace_back(from * kHours, to * kHours, Cause::kGap);
  EXPECT_EQ(outagesIn(path_), gaps) << "four in twenty days are no nights";
  for (const std::size_t first : {0, 2}) {
    EXPECT_THAT(outagesIn(path_, minutesOn((pauses[first].first + 1) * kHours),
                          minutesOn((pauses[first + 1].second - 1) * kHours)),
                SizeIs(2));
  }
  EXPECT_THAT(outagesIn(folder_ / "camera.db"), ElementsAre(std::tuple(-66 * kDays, -60 * kDays, Cause::kGap)));
  EXPECT_THAT(outagesIn(folder_ / "camera.db", minutesOn(-64 * kDays), minutesOn(-63 * kDays)),
              ElementsAre(std::tuple(-64 * kDays, -63 * kDays - 1. / kMinuteMs, Cause::kGap)));
}

// The gate was open for half an hour, then nothing could be read for half an hour, then it was shut.
TEST_F(OutagesTest, WhatAStateWasWhilePicturesWereDamagedIsNotKnown) {
  {
    StoreWriter writer(path_);
    writer.beginSession(session("camera 0", 60));
    for (int minute = 0; minute <= 90; ++minute) {
      if (minute > 30 && minute < 60) continue;
      Sample sample = sampleOf(minute);
      const char* const state = minute <= 30 ? "open" : "shut";
      sample.states = {{.name = "gate", .state = state, .probability = 1, .sure = true, .counted = state}};
      writer.append(sample);
    }
    writer.append(damagedAt(31));
    ASSERT_TRUE(writer.flush());
  }
  const StoreReader store(path_);
  const auto days = calendarOf(store, store.sources(minutesOn(91))[0], store.series(1)[0],
                               {.series = {}, .states = "gate", .state = "open"}, {}, minutesOn(0), minutesOn(90))
                        .days;
  ASSERT_EQ(days.size(), 1U);
  EXPECT_NEAR(*days[0].value, 50, 0.1);
}

// What a month of samples said is known from the sums of its hours when they are forgotten.
TEST_F(OutagesTest, OfHoursWhoseSamplesAreForgotten) {
  std::vector<Sample> samples;
  for (int minute = 0; minute < 24 * 60; ++minute) {
    const int hour = minute / 60;
    if (hour == 5 || hour == 6) continue;
    const int flags = hour == 8 ? kFogged : hour == 9 && minute % 2 == 0 ? kDark : hour >= 20 ? kDark : 0;
    samples.push_back(sampleOf(minute, flags, hour == 12 || hour == 13 || (hour == 15 && minute % 60 > 1), hour >= 20));
  }
  record(path_, samples, session("camera 0", 60));
  forget(path_, minutesOn(24 * 60));
  EXPECT_THAT(outagesIn(path_), ElementsAre(std::tuple(300, 420, Cause::kGap), std::tuple(480, 540, Cause::kFogged),
                                            std::tuple(720, 840, Cause::kStuck)));
}

// Of several with as many the latest counts.
TEST_F(OutagesTest, AForgottenHourIsAsTheSeriesWithTheMostSamplesSays) {
  struct Watch {
    const char* model;
    int count, flags;
  };
  const std::pair<std::vector<Watch>, const char*> cases[] = {
      {{{"a", 5, kFogged}, {"b", 60, 0}, {"c", 5, kFogged}}, "c"}, {{{"a", 2, 0}, {"b", 2, kFogged}}, "a"}};
  for (const auto& [watches, latest] : cases) {
    const std::string path = folder_ / latest;
    SessionInfo info = session("camera 0", 60);
    for (const auto& [model, count, flags] : watches) {
      std::vector<Sample> samples;
      for (int minute = 0; minute < count; ++minute) samples.push_back(sampleOf(minute, flags));
      info.model_digest = model;
      record(path, samples, info);
    }
    info.model_digest = latest;
    record(path, {sampleOf(60)}, info);
    forget(path, minutesOn(60));
    EXPECT_THAT(outagesIn(path), IsEmpty()) << latest;
  }
}

// A model that is taken again leaves out the pictures that it has measured: its samples are older than those of the
// model between.
TEST_F(OutagesTest, OfPicturesOfAModelThatWasTakenAgainItsSamplesCount) {
  StoreWriter writer(path_);
  for (const int flags : {static_cast<int>(kFogged), static_cast<int>(kBlurred), static_cast<int>(kFogged)}) {
    SessionInfo info = session("archive", 0);
    info.model_digest = std::to_string(flags);
    writer.beginSession(info, minutesOn(0));
    for (const int minute : {0, 60, 120}) writer.append(sampleOf(minute, minute == 60 ? flags : 0));
    ASSERT_TRUE(writer.flush());
  }
  EXPECT_EQ(allSamples(StoreReader(path_)).size(), 6U);
  EXPECT_THAT(outagesIn(path_), ElementsAre(std::tuple(60, 120, Cause::kFogged)));
}

TEST(SourceRecord, IsKnownUntilItsLastSampleAlsoBefore1970) {
  SourceRecord scene;
  scene.last = -5000;
  EXPECT_EQ(scene.knownUntil(), -4999);
  scene.awaited = 7000;
  EXPECT_EQ(scene.knownUntil(), 7000);
}

}  // namespace
}  // namespace mpm::monitor::test
