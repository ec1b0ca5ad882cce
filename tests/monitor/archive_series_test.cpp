// SPDX-License-Identifier: Apache-2.0
// A year of pictures of the built-in scene, as files, gives what the scene itself gives.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"
#include "monitor/samples.h"
#include "support/demo.h"
#include "support/exif.h"
#include "support/formatted_time.h"
#include "vision/sources/source.h"
#include "vision/times/archive.h"

namespace mpm::test {
namespace {

using monitor::Sample;
using monitor::StoreReader;

constexpr int kPictures = 200;
// Every 157680 s: at all hours of the day, over a year.
const std::string kScene =
    "demo:street?seed=3&size=64x96&weather=auto&start=2025-01-01T00:00&step=157680&latitude=48&longitude=11&frames=" +
    std::to_string(kPictures);

// What is stored of a picture, but for its name, its number and how long it took.
using Row = std::tuple<UnixMs, std::vector<double>, std::vector<std::pair<int, double>>, std::optional<bool>, double>;

std::vector<Row> seriesOf(const std::string& database) {
  std::vector<Row> rows;
  for (const Sample& sample : monitor::test::allSamples(StoreReader(database)))
    rows.emplace_back(sample.time, sample.token_counts, sample.whole().areas, sample.night, sample.brightness());
  return rows;
}

class ArchiveSeries : public ::testing::Test {
 protected:
  static inline const TemporaryFolder* folder = nullptr;
  static inline std::vector<std::pair<UnixMs, cv::Mat>> pictures;

  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
#ifdef MPM_WITH_SCENE
    const auto scene = vision::openSource(kScene);
    while (const auto frame = scene->next())
      pictures.emplace_back(std::llround(*frame->unix_time * kSecondMs), frame->image.clone());
#endif
  }
  static void TearDownTestSuite() {
    delete folder;
    pictures.clear();
  }
  void SetUp() override { MPM_NEEDS_DEMO(); }

  // A folder of all pictures, named by their times.
  static std::string write(const std::string& name, const std::function<std::string(UnixMs)>& nameOf) {
    const std::string path = *folder / name;
    fs::create_directory(path);
    for (const auto& [time, image] : pictures) cv::imwrite(path + "/" + nameOf(time), image);
    return path;
  }
  static std::string writeNamed(const std::string& name, const std::string& form) {
    return write(name, [&](UnixMs time) { return formatted(time, form.c_str()); });
  }

  static Words monitor(const std::string& source, const std::string& database, const Words& more = {}) {
    const Words arguments = {"monitor", source,  "--model", kSegmenter, "--reduce", "mpm:blocks=1,2", "--db",
                             database,  "--lat", "48",      "--lon",    "11",       "--every",        "0"};
    return arguments + (source.starts_with("demo:") ? Words{} : Words{"--time-zone", "UTC"}) + more;
  }

  static std::vector<Row> watched(const std::string& source, const Words& more = {}) {
    const std::string database = *folder / "watched.db";
    fs::remove(database);
    succeeded(mpmCommand(monitor(source, database, more)));
    return seriesOf(database);
  }
};

TEST_F(ArchiveSeries, NamesAndListsGiveTheSeriesOfTheScene) {
  const auto scene = watched(kScene);
  ASSERT_EQ(scene.size(), static_cast<std::size_t>(kPictures));
  EXPECT_GT(std::count_if(scene.begin(), scene.end(), [](const Row& row) { return std::get<3>(row) == true; }), 50);
  EXPECT_EQ(watched(writeNamed("named", "street_%Y_%m_%d_%H%M%S.png")), scene);
  int number = 0;
  std::ofstream list(*folder / "list.csv");
  const std::string listed = write("listed", [&](UnixMs time) {
    const std::string name = std::to_string(997 * number++ % kPictures) + ".png";
    list << name << formatted(time, ",%Y,%m,%d,%H,%M,%S\n");
    return name;
  });
  list.close();
  EXPECT_EQ(watched(listed, {"--times", "list:" + *folder / "list.csv"}), scene);
}

// Sums of all sessions by the hour, and what is known of the tokens.
std::vector<std::tuple<UnixMs, std::int64_t, double, double>> hoursOf(const std::string& database) {
  const StoreReader store(database);
  std::vector<std::tuple<UnixMs, std::int64_t, double, double>> hours;
  const auto source = store.sources().at(0);
  monitor::ChartQuery query{.source = source.id, .from = source.first, .to = source.last + 1};
  query.series = {{.quantity = "tokens"}, {.quantity = "brightness"}};
  query.max_buckets = 100;
  const auto rounded = [](double value) { return std::round(value * 1e6) / 1e6; };  // sums in another order
  for (const auto& bucket : store.chart(query).buckets)
    hours.emplace_back(bucket.start, bucket.values[0].samples, rounded(bucket.values[0].mean),
                       rounded(bucket.values[1].mean));
  for (const auto& hour : store.hoursOfTokens(store.series(source.id).back().id, source.first, source.last + 1))
    hours.emplace_back(hour.start, hour.night, 0, 0);
  return hours;
}

TEST_F(ArchiveSeries, AKillInTheMiddleChangesNothing) {
  const std::string source = writeNamed("killed", "%Y%m%d_%H%M%S.png"), whole = *folder / "whole.db",
                    killed = *folder / "killed.db";
  ASSERT_EQ(mpmCommand(monitor(source, whole)).exit_code, 0);
  for (const int some : {30, 100}) {
    const auto stored = [&] { return monitor::test::samplesStored(killed) >= some; };
    const CommandResult result = mpmCommand(monitor(source, killed, {"--threads", "1"}),
                                            {.signal_after_first_line = SIGKILL, .signal_when = stored});
    if (result.exit_code == 0) break;  // it was faster
  }
  ASSERT_EQ(mpmCommand(monitor(source, killed)).exit_code, 0);
  EXPECT_EQ(seriesOf(killed), seriesOf(whole));
  EXPECT_EQ(hoursOf(killed), hoursOf(whole));
}

TEST_F(ArchiveSeries, ShardsTogetherAreTheWhole) {
  const std::string source = writeNamed("parts", "%Y%m%d_%H%M%S.png"), whole = *folder / "all.db",
                    merged = *folder / "merged.db";
  ASSERT_EQ(mpmCommand(monitor(source, whole)).exit_code, 0);
  Words report = {"report"};
  for (const char* part : {"1/3", "2/3", "3/3"}) {
    report.push_back(*folder / ("part" + std::string(part, 1) + ".db"));
    ASSERT_EQ(mpmCommand(monitor(source, report.back(), {"--shard", part})).exit_code, 0);
  }
  const CommandResult summed = succeeded(mpmCommand(report + Words{"--merge", merged, "--json"}));
  EXPECT_EQ(seriesOf(merged), seriesOf(whole));
  const auto one = mpmCommand({"report", whole, "--json"}).json();
  for (const char* key : {"from", "to", "samples", "comparable", "reduce"})
    EXPECT_EQ(summed.json()[key], one[key]) << key;
  for (const char* key : {"mean", "median", "max"})
    EXPECT_NEAR(summed.json()["day"][key], one["day"][key], 1e-6) << key;
  expectFailure(mpmCommand({"report", whole, merged}), 1, {"merged.db' holds what another part holds: picture '2025"});
  expectFailure(mpmCommand({"report", whole, "--merge", merged}), 1, {"merged.db' exists already"});
}

// For docs/monitor.md: MPM_PICTURES=1000000 archive_series_test --gtest_filter=ArchiveSpeed.Long*
TEST(ArchiveSpeed, LongListsAndStoresManyPictures) {
  const char* const asked = std::getenv("MPM_PICTURES");
  const int count = asked ? std::atoi(asked) : 100'000;
  const TemporaryFolder work;
  auto seconds = [begin = steadyNow()]() mutable {
    return static_cast<double>(steadyNow() - std::exchange(begin, steadyNow())) / 1000;
  };
  writeImage(work / "one.jpg", 64, 96);
  const std::string any_time = "2013:07:08 05:54:13";
  setExifTime(work / "one.jpg", any_time.c_str());
  std::string bytes = readFile(work / "one.jpg");
  const std::size_t at = bytes.find(any_time);
  ASSERT_NE(at, std::string::npos);
  fs::create_directory(work / "in");
  for (int i = 0; i < count; ++i) {
    const UnixMs time = 1'000'000'000'000 + i * 30 * kMinuteMs;
    bytes.replace(at, any_time.size(), formatted(time, "%Y:%m:%d %H:%M:%S"));
    std::ofstream(work / "in/" + formatted(time, "%Y%m%d_%H%M%S.jpg")) << bytes;
  }
  std::printf("wrote %d pictures in %.1f s\n", count, seconds());
  const auto spec = vision::parseSourceSpec(work / "in");
  for (const char* from : {"name", "exif"}) {
    EXPECT_EQ(vision::openArchive(spec, {.times = vision::parseTimes(from)}, {})->size(), count);
    std::printf("listed and sorted by %s in %.1f s\n", from, seconds());
  }
  {
    monitor::StoreWriter writer(work / "a.db");
    writer.beginSession(monitor::test::session("in"), 0);
    for (int i = 0; i < count; ++i) {
      Sample sample = monitor::test::sampleAt(1'000'000'000'000 + i * 30 * kMinuteMs, 300 + i % 99, i % 48 < 20);
      sample.picture = formatted(sample.time, "%Y%m%d_%H%M%S.jpg");
      sample.whole().areas.clear();
      for (int label = 0; label < 9; ++label)
        sample.whole().areas.emplace_back(label, 0.1 + i % 97 * 1e-4 + label * 1e-3);
      writer.append(sample);
    }
    EXPECT_TRUE(writer.flush());
  }
  const auto size = static_cast<double>(fs::file_size(work / "a.db"));
  std::printf("stored in %.1f s: %.0f bytes for a picture\n", seconds(), size / count);
  std::int64_t known = 0;
  StoreReader(work / "a.db").pictures(1, [&](auto&&...) { ++known; });
  std::printf("read what is stored in %.1f s\n", seconds());
  EXPECT_EQ(known, count);
}

}  // namespace
}  // namespace mpm::test
