// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/export.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "monitor/samples.h"
#include "monitor/statistics/day_night.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using mpm::test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string exportText(const StoreReader& store, const ExportOptions& options) {
  const TemporaryFolder folder;
  exportSamples(store, options, folder / "samples");
  std::ostringstream text;
  text << std::ifstream(folder / "samples").rdbuf();
  return text.str();
}

class ExportTest : public ::testing::Test {
 protected:
  ExportTest() {
    StoreWriter writer(folder_ / "a.db");
    SessionInfo info = session();
    info.classes[3] = "tree, \"old\"";
    info.latitude = 48.0;
    info.longitude = 11.5;
    writer.beginSession(info);
    writer.append(sampleAt(kNoon + 250, 377, false));
    Sample other = sampleAt(kNoon + 12 * kHourMs, 0, std::nullopt);
    other.tokens = {660, 400.5};
    other.areas = {{0, 1.0}};
    other.dropped = 3;
    other.rows = 0.125;
    other.agreement = 98.75;
    other.quality = {.sharpness = 90.125, .contrast = 20.5, .saturated = 0.0125, .flags = kBlurred | kFogged};
    other.picture = "noon, \"1\".jpg";
    writer.append(other);
  }
  StoreReader reader() const { return StoreReader(folder_ / "a.db"); }

  TemporaryFolder folder_;
};

TEST_F(ExportTest, Csv) {
  EXPECT_THAT(
      linesOf(exportText(reader(), {.format = ExportFormat::kCsv, .source = 1})),
      ElementsAre(
          "time_utc,unix_ms,tokens,tokens_after_merge_1,tokens_after_merge_2,merged_percent,"
          "inference_ms,brightness_0_255,night,dropped_frames,rows_percent,"
          "agreement_percent,sharpness,contrast,saturated_percent,quality,reduction,picture,area_road_percent,"
          "\"area_tree, \"\"old\"\"_percent\"",
          "2026-06-01T12:00:00.250Z,1780315200250,660,491,377,42.879,12.500,100.00,0,0,,,,,,,"
          "\"mpm:blocks=2,5\",,75.0000,25.0000",
          "2026-06-02T00:00:00.000Z,1780358400000,660,400.5,,39.318,12.500,100.00,,3,12.50,98.750,"
          "90.1,20.50,1.25,\"blurred, covered or fogged\",\"mpm:blocks=2,5\",\"noon, \"\"1\"\".jpg\",100.0000,0.0000"));
  EXPECT_EQ(linesOf(exportText(reader(), {.source = 1, .from = kNoon + kHourMs})).size(), 2u);
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

TEST_F(ExportTest, PhenoCamHasAHeaderTheDayOfTheYearAndTheSun) {
  ::setenv("TZ", "CET-1CEST", 1);  // summer time must not matter
  ::tzset();
  const auto lines = linesOf(exportText(reader(), {.format = ExportFormat::kPhenoCam, .source = 1}));
  ::unsetenv("TZ");
  ::tzset();
  std::size_t header = 0;
  std::string comments;
  while (header < lines.size() && lines[header].starts_with("#")) comments += lines[header++] + "\n";
  for (const char* part : {"# Site: camera 0\n", "# Lat: 48.00000\n", "# Lon: 11.50000\n", "# UTC Offset: 1\n",
                           "# Image Count: 2\n", "# Reduction: mpm:blocks=2,5\n"})
    EXPECT_THAT(comments, HasSubstr(part));
  ASSERT_EQ(lines.size(), header + 3);
  EXPECT_THAT(lines[header], HasSubstr("date,local_std_time,doy,solar_elev,tokens,"));
  char solar[32];
  std::snprintf(solar, sizeof solar, "%.3f", sunElevation(kNoon + 250, 48.0, 11.5));
  EXPECT_THAT(lines[header + 1],
              ::testing::StartsWith(std::string("2026-06-01,13:00:00,152.54167,") + solar + ",660,491,"));
  EXPECT_THAT(lines[header + 2], ::testing::StartsWith("2026-06-02,01:00:00,153.04167,-"));
  EXPECT_THAT(lines[header + 2], HasSubstr(",660,400.5,NA,39.318,"));
}

TEST_F(ExportTest, JsonLines) {
  const auto lines = linesOf(exportText(reader(), {.format = ExportFormat::kJsonLines, .source = 1}));
  ASSERT_EQ(lines.size(), 2u);
  const auto first = nlohmann::json::parse(lines[0]), second = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(first["time"], "2026-06-01T12:00:00.250Z");
  EXPECT_EQ(first["tokens"], nlohmann::json({660, 491, 377}));
  EXPECT_EQ(first["night"], false);
  EXPECT_EQ(first["area_fraction"]["tree, \"old\""], 0.25);
  EXPECT_TRUE(second["night"].is_null());
  EXPECT_EQ(second["dropped_frames"], 3);
  EXPECT_TRUE(first["rows_fraction"].is_null() && first["agreement_percent"].is_null());
  EXPECT_EQ(second["rows_fraction"], 0.125);
  EXPECT_EQ(second["agreement_percent"], 98.75);
  EXPECT_TRUE(first["quality"].is_null());
  EXPECT_EQ(second["quality"]["is"], "blurred, covered or fogged");
  EXPECT_EQ(second["quality"]["saturated_fraction"], 0.0125);
  EXPECT_EQ(second["picture"], "noon, \"1\".jpg");
}

// A model replaced at its path numbers the classes otherwise: a class is what its own session calls it.
TEST_F(ExportTest, EachSampleHasTheClassesOfItsOwnModel) {
  {
    StoreWriter writer(folder_ / "a.db");
    SessionInfo info = session();
    info.model_name = "new one";
    info.classes = {"sky", "road"};
    info.reduce = "gradual:blocks=0-7:count=48";
    writer.beginSession(info);
    Sample sample = sampleAt(kNoon + kDayMs);
    sample.areas = {{0, 0.125}, {1, 0.875}};
    writer.append(sample);
  }
  const auto csv = linesOf(exportText(reader(), {.format = ExportFormat::kCsv, .source = 1}));
  ASSERT_EQ(csv.size(), 4u);
  EXPECT_THAT(csv[0], ::testing::EndsWith(",area_road_percent,area_sky_percent,\"area_tree, \"\"old\"\"_percent\""));
  EXPECT_THAT(csv[1], ::testing::EndsWith(",75.0000,0.0000,25.0000"));
  EXPECT_THAT(csv[3], ::testing::EndsWith(",87.5000,12.5000,")) << "it knows no tree";
  EXPECT_THAT(csv[0], HasSubstr(",quality,reduction,picture,area_"));
  EXPECT_THAT(csv[1], HasSubstr(",\"mpm:blocks=2,5\",,75.0000"));
  EXPECT_THAT(csv[3], HasSubstr(",gradual:blocks=0-7:count=48,,87.5000"));
  const auto json = linesOf(exportText(reader(), {.format = ExportFormat::kJsonLines, .source = 1}));
  EXPECT_EQ(nlohmann::json::parse(json[0])["reduce"], "mpm:blocks=2,5");
  EXPECT_EQ(nlohmann::json::parse(json[2])["reduce"], "gradual:blocks=0-7:count=48");
  EXPECT_EQ(nlohmann::json::parse(json[0])["area_fraction"], (nlohmann::json{{"road", 0.75}, {"tree, \"old\"", 0.25}}));
  EXPECT_EQ(nlohmann::json::parse(json[2])["area_fraction"], (nlohmann::json{{"sky", 0.125}, {"road", 0.875}}));
  const std::string phenocam = exportText(reader(), {.format = ExportFormat::kPhenoCam, .source = 1});
  EXPECT_THAT(phenocam,
              HasSubstr("# Model: tiny; new one\n# Reduction: mpm:blocks=2,5; gradual:blocks=0-7:count=48\n"));
  EXPECT_THAT(phenocam, HasSubstr(",87.5000,12.5000,NA\n"));
}

TEST_F(ExportTest, ALongOneTellsHowFarItIsAndIsStopped) {
  constexpr int kSamples = 2000;
  {
    StoreWriter writer(folder_ / "long.db");
    writer.beginSession(session());
    for (int i = 0; i < kSamples; ++i) writer.append(sampleAt(kNoon + i * 1000, 377, false));
    ASSERT_TRUE(writer.flush());
  }
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
    std::ifstream file(path);
    EXPECT_EQ(std::string((std::istreambuf_iterator<char>(file)), {}), "before");
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_THAT(entry.path().string(), ::testing::Not(HasSubstr(".part")));
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
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, exportText(reader(), {.source = 1}));
  EXPECT_MPM_ERROR(exportSamples(reader(), {.source = 1}, folder_ / "no/out.csv"), "no/out.csv");
  EXPECT_MPM_ERROR(exportSamples(reader(), {.source = 1}, "/dev/full/x"), "/dev/full/x");
  EXPECT_MPM_ERROR(exportSamples(reader(), {.source = 8}, path), "no source 8");
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_THAT(entry.path().string(), ::testing::Not(HasSubstr(".part")));
}

}  // namespace
}  // namespace mpm::monitor::test
