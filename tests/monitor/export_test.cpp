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

constexpr UnixMs kNewYear = 1'767'225'600'000;  // 2026-01-01 00:00 UTC, and there
constexpr double kLatitude = 35, kLongitude = 0;
constexpr int kImageCount = 3, kGcc90 = 20;  // columns of the days

class PhenoCamTest : public InFolder {
 protected:
  // Of the regions, in their order; green decides gcc, the sum of R, G and B is 300.
  Sample sampleWith(UnixMs time, double green, const std::string& picture = "yard/a.jpg", std::size_t regions = 1) {
    Sample sample = sampleAt(time);
    sample.picture = picture;
    for (std::size_t i = 0; i < regions; ++i)
      sample.regions.push_back(regionOf(static_cast<std::int64_t>(i), {200 - green, green, 100}));
    return sample;
  }
  void store(const std::vector<vision::Region>& regions, const std::vector<Sample>& samples) {
    record(database_, samples, session(), regions);
  }
  std::vector<std::string> write() {
    fs::create_directory(out_);
    return writePhenoCam(StoreReader(database_),
                         {.source = 1, .site = "yard", .latitude = kLatitude, .longitude = kLongitude}, out_);
  }
  // Behind the header; `comments` gets what begins with "#".
  std::vector<std::vector<std::string>> rowsOf(const std::string& name, std::string* comments = nullptr) {
    std::vector<std::vector<std::string>> rows;
    for (const std::string& line : linesOf(readFile(out_ + "/" + name))) {
      if (!line.starts_with("#"))
        rows.push_back(partsOf(line, ','));
      else if (comments)
        *comments += line + "\n";
    }
    for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size()) << name;
    rows.erase(rows.begin());
    return rows;
  }

  std::string database_ = folder_ / "a.db", out_ = folder_ / "out";
};

TEST_F(PhenoCamTest, ARowOfEachPicture) {
  store({regionNamed("DB_1000")},
        {sampleWith(kNewYear + 11 * kHourMs, 120), sampleWith(kNewYear + 12 * kHourMs, 90, "")});
  EXPECT_THAT(write(), ElementsAre(out_ + "/yard_DB_1000_roistats.csv", out_ + "/yard_DB_1000_1day.csv",
                                   out_ + "/yard_DB_1000_3day.csv"));
  std::string comments;
  const auto rows = rowsOf("yard_DB_1000_roistats.csv", &comments);
  for (const char* line : {"# Site: yard\n", "# Veg Type: DB\n", "# ROI ID Number: 1000\n", "# Lat: 35\n", "# Lon: 0\n",
                           "# UTC Offset: 0\n", "# Resize Flag: False\n"})
    EXPECT_THAT(comments, HasSubstr(line));
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_THAT(std::vector(rows[0].begin(), rows[0].begin() + 4), ElementsAre("2026-01-01", "11:00:00", "1", "a.jpg"));
  EXPECT_NEAR(std::stod(rows[0][4]), 29.9, 0.5);
  EXPECT_THAT(std::vector(rows[0].begin() + 5, rows[0].begin() + 13),
              ElementsAre("NA", "NA", "1", "0.40000", "0.26667", "80.00000", "4.00000", "NA"));
  EXPECT_EQ(rows[1][3], "None");
}

TEST_F(PhenoCamTest, DaysHaveQuantilesAndMidday) {
  std::vector<Sample> samples;
  for (int i = 0; i < 5; ++i)
    samples.push_back(sampleWith(kNewYear + (10 * 60 + 50 * i) * kMinuteMs, 90 + 3 * i, std::to_string(i) + ".jpg"));
  samples.push_back(sampleWith(kNewYear + 12 * kHourMs, 150));
  samples.back().whole().set("flagged", 1);
  samples.push_back(sampleWith(kNewYear + 15 * kMinuteMs, 150));  // by night
  samples.push_back(sampleWith(kNewYear + 13 * kHourMs, 150));
  samples.back().regions[1] = regionOf(0, {250, 250, 166});  // as bright as fog
  store({regionNamed("DB_1000")}, samples);
  write();
  const auto days = rowsOf("yard_DB_1000_1day.csv");
  ASSERT_THAT(days, SizeIs(1));
  EXPECT_THAT(std::vector(days[0].begin(), days[0].begin() + 6),
              ElementsAre("2026-01-01", "2026", "1", "5", "2.jpg", "104.00000"));
  EXPECT_THAT(std::vector(days[0].begin() + 16, days[0].begin() + 21),
              ElementsAre("0.32000", "0.01414", "0.32000", "0.33000", "0.33600"));
  EXPECT_THAT(std::vector(days[0].end() - 5, days[0].end()), Each("NA"));
}

TEST_F(PhenoCamTest, PeriodsBeginWithTheYear) {
  std::vector<Sample> samples;
  for (const int day : {-6, -2, 0, 1, 4})
    samples.push_back(sampleWith(kNewYear + day * kDayMs + 12 * kHourMs, 100 + day));
  store({regionNamed("DB_1000")}, samples);
  write();
  std::map<std::string, std::string> counts;
  for (const auto& row : rowsOf("yard_DB_1000_3day.csv")) counts[row[0]] = row[kImageCount] + " " + row[kGcc90];
  // Days 358, 361 and 364 begin periods of 2025. The last one takes the first day of the new year, which begins anew.
  EXPECT_THAT(counts, ElementsAre(std::pair("2025-12-25", "1 0.31333"), std::pair("2025-12-28", "0 NA"),
                                  std::pair("2025-12-31", "2 0.33267"), std::pair("2026-01-02", "1 0.33667"),
                                  std::pair("2026-01-05", "1 0.34667")));
}

TEST_F(PhenoCamTest, RegionsHaveNamesAndDates) {
  const vision::Region former = regionNamed("DB_1000");  // of a list in which it had no end yet
  vision::Region early = former, late = regionNamed("DB_1000", 9), ignored = regionNamed("sky", 20);
  early.to = late.from = kNewYear + kDayMs;
  ignored.ignore = true;
  Sample first = sampleWith(kNewYear + 12 * kHourMs, 100, "a.jpg", 2),
         second = sampleWith(kNewYear + kDayMs + 12 * kHourMs, 90);
  first.regions[2].region = 3;  // late, early, pond, XX_0001, sky
  first.regions[1].region = 2;
  store({late, early, regionNamed("pond, left", 30), regionNamed("XX_0001", 40), ignored, former}, {first, second});
  EXPECT_THAT(write(), SizeIs(9));
  const auto rows = rowsOf("yard_DB_1000_roistats.csv");
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0][7] + rows[1][7], "12") << "masks by their dates";
  std::string comments;
  EXPECT_THAT(rowsOf("yard_XX_0002_roistats.csv", &comments), SizeIs(1)) << "XX_0001 is taken";
  EXPECT_THAT(comments, HasSubstr("# Region: pond, left\n"));
  EXPECT_THAT(rowsOf("yard_XX_0002_3day.csv"), SizeIs(1));
  EXPECT_THAT(rowsOf("yard_XX_0001_1day.csv"), IsEmpty());
}

TEST_F(PhenoCamTest, WithoutRegionsIsAnError) {
  store({}, {sampleWith(kNewYear, 100, "a.jpg", 0)});
  EXPECT_MPM_ERROR(write(), "--regions");
  EXPECT_TRUE(fs::is_empty(out_));
}

TEST_F(PhenoCamTest, AFullDiskIsAnErrorAndLeavesNothing) {
  store({regionNamed("DB_1000")}, {sampleWith(kNewYear, 100)});
  const StoreReader opened(database_);  // which writes a file of its own, the first time
  const FileSizeLimit full(100);
  EXPECT_MPM_ERROR(write(), "File too large");
  EXPECT_TRUE(fs::is_empty(out_));
}

}  // namespace
}  // namespace mpm::monitor::test
