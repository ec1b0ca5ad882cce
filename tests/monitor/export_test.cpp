// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/export.h"

#include <algorithm>
#include <clocale>

#include "base/atomic_file.h"
#include "monitor/samples.h"
#include "support/file_size_limit.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using mpm::test::FileSizeLimit;
using mpm::test::TemporaryFolder;

std::string exportText(const StoreReader& store, const ExportOptions& options) {
  const TemporaryFolder folder;
  exportSamples(store, options, folder / "samples");
  return readFile(folder / "samples");
}

class ExportTest : public InFolder {
 protected:
  ExportTest() {
    StoreWriter writer(folder_ / "a.db");
    SessionInfo info = session();
    info.classes[3] = "tree, \"old\"";
    info.latitude = 48.0;
    info.longitude = 11.5;
    writer.beginSession(info);
    writer.append(sampleAt(kNoon + 250, 377, false));
    FrameFacts facts{.dropped = 3, .rows = 0.125, .agreement = 98.75};
    facts.quality = {.sharpness = 90.125, .contrast = 20.5, .saturated = 0.0125, .flags = kFogged};
    Sample other = sampleAt(kNoon + 12 * kHourMs, 400.5, std::nullopt, facts);
    other.token_counts = {660, 400.5};
    other.whole().areas = {{0, 1.0}};
    other.picture = "noon, \"1\".jpg";
    writer.append(other);
  }
  StoreReader reader() const { return StoreReader(folder_ / "a.db"); }
};

TEST_F(ExportTest, Csv) {
  EXPECT_THAT(
      linesOf(exportText(reader(), {.format = ExportFormat::kCsv, .source = 1})),
      ElementsAre(
          "time_utc,time_local,unix_ms,picture,night,reduce,token_counts,tokens,merged,inference_ms,rows,agreement,gcc,"
          "rcc,exg,brightness,red,green,blue,red_deviation,green_deviation,blue_deviation,pixels,dropped,"
          "sharpness,contrast,saturated,flagged,dark,overexposed,blurred,fogged,unchanged,area_road_percent,"
          "\"area_tree, \"\"old\"\"_percent\"",
          "2026-06-01T12:00:00.250Z,2026-06-01T12:00:00+00:00,1780315200250,,0,\"mpm:blocks=2,5\",660 491 "
          "377,377,42.879,12.5,,,"
          "0.333333,0.333333,0,100,100,100,100,0,0,0,100,0,,,,,,,,,,75.0000,25.0000",
          "2026-06-02T00:00:00.000Z,2026-06-02T00:00:00+00:00,1780358400000,\"noon, "
          "\"\"1\"\".jpg\",,\"mpm:blocks=2,5\",660 400.5,"
          "400.5,39.318,12.5,12.5,98.75,0.333333,0.333333,0,100,100,100,100,0,0,0,100,3,90.125,20.5,1.25,"
          "1,0,0,0,1,,100.0000,0.0000"));
  EXPECT_EQ(linesOf(exportText(reader(), {.source = 1, .from = kNoon + kHourMs})).size(), 2u);
  EXPECT_THAT(linesOf(exportText(reader(), {.source = 1, .clock = vision::CameraClock("Asia/Kathmandu")}))[1],
              StartsWith("2026-06-01T12:00:00.250Z,2026-06-01T17:45:00+05:45,1780315200250,"));
  const std::string json =
      exportText(reader(), {.format = ExportFormat::kJsonLines, .source = 1, .clock = vision::CameraClock("-03:30")});
  EXPECT_THAT(json, HasSubstr(R"("time":"2026-06-01T12:00:00.250Z")"));
}

// File names may hold anything, and a CSV that is not UTF-8 is none for pandas and DuckDB.
TEST_F(ExportTest, NamesBecomeTextOnOneLine) {
  Sample sample = sampleAt(kNoon + kDayMs);
  sample.picture = "caf\xe9\r\n\x7f\xc2\x9b.jpg";
  record(path_, {sample});
  const std::string csv = exportText(reader(), {.format = ExportFormat::kCsv, .source = 1, .from = kNoon + kDayMs});
  EXPECT_THAT(csv, HasSubstr(",caf\\xe9    .jpg,"));
  const std::string json =
      exportText(reader(), {.format = ExportFormat::kJsonLines, .source = 1, .from = kNoon + kDayMs});
  EXPECT_EQ(nlohmann::json::parse(json)["picture"], "caf\\xe9\r\n\x7f\xc2\x9b.jpg");
}

TEST_F(ExportTest, NoCommaOfALocaleGetsIn) {
  const std::string expected = exportText(reader(), {.format = ExportFormat::kCsv, .source = 1});
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  const bool has_comma = std::setlocale(LC_NUMERIC, "de_DE.UTF-8") || std::setlocale(LC_NUMERIC, "fr_FR.UTF-8");
  const std::string found = exportText(reader(), {.format = ExportFormat::kCsv, .source = 1});
  std::setlocale(LC_NUMERIC, before.c_str());
  EXPECT_EQ(found, expected);
  if (!has_comma) GTEST_SKIP() << "no locale with a comma here";
}

// A region that is looked at closer may show what the whole picture does not.
TEST_F(ExportTest, HasTheClassesThatOnlyARegionShows) {
  StoreWriter writer(folder_ / "b.db");
  writer.setRegions("camera 0", {regionNamed("lake")});
  writer.beginSession(session());
  Sample sample = sampleAt(kNoon);
  sample.regions.push_back(regionOf(0, {1, 2, 3}, {}, {{0, 0.875}, {2, 0.125}}, "lake"));
  writer.append(sample);
  ASSERT_TRUE(writer.flush());
  const auto csv = linesOf(exportText(StoreReader(folder_ / "b.db"), {.format = ExportFormat::kCsv, .source = 1}));
  EXPECT_THAT(csv.at(0), HasSubstr(",region_lake_area_road_percent,region_lake_area_sky_percent,"));
  EXPECT_THAT(csv.at(1), EndsWith(",87.5000,12.5000,0.0000"));
}

// A model replaced at its path numbers the classes otherwise: a class is what its own session calls it.
TEST_F(ExportTest, EachSampleHasTheClassesOfItsOwnModel) {
  SessionInfo info = session();
  info.model_name = "new one";
  info.classes = {"sky", "road"};
  info.reduce = "gradual:blocks=0-7:count=48";
  Sample sample = sampleAt(kNoon + kDayMs);
  sample.whole().areas = {{0, 0.125}, {1, 0.875}};
  record(path_, {sample}, info);
  const auto csv = linesOf(exportText(reader(), {.format = ExportFormat::kCsv, .source = 1}));
  ASSERT_EQ(csv.size(), 4u);
  EXPECT_THAT(csv[0], EndsWith(",area_road_percent,area_sky_percent,\"area_tree, \"\"old\"\"_percent\""));
  EXPECT_THAT(csv[1], EndsWith(",75.0000,0.0000,25.0000"));
  EXPECT_THAT(csv[3], EndsWith(",87.5000,12.5000,")) << "it knows no tree";
  const auto json = linesOf(exportText(reader(), {.format = ExportFormat::kJsonLines, .source = 1}));
  EXPECT_EQ(nlohmann::json::parse(json[0])["reduce"], "mpm:blocks=2,5");
  EXPECT_EQ(nlohmann::json::parse(json[2])["reduce"], "gradual:blocks=0-7:count=48");
  EXPECT_EQ(nlohmann::json::parse(json[0])["area_fraction"], (nlohmann::json{{"road", 0.75}, {"tree, \"old\"", 0.25}}));
  EXPECT_EQ(nlohmann::json::parse(json[2])["area_fraction"], (nlohmann::json{{"sky", 0.125}, {"road", 0.875}}));
}

TEST_F(ExportTest, ALongOneTellsHowFarItIsAndIsStopped) {
  constexpr int kSamples = 2000;
  std::vector<Sample> samples;
  for (int i = 0; i < kSamples; ++i) samples.push_back(sampleAt(kNoon + i * 1000, 377, false));
  record(folder_ / "long.db", samples);
  const StoreReader store(folder_ / "long.db");
  const std::string path = folder_ / "long.csv";
  std::ofstream(path) << "before";
  std::vector<double> reported;
  const auto stop_at = [&](double share) {
    return [&reported, share](double done) {
      reported.push_back(done);
      return done < share;
    };
  };
  for (const double share : {0.2, 0.7}) {  // while the columns are being found, and while they are written
    EXPECT_EQ(exportSamples(store, {.source = 1}, path, stop_at(share)), std::nullopt);
    EXPECT_GE(reported.back(), share);
    EXPECT_EQ(readFile(path), "before");
  }
  EXPECT_THAT(mpm::test::filesIn(folder_.path()), Each(Not(HasSubstr(".part"))));
  reported.clear();
  EXPECT_EQ(exportSamples(store, {.source = 1}, path, stop_at(2)), kSamples);
  EXPECT_GT(reported.size(), 5u);
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_GT(reported.back(), 0.9);
  EXPECT_LE(reported.back(), 1);
}

TEST_F(ExportTest, AFileIsWholeOrAsItWas) {
  const std::string path = folder_ / "out.csv";
  EXPECT_EQ(exportSamples(reader(), {.source = 1}, path), 2);
  EXPECT_EQ(readFile(path), exportText(reader(), {.source = 1}));
  EXPECT_MPM_ERROR(exportSamples(reader(), {.source = 1}, folder_ / "no/out.csv"), "no/out.csv");
  EXPECT_MPM_ERROR(exportSamples(reader(), {.source = 1}, "/dev/full/x"), "/dev/full/x");
  EXPECT_MPM_ERROR(exportSamples(reader(), {.source = 8}, path), "no source 8");
  const std::string before = readFile(path);
  {
    const StoreReader opened = reader();
    const FileSizeLimit full(100);
    EXPECT_MPM_ERROR(exportSamples(opened, {.source = 1}, path), "out.csv': File too large");
  }
  EXPECT_EQ(readFile(path), before);
  EXPECT_THAT(mpm::test::filesIn(folder_.path()), Each(Not(HasSubstr(".part"))));
}

class PhenoCamTest : public InFolder {
 protected:
  // One picture of noon at 35 degrees north, of these regions.
  void store(const std::vector<vision::Region>& regions, std::array<double, 3> rgb) {
    Sample sample = sampleAt(kNoon);
    if (!regions.empty()) sample.regions.push_back(regionOf(0, rgb));
    record(path_, {sample}, session(), regions);
  }
  std::vector<std::string> write() {
    fs::create_directory(out_);
    return writePhenoCam(StoreReader(path_), {.source = 1, .site = "yard", .latitude = 35, .longitude = 0}, out_);
  }

  const std::string out_ = folder_ / "out";
};

TEST_F(PhenoCamTest, APictureAsBrightAsFogIsOfNoDay) {
  for (const double blue : {165., 166.}) {
    fs::remove(path_);
    store({regionNamed("DB_1000")}, {250, 250, blue});
    write();
    EXPECT_EQ(linesOf(readFile(out_ + "/yard_DB_1000_1day.csv")).back().starts_with("2026-06-01,"), blue == 165);
  }
}

TEST_F(PhenoCamTest, TheFormerVersionOfARegionHasNoNumberOfItsOwn) {
  const vision::Region former = regionNamed("DB_1000");  // of a list in which it had no end yet
  vision::Region early = former, late = regionNamed("DB_1000", 9);
  early.to = late.from = kNoon - kDayMs;
  store({late, early, former}, {100, 100, 100});
  write();
  EXPECT_EQ(partsOf(linesOf(readFile(out_ + "/yard_DB_1000_roistats.csv")).back(), ',')[7], "2") << "mask_index";
}

TEST_F(PhenoCamTest, WithoutRegionsIsAnError) {
  store({}, {});
  EXPECT_MPM_ERROR(write(), "--regions");
  EXPECT_TRUE(fs::is_empty(out_));
}

TEST_F(PhenoCamTest, AFullDiskIsAnErrorAndLeavesNothing) {
  store({regionNamed("DB_1000")}, {100, 100, 100});
  const StoreReader opened(path_);  // which writes a file of its own, the first time
  const FileSizeLimit full(100);
  EXPECT_MPM_ERROR(write(), "File too large");
  EXPECT_TRUE(fs::is_empty(out_));
}

}  // namespace
}  // namespace mpm::monitor::test
