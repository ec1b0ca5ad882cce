// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/phenocam.h"

#include <sstream>

#include "monitor/samples.h"
#include "support/file_size_limit.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using mpm::test::FileSizeLimit;

constexpr UnixMs kNewYear = 1'767'225'600'000;  // 2026-01-01 00:00 UTC, and there
constexpr double kLatitude = 35, kLongitude = 0;
constexpr int kImageCount = 3, kGcc90 = 20;  // columns of the days

std::vector<std::string> cellsOf(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

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
    std::ifstream file(out_ + "/" + name);
    EXPECT_TRUE(file) << name;
    std::string header;
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("#"))
        header.empty() ? void(header = line) : rows.push_back(cellsOf(line));
      else if (comments)
        *comments += line + "\n";
    }
    for (const auto& row : rows) EXPECT_EQ(row.size(), cellsOf(header).size()) << name;
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
  vision::Region early = regionNamed("DB_1000"), late = regionNamed("DB_1000", 9), ignored = regionNamed("sky", 20);
  early.to = late.from = kNewYear + kDayMs;
  ignored.ignore = true;
  Sample first = sampleWith(kNewYear + 12 * kHourMs, 100, "a.jpg", 2),
         second = sampleWith(kNewYear + kDayMs + 12 * kHourMs, 90);
  first.regions[2].region = 3;  // late, early, pond, XX_0001, sky
  first.regions[1].region = 2;
  store({late, early, regionNamed("pond, left", 30), regionNamed("XX_0001", 40), ignored}, {first, second});
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
