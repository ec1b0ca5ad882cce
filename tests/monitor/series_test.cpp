// SPDX-License-Identifier: Apache-2.0
// Which series is shown, its span, and samples that are judged anew.

#include <algorithm>
#include <map>
#include <set>

#include "monitor/samples.h"
#include "monitor/sql.h"
#include "monitor/store/merge.h"

namespace mpm::monitor::test {
namespace {

using SeriesTest = InFolder;

// A clock that was wrong does not say when a camera began or ended.
TEST_F(SeriesTest, AClockThatWasWrongIsNotBelieved) {
  const UnixMs now = kNoon + 10 * kDayMs, future = kNoon + 1200 * kDayMs;
  const auto span = [&](const std::string& name, const std::vector<UnixMs>& times, bool archive = false) {
    {
      StoreWriter writer(path_);
      writer.beginSession(session(name), archive ? std::optional(times[0]) : std::nullopt);
      for (const UnixMs time : times) writer.append(sampleAt(time));
    }
    for (const SourceRecord& source : StoreReader(path_).sources(now))
      if (source.name == name) return std::pair(source.first, source.last);
    return std::pair<UnixMs, UnixMs>();
  };
  EXPECT_EQ(span("both", {5000, kNoon, kNoon + kDayMs, future}), std::pair(kNoon, kNoon + kDayMs));
  EXPECT_EQ(span("past", {5000, 6000}), std::pair(UnixMs{5000}, UnixMs{6000})) << "all are such";
  EXPECT_EQ(span("future", {future, future + 1}), std::pair(future, future + 1));
  EXPECT_EQ(span("archive", {5000, kNoon, future}, true), std::pair(UnixMs{5000}, future)) << "times of pictures";
  EXPECT_EQ(span("demo:street", {kNoon, future}), std::pair(kNoon, future)) << "a clock of its own";
  const StoreReader store(path_);
  EXPECT_EQ(store.lastSample(store.sources(now)[0], latestSeries(store).id).value().time, kNoon + kDayMs);
  std::vector<std::pair<UnixMs, bool>> ends;
  for (const SourceRecord& source : store.sources(now)) ends.emplace_back(source.end, source.own_clock);
  EXPECT_THAT(ends,
              ElementsAre(std::pair(now + kMinuteMs, false), std::pair(now + kMinuteMs, false),
                          std::pair(future + 2, false), std::pair(future + 1, true), std::pair(future + 1, true)));
}

TEST_F(SeriesTest, WhereSamplesAreForgottenWholeSumsAreJudged) {
  const std::vector<Sample> samples = samplesBetween(kNoon, kNoon + 7 * kDayMs);
  record(path_, samples, session("camera 0", 600));
  const UnixMs cut = kNoon + 3 * kDayMs + 5 * kHourMs + 25 * kMinuteMs;
  forget(path_, cut);
  const NightByHours rule{.from = 1200, .to = 360, .clock = vision::CameraClock()};
  ASSERT_TRUE(StoreWriter(path_).judge("camera 0", rule));
  const StoreReader store(path_);
  std::int64_t nights[2]{}, expected_nights = 0;
  for (const Sample& sample : samples)
    expected_nights += sample.time % kDayMs < 6 * kHourMs || sample.time % kDayMs >= 20 * kHourMs;
  nights[0] = store.rollup({.series = 1, .from = 0, .to = INT64_MAX})[0].regions.at("").of(Side::kNight).samples;
  for (const RollupRow& row : store.rollup({.series = 1, .from = 0, .to = INT64_MAX, .width = kHourMs}))
    nights[1] += row.regions.at("").of(Side::kNight).samples;
  EXPECT_EQ(nights[0], expected_nights) << "days are the sum of their hours";
  EXPECT_EQ(nights[1], expected_nights) << "the hours of this rule are whole";
}

// Hours after noon.
TEST_F(SeriesTest, RulesOfNightAreThoseOfTheSessionsOfASpan) {
  for (const auto& [rule, hour] : {std::pair("first", 0), {"second", 2}}) {
    SessionInfo info = session();
    info.night_rule = rule;
    record(path_, {sampleAt(kNoon + hour * kHourMs)}, info);
  }
  const auto lasted = [&](int id, int from, int to) {
    runSql(path_, "UPDATE session SET started_ms = " + std::to_string(kNoon + from * kHourMs) +
                      ", ended_ms = " + std::to_string(kNoon + to * kHourMs) + " WHERE id = " + std::to_string(id));
  };
  lasted(1, 0, 1);
  lasted(2, 2, 3);
  const auto rules = [&](int from, int to) {
    std::string all;
    for (const auto& rule : StoreReader(path_).nightRules(1, kNoon + from * kHourMs, kNoon + to * kHourMs))
      all += rule.value_or("?") + " ";
    return all;
  };
  EXPECT_EQ(rules(0, 3), "first second ");
  EXPECT_EQ(rules(2, 3), "second ");
  EXPECT_EQ(rules(0, 2), "first ");
  EXPECT_EQ(rules(8, 9), "first second ") << "none is surely another";
  lasted(2, 9, 3);
  EXPECT_EQ(rules(2, 3), "second ") << "its clock was ahead when it began";
  lasted(2, 2, 3);
  runSql(path_, "DELETE FROM region_sample WHERE sample = 1; DELETE FROM sample WHERE id = 1");
  EXPECT_EQ(rules(0, 1), "first ") << "its samples are forgotten";
}

// A share is told as it was measured, before it is stored and afterwards.
TEST_F(SeriesTest, SharesAreStoredAsTheyAreTold) {
  Sample sample = sampleAt(kNoon);
  sample.whole().areas = {{0, keptShare(1.0 / 3)}, {3, keptShare(158188.0 / 160000)}};
  EXPECT_NEAR(keptShare(1.0 / 3), 1.0 / 3, 1e-8);
  EXPECT_EQ(keptShare(158188.0 / 160000), 0.988675);
  record(path_, {sample});
  EXPECT_EQ(allSamples(StoreReader(path_))[0].whole().areas, sample.whole().areas);
  const auto& whole = StoreReader(path_).rollup({.series = 1, .from = 0, .to = INT64_MAX})[0].regions.at("");
  EXPECT_EQ(whole.area(3).mean, 100 * 0.988675);
}

TEST_F(SeriesTest, JudgingThatIsCancelledChangesNothing) {
  record(path_, samplesBetween(kNoon, kNoon + 7 * kDayMs), session("camera 0", 600));
  const std::string before = runSql(path_, "SELECT count(*) || total(night) FROM sample") +
                             runSql(path_, "SELECT group_concat(night) FROM bucket");
  StoreWriter writer(path_);
  double share = -1;
  EXPECT_FALSE(writer.judge("camera 0", NightByBrightness{}, [&](double done) { return (share = done) < 0.6; }));
  EXPECT_GE(share, 0.6);
  EXPECT_EQ(runSql(path_, "SELECT count(*) || total(night) FROM sample") +
                runSql(path_, "SELECT group_concat(night) FROM bucket"),
            before);
  EXPECT_TRUE(writer.judge("camera 9", NightByBrightness{})) << "nothing of it is stored";
  EXPECT_TRUE(writer.judge("camera 0", NightByBrightness{}));
}

SessionInfo withSettings(const std::string& settings) {
  SessionInfo info = session();
  info.settings = settings;
  return info;
}

// By which program it was measured with which settings is not known.
TEST_F(SeriesTest, OfAnOlderProgramHasTheSettingsOfTheFirstThatGoesOn) {
  record(path_, {sampleAt(kNoon)});
  {
    StoreWriter writer(path_);
    writer.beginSession(session(), {}, true);
    writer.append(sampleAt(kNoon + kHourMs));
    ASSERT_TRUE(writer.flush());
  }
  runSql(path_, "UPDATE series SET settings = NULL");
  const SessionInfo guided = withSettings("refine=guided");
  {
    const StoreReader store(path_);
    EXPECT_EQ(store.seriesOf(1, guided), 2) << "the newest";
    EXPECT_EQ(latestSeries(store).settings, "");
    EXPECT_EQ(store.sessions(1).back().settings, "");
  }
  const auto goesOnWith = [&](const SessionInfo& info) {
    record(path_, {sampleAt(kNoon + kDayMs)}, info);
    return latestSeries(StoreReader(path_)).number;
  };
  EXPECT_EQ(goesOnWith(guided), 2);
  EXPECT_EQ(goesOnWith(session()), 3) << "the first has those of its second round";
  EXPECT_EQ(goesOnWith(guided), 2);
  EXPECT_EQ(goesOnWith(session()), 3);
  const StoreReader store(path_);
  EXPECT_EQ(latestSeries(store).settings, "");
  EXPECT_EQ(store.seriesOf(1, guided), 2);
  EXPECT_EQ(store.sessions(1).back().settings, "");
  EXPECT_EQ(store.sessions(1).front().settings, "refine=guided");
}

TEST_F(SeriesTest, PartsOfOtherSettingsAreOtherSeries) {
  for (const auto& [name, settings] : {std::pair("plain", ""), {"guided", "refine=guided"}, {"old", ""}, {"older", ""}})
    record(folder_ / name, {sampleAt(name == std::string("older") ? kNoon + kDayMs : kNoon)}, withSettings(settings));
  for (const char* name : {"old", "older"}) runSql(folder_ / name, "UPDATE series SET settings = NULL");
  mergeDatabases({folder_ / "plain", folder_ / "guided", folder_ / "old", folder_ / "older"}, path_);
  std::vector<std::pair<int, std::size_t>> samples;
  const StoreReader store(path_);
  for (const SeriesRecord& one : store.series(1)) samples.emplace_back(one.number, allSamples(store, 1, one.id).size());
  EXPECT_THAT(samples, ::testing::UnorderedElementsAre(std::pair(1, 1), std::pair(2, 1), std::pair(3, 2)))
      << "what older programs measured is not known to be as the others";
  EXPECT_EQ(store.seriesOf(1, session()), 2);
  EXPECT_EQ(store.seriesOf(1, withSettings("refine=guided")), 1) << "most parts have another one as their latest";
}

SessionInfo withHeads(const std::map<std::string, std::string>& heads) {
  SessionInfo info = session();
  info.heads = heads;
  return info;
}

TEST_F(SeriesTest, PartsOfOtherHeadsOfStatesAreOtherSeries) {
  const SessionInfo a = withHeads({{"gate", "a"}}), b = withHeads({{"gate", "b"}});
  const auto samples = [&](const std::string& path) {
    std::vector<std::size_t> all;
    const StoreReader store(path);
    for (const SeriesRecord& one : store.series(1)) all.push_back(allSamples(store, 1, one.id).size());
    return all;
  };
  record(folder_ / "1", {sampleAt(kNoon)}, a);
  record(folder_ / "2", {sampleAt(kNoon + kHourMs)}, b);
  record(folder_ / "3", {sampleAt(kNoon + 2 * kHourMs)}, withHeads({{"lamp", "a"}}));
  record(folder_ / "4", {sampleAt(kNoon + 3 * kHourMs)}, b);
  record(folder_ / "4", {sampleAt(kNoon + 4 * kHourMs)}, a);
  mergeDatabases({folder_ / "1", folder_ / "2", folder_ / "3", folder_ / "4"}, path_);
  EXPECT_THAT(samples(path_), ::testing::UnorderedElementsAre(2, 3)) << "the lamp was beside one of both";
  record(path_, {sampleAt(kNoon + kDayMs)}, withHeads({{"gate", "b"}}));
  EXPECT_THAT(samples(path_), SizeIs(2)) << "a merged database knows its heads";
  record(path_, {sampleAt(kNoon + 2 * kDayMs)}, withHeads({{"gate", "c"}}));
  EXPECT_THAT(samples(path_), SizeIs(3));
}

// The later of two parts of an archive says which head reads the pictures to come; all are one series.
TEST_F(SeriesTest, PartsOfAnArchiveAreOneSeriesWithAnyHeads) {
  for (const auto& [name, head] : {std::pair("1", "a"), {"2", "b"}}) {
    StoreWriter writer(folder_ / name);
    writer.beginSession(withHeads({{"gate", head}}), kNoon);
    writer.append(sampleAt(name == std::string("1") ? kNoon : kNoon + kHourMs));
    ASSERT_TRUE(writer.flush());
  }
  mergeDatabases({folder_ / "1", folder_ / "2"}, path_);
  EXPECT_THAT(StoreReader(path_).series(1), SizeIs(1));
  EXPECT_EQ(runSql(path_, "SELECT json_extract(heads, '$.gate') IN ('a', 'b') FROM series"), "1");
}

// The series of then is also that of the head that is left out.
TEST_F(SeriesTest, AHeadThatIsLeftOutGoesOnWithTheLatestSeries) {
  for (const char* gate : {"a", "b", "a"}) record(path_, {sampleAt(kNoon)}, withHeads({{"gate", gate}}));
  record(path_, {sampleAt(kNoon + kHourMs)}, session());
  EXPECT_EQ(latestSeries(StoreReader(path_)).number, 1);
}

// A shell's part*.db decides nothing.
TEST_F(SeriesTest, TheLatestOfPartsIsThatOfMostInAnyOrder) {
  const SessionInfo none = withSettings(""), guided = withSettings("refine=guided");
  bool archive = true;
  const auto part = [&](const std::string& name, UnixMs time, const std::vector<SessionInfo>& measured, int samples) {
    for (SessionInfo info : measured) {
      info.source = archive ? "archive" : "camera 0";
      StoreWriter writer(folder_ / name);
      writer.beginSession(info, archive ? std::optional(time) : std::nullopt);
      for (int i = 0; i < samples; ++i) writer.append(sampleAt(time + i * kSecondMs));
      EXPECT_TRUE(writer.flush());
    }
    return folder_ / name;
  };
  const auto latest = [&](std::vector<std::string> parts) {
    std::set<std::string> found;
    std::ranges::sort(parts);
    do {
      mergeDatabases(parts, path_);
      found.insert(latestSeries(StoreReader(path_)).settings);
      fs::remove(path_);
    } while (std::ranges::next_permutation(parts).found);
    return found;
  };
  const std::string a = part("a", kNoon, {none, guided}, 2), b = part("b", kNoon + kHourMs, {guided, none}, 3),
                    c = part("c", kNoon + 2 * kHourMs, {guided}, 1);
  EXPECT_THAT(latest({a, b, c}), ElementsAre("refine=guided")) << "of two of three parts";
  EXPECT_THAT(latest({a, b}), ElementsAre("")) << "of more samples";
  const std::string d = part("d", kNoon + kDayMs, {guided, none}, 2);
  EXPECT_THAT(latest({a, d}), SizeIs(1)) << "as many of each";
  archive = false;
  const std::string e = part("e", kNoon, {guided}, 9), f = part("f", kNoon + kHourMs, {guided}, 9),
                    g = part("g", kNoon + kDayMs, {guided, none}, 1);
  EXPECT_THAT(latest({e, f, g}), ElementsAre("")) << "of a camera that of its latest sample";
}

}  // namespace
}  // namespace mpm::monitor::test
