// SPDX-License-Identifier: Apache-2.0
// Sums of a series against a loop over its samples, and samples that are judged anew.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "monitor/samples.h"
#include "monitor/sql.h"
#include "monitor/store/merge.h"
#include "support/formatted_time.h"
#include "support/local_zone.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using SeriesTest = InFolder;

// What a loop over the samples of a series finds, in [from, to).
struct Expected {
  std::array<std::int64_t, 3> samples{};  // by day, by night, not known
  std::array<double, 3> tokens{};
  std::int64_t counted = 0;
};

Expected expected(const std::vector<Sample>& samples, UnixMs from, UnixMs to) {
  Expected sum;
  for (const Sample& sample : samples) {
    if (sample.time < from || sample.time >= to) continue;
    const int side = !sample.night ? 2 : *sample.night ? 1 : 0;
    ++sum.samples[side];
    sum.tokens[side] += sample.token_counts.back();
    ++sum.counted;
  }
  return sum;
}

void expectSums(const StoreReader& store, std::int64_t series, const std::vector<Sample>& samples, UnixMs from,
                UnixMs to) {
  const Expected sum = expected(samples, from, to);
  const auto rows = store.rollup({.series = series, .from = from, .to = to});
  ASSERT_EQ(rows.size(), sum.counted > 0 ? 1u : 0u);
  if (rows.empty()) return;
  for (const Side side : {Side::kDay, Side::kNight, Side::kUnknown}) {
    const auto at = static_cast<std::size_t>(side);
    const Spread tokens = rows[0].regions.at("").of(side).spread("tokens");
    ASSERT_EQ(tokens.samples, sum.samples[at]) << from << " to " << to;
    if (tokens.samples == 0) continue;
    ASSERT_NEAR(tokens.mean, sum.tokens[at] / static_cast<double>(sum.samples[at]), 1e-6);
  }
  std::int64_t in_hours = 0;
  for (const HourOfTokens& hour : store.hoursOfTokens(series, from, to))
    for (const auto& [tokens, count] : hour.occurrences) in_hours += count;
  ASSERT_EQ(in_hours, sum.samples[0] + sum.samples[1]);
}

// Ten days of irregular samples, of two series by turns.
struct TwoSeries {
  std::vector<Sample> samples[2];
};
TwoSeries writeTwo(const std::string& path) {
  TwoSeries all;
  std::mt19937 random(5);
  StoreWriter writer(path);
  UnixMs time = kNoon;
  for (int part = 0; part < 6; ++part) {
    SessionInfo info = session("camera 0", 60);
    if (part % 2 == 1) info.reduce = "none";
    writer.beginSession(info);
    for (int i = 0; i < 400; ++i) {
      time += std::uniform_int_distribution<UnixMs>(20 * kSecondMs, 11 * kMinuteMs)(random);
      const auto hour = bucketStart(time, kHourMs) % kDayMs / kHourMs;
      std::optional<bool> night = hour < 6 || hour >= 19;
      if (i % 50 == 7) night.reset();
      Sample sample = sampleAt(time, 300 + static_cast<double>(random() % 900) / 10, night);
      writer.append(sample);
      all.samples[part % 2].push_back(sample);
    }
  }
  EXPECT_TRUE(writer.flush());
  return all;
}

TEST_F(SeriesTest, SumsAreTheSamplesOfAnySpan) {
  const TwoSeries all = writeTwo(path_);
  const StoreReader store(path_);
  const auto series = store.series(1);
  ASSERT_THAT(series, SizeIs(2));
  EXPECT_EQ(series[1].reduce, "none") << "the latest is the last";
  EXPECT_EQ((std::vector{series[0].number, series[1].number}), (std::vector{1, 2}));
  std::mt19937 random(6);
  const UnixMs first = kNoon, last = all.samples[1].back().time;
  for (int round = 0; round < 200; ++round) {
    UnixMs from = std::uniform_int_distribution<UnixMs>(first - kDayMs, last)(random);
    UnixMs to = std::uniform_int_distribution<UnixMs>(first, last + kDayMs)(random);
    if (round % 3 == 0) from = bucketStart(from, kHourMs);
    if (round % 4 == 0) to = bucketStart(to, kDayMs);
    for (int s = 0; s < 2; ++s) {
      expectSums(store, series[s].id, all.samples[s], from, to);
      ASSERT_EQ(store.count(1, from, to, series[s].id), expected(all.samples[s], from, to).counted);
    }
  }
}

TEST_F(SeriesTest, RowsAddUpToTheirSpan) {
  const TwoSeries all = writeTwo(path_);
  const StoreReader store(path_);
  const UnixMs from = kNoon + 5 * kHourMs + 1234, to = kNoon + 9 * kDayMs + 777;
  for (const std::int64_t width : {kMinuteMs, 7 * kMinuteMs, kHourMs, 6 * kHourMs, kDayMs, 3 * kDayMs}) {
    std::int64_t samples = 0;
    UnixMs before = 0;
    for (const RollupRow& row : store.rollup({.series = 1, .from = from, .to = to, .width = width})) {
      EXPECT_EQ(row.start % width, 0);
      EXPECT_GT(row.start, before);
      before = row.start;
      samples += row.regions.at("").samples();
    }
    EXPECT_EQ(samples, expected(all.samples[0], from, to).counted) << width;
  }
}

// By sums of hours and minutes, and where a span begins within a minute by samples.
TEST_F(SeriesTest, FlaggedPicturesCountInTheWholePictureButInNoRegion) {
  std::vector<Sample> samples;
  for (int i = 0; i < 1000; ++i) {
    samples.push_back(sampleAt(kNoon + i * 20 * kSecondMs));
    samples.back().regions.push_back(regionOf(0, {static_cast<double>(i % 200), 0, 0}, {}, {}, "tree"));
    samples.back().whole().set("flagged", i % 7 == 3 ? 1 : 0);
  }
  record(path_, samples, session(), {regionNamed("tree")});
  const StoreReader store(path_);
  for (const auto& [from, to] : {std::pair<UnixMs, UnixMs>(kNoon, kNoon + 5 * kHourMs),
                                 {kNoon + 65 * kSecondMs, kNoon + 3 * kHourMs + 7 * kSecondMs},
                                 {kNoon + 65 * kSecondMs, kNoon + 110 * kSecondMs}}) {
    std::int64_t all = 0, shown = 0;
    double red = 0;
    for (const Sample& sample : samples) {
      if (sample.time < from || sample.time >= to) continue;
      ++all;
      if (sample.flagged()) continue;
      ++shown;
      red += *sample.regions[1].value("red");
    }
    const auto rows = store.rollup({.series = 1, .from = from, .to = to, .regions = true});
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].regions.at("").samples(), all) << to - from;
    EXPECT_EQ(rows[0].regions.at("tree").samples(), shown) << to - from;
    EXPECT_NEAR(rows[0].regions.at("tree").of(Side::kDay).spread("red").mean, red / static_cast<double>(shown), 1e-9);
  }
}

// Two weeks in which clocks are put back, in Paris by an hour on the first Sunday, in Newfoundland on the second.
TEST_F(SeriesTest, DaysAreThoseOfTheCamera) {
  constexpr UnixMs kOctober = 1'792'400'000'000;  // 2026-10-19
  std::vector<Sample> samples;
  std::mt19937 random(7);
  for (UnixMs time = kOctober; time < kOctober + 16 * kDayMs;) {
    samples.push_back(sampleAt(time, 300 + static_cast<double>(random() % 900) / 10, random() % 3 == 0));
    time += std::uniform_int_distribution<UnixMs>(kMinuteMs, 9 * kMinuteMs)(random);
  }
  record(path_, samples, session("camera 0", 300));
  const StoreReader store(path_);
  const auto shown = [](UnixMs time, const char* form) {
    return mpm::test::formatted(time, form, mpm::test::Zone::kTz);
  };
  for (const char* name : {"UTC", "Europe/Paris", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati"}) {
    const mpm::test::LocalZone zone(name);
    const vision::CameraClock clock{name};
    std::map<std::string, std::vector<double>> days;
    for (const Sample& sample : samples) days[shown(sample.time, "%F")].push_back(sample.token_counts.back());
    const auto rows = store.rollup({.series = 1, .from = 0, .to = INT64_MAX, .width = kDayMs, .clock = clock});
    ASSERT_EQ(rows.size(), days.size()) << name;
    for (const RollupRow& row : rows) {
      EXPECT_EQ(shown(row.start, "%T"), "00:00:00") << name;
      EXPECT_EQ(shown(row.end, "%T"), "00:00:00") << name;
      const std::vector<double>& tokens = days[shown(row.start, "%F")];
      const Spread all = row.regions.at("").spread("tokens");
      ASSERT_EQ(all.samples, std::ssize(tokens)) << name << ' ' << shown(row.start, "%F");
      EXPECT_NEAR(all.mean, std::accumulate(tokens.begin(), tokens.end(), 0.0) / static_cast<double>(tokens.size()),
                  1e-9);
    }
    ChartQuery query{.source = 1, .from = 0, .to = INT64_MAX, .series = {{.quantity = "tokens"}}};
    query.least_ms = kDayMs;
    query.clock = clock;
    const Chart chart = store.chart(query);
    ASSERT_EQ(chart.buckets.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(chart.buckets[i].start, rows[i].start);
      EXPECT_FALSE(chart.buckets[i].gap_before) << "a day of 25 hours is no gap";
    }
    for (const std::int64_t width : {kHourMs, 2 * kHourMs, 6 * kHourMs, 12 * kHourMs, 3 * kDayMs}) {
      UnixMs before = 0;
      std::int64_t found = 0;
      for (const RollupRow& row :
           store.rollup({.series = 1, .from = 0, .to = INT64_MAX, .width = width, .clock = clock})) {
        const std::int64_t count = std::ranges::count_if(
            samples, [&](const Sample& sample) { return sample.time >= row.start && sample.time < row.end; });
        ASSERT_EQ(row.regions.at("").samples(), count) << name << ' ' << width;
        ASSERT_GE(row.start, before);
        before = row.end;
        found += count;
      }
      EXPECT_EQ(found, std::ssize(samples));
    }
  }
}

TEST_F(SeriesTest, AChartIsOfTheLatestSeriesOfEachBucket) {
  {
    StoreWriter writer(path_);
    for (const char* reduce : {"a", "b", "a"}) {
      SessionInfo info = session();
      info.reduce = reduce;
      writer.beginSession(info);
      for (int i = 0; i < 3; ++i) writer.append(sampleAt(kNoon + i * kHourMs, *reduce == 'a' ? 100 : 200));
    }
    SessionInfo info = session();
    info.reduce = "b";
    writer.beginSession(info);
    writer.append(sampleAt(kNoon + 2 * kHourMs, 300));
  }
  const StoreReader store(path_);
  ChartQuery query{.source = 1, .from = kNoon, .to = kNoon + kDayMs, .series = {{.quantity = "tokens"}}};
  const auto means = [&] {
    std::vector<double> all;
    for (const ChartBucket& bucket : store.chart(query).buckets) all.push_back(bucket.values[0].mean);
    return all;
  };
  EXPECT_THAT(means(), ElementsAre(200, 200, 250)) << "no mean of both";
  query.only = 1;
  EXPECT_THAT(means(), ElementsAre(100, 100, 100));
}

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

// Seven days: bright by day, dark by night, and a twilight between the borders of the band.
std::vector<Sample> sevenDays() {
  std::vector<Sample> samples;
  for (UnixMs time = kNoon; time < kNoon + 7 * kDayMs; time += 10 * kMinuteMs) {
    const double hour = static_cast<double>(time % kDayMs) / kHourMs;
    Sample sample = sampleAt(time, 300 + std::floor(hour), std::nullopt);
    sample.whole().set("brightness", std::round(60 - 70 * std::cos(hour / 24 * 2 * M_PI)));
    samples.push_back(sample);
  }
  return samples;
}

bool judgeAll(const std::string& path, const NightRule& rule) { return StoreWriter(path).judge("camera 0", rule); }

TEST_F(SeriesTest, JudgedAnewIsAsIfItHadBeenJudgedSo) {
  std::vector<Sample> samples = sevenDays();
  record(path_, samples, session("camera 0", 600));
  const NightRule rules[] = {
      NightByBrightness{.night_below = 20, .day_above = 90}, NightBySun{.latitude = 48, .longitude = 11},
      NightByHours{.from = 1200, .to = 400, .clock = vision::CameraClock("+01:00")}, NightRule()};
  for (const NightRule& rule : rules) {
    ASSERT_TRUE(judgeAll(path_, rule));
    DayNight recording(rule);
    for (Sample& sample : samples) sample.night = recording.night(sample.time, sample.brightness());
    const StoreReader store(path_);
    if (std::holds_alternative<NightBySun>(rule)) {
      EXPECT_EQ(store.sessions(1).back().longitude, 11) << "for films";
    }
    const auto stored = allSamples(store);
    for (std::size_t i = 0; i < samples.size(); ++i) ASSERT_EQ(stored[i].night, samples[i].night) << i;
    for (const UnixMs from : {UnixMs{0}, kNoon + kDayMs, kNoon + 3 * kDayMs + 12345})
      expectSums(store, 1, samples, from, kNoon + 6 * kDayMs + 777);
    const std::string other = folder_ / "other.db";  // as if it had been recorded so
    fs::remove(other);
    record(other, samples, session("camera 0", 600));
    const std::string sums =  // the bytes of the sums themselves depend on the order of additions
        "SELECT group_concat(x) FROM (SELECT samples || ' ' || coalesce(hex(tokens), '') || ' ' || night || ' ' ||"
        " start_ms || ' ' || width_ms AS x FROM bucket ORDER BY width_ms, start_ms, region, night)";
    EXPECT_EQ(runSql(path_, sums), runSql(other, sums));
  }
}

TEST_F(SeriesTest, JudgedAnewEachSeriesHasItsOwnSums) {
  TwoSeries all = writeTwo(path_);
  const NightRule rule = NightByHours{.from = 1200, .to = 400, .clock = vision::CameraClock("+01:00")};
  ASSERT_TRUE(judgeAll(path_, rule));
  DayNight judged(rule);
  const StoreReader store(path_);
  for (std::int64_t series = 1; series <= 2; ++series) {
    std::vector<Sample>& samples = all.samples[series - 1];
    for (Sample& sample : samples) sample.night = judged.night(sample.time, sample.brightness());
    expectSums(store, series, samples, kNoon + kDayMs, kNoon + 6 * kDayMs + 777);
  }
}

TEST_F(SeriesTest, WhereSamplesAreForgottenWholeSumsAreJudged) {
  const std::vector<Sample> samples = sevenDays();
  record(path_, samples, session("camera 0", 600));
  const UnixMs cut = kNoon + 3 * kDayMs + 5 * kHourMs + 25 * kMinuteMs;
  runSql(path_, "DELETE FROM sample WHERE time_ms < " + std::to_string(cut));
  ASSERT_TRUE(judgeAll(path_, NightByHours{.from = 1200, .to = 360, .clock = vision::CameraClock()}));
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

TEST_F(SeriesTest, JudgingThatIsCancelledChangesNothing) {
  record(path_, sevenDays(), session("camera 0", 600));
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
  const auto part = [&](const std::string& name, UnixMs time, const std::vector<SessionInfo>& measured, int samples) {
    for (const SessionInfo& info : measured) {
      std::vector<Sample> all;
      for (int i = 0; i < samples; ++i) all.push_back(sampleAt(time + i * kSecondMs));
      record(folder_ / name, all, info);
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
}

TEST_F(SeriesTest, MergedPartsHaveTheSumsOfBoth) {
  std::vector<Sample> all = sevenDays();
  for (Sample& sample : all) sample.night = sample.time % kDayMs < 6 * kHourMs;
  for (int part = 0; part < 3; ++part) {
    std::vector<Sample> some;
    for (std::size_t i = part; i < all.size(); i += 3) some.push_back(all[i]);  // hours that all parts share
    record(folder_ / (std::to_string(part) + ".db"), some, session("camera 0", 600));
  }
  mergeDatabases({folder_ / "0.db", folder_ / "1.db", folder_ / "2.db"}, path_);
  const StoreReader store(path_);
  ASSERT_THAT(store.series(1), SizeIs(1)) << "they are measured alike";
  for (const UnixMs from : {UnixMs{0}, kNoon + kDayMs, kNoon + 3 * kDayMs + 12345})
    expectSums(store, 1, all, from, kNoon + 6 * kDayMs);
}

}  // namespace
}  // namespace mpm::monitor::test
