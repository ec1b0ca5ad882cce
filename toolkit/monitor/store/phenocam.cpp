// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/export.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <locale>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "base/atomic_file.h"
#include "base/quantiles.h"
#include "base/visible_text.h"
#include "monitor/statistics/day_night.h"
#include "mpm/error.hpp"
#include "mpm/version.hpp"
#include "vision/astronomy.h"
#include "vision/regions/region.h"

namespace mpm::monitor {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

// Limits by which vegindex leaves pictures out of the days: a sun lower than this, a sum of R, G and B outside of this.
constexpr double kLowestSun = 10, kDarkest = 100, kBrightest = 665;

constexpr const char* kStatisticsColumns =
    "date,local_std_time,doy,filename,solar_elev,exposure,awbflag,mask_index,gcc,rcc,"
    "r_mean,r_std,r_5_qtl,r_10_qtl,r_25_qtl,r_50_qtl,r_75_qtl,r_90_qtl,r_95_qtl,"
    "g_mean,g_std,g_5_qtl,g_10_qtl,g_25_qtl,g_50_qtl,g_75_qtl,g_90_qtl,g_95_qtl,"
    "b_mean,b_std,b_5_qtl,b_10_qtl,b_25_qtl,b_50_qtl,b_75_qtl,b_90_qtl,b_95_qtl,r_g_correl,g_b_correl,b_r_correl\n";
constexpr const char* kPeriodColumns =
    "date,year,doy,image_count,midday_filename,midday_r,midday_g,midday_b,midday_gcc,midday_rcc,"
    "r_mean,r_std,g_mean,g_std,b_mean,b_std,gcc_mean,gcc_std,gcc_50,gcc_75,gcc_90,"
    "rcc_mean,rcc_std,rcc_50,rcc_75,rcc_90,max_solar_elev,"
    "snow_flag,outlierflag_gcc_mean,outlierflag_gcc_50,outlierflag_gcc_75,outlierflag_gcc_90\n";

std::string missing(int columns) {
  std::string text;
  for (int i = 0; i < columns; ++i) text += ",NA";
  return text;
}

sys_days newYear(sys_days day, int later = 0) {
  using namespace std::chrono;
  return (year_month_day(day).year() + years(later)) / January / 1;
}
auto dayOfYear(sys_days day) { return (day - newYear(day)).count() + 1; }
std::string date(sys_days day) { return isoTime(day.time_since_epoch().count() * kDayMs).substr(0, 10); }

struct RegionRow {
  UnixMs time = 0;   // on the clock of the camera
  std::string file;  // of the picture
  double sun = 0;    // elevation in degrees, lifted by refraction
  bool flagged = false;
  std::int64_t pixels = 0;
  std::array<double, 3> mean{}, deviation{};  // R, G, B

  sys_days day() const {
    return std::chrono::floor<days>(std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(time)));
  }
  double sum() const { return mean[0] + mean[1] + mean[2]; }
  double rcc() const { return mean[0] / sum(); }
  double gcc() const { return mean[1] / sum(); }
  bool counts() const {
    return !flagged && pixels > 0 && sum() >= kDarkest && sum() <= kBrightest && sun >= kLowestSun;
  }
};

void writeRow(std::ostream& out, const RegionRow& row, int mask) {
  const std::string time = isoTime(row.time);
  out << time.substr(0, 10) << ',' << time.substr(11, 8) << ',' << dayOfYear(row.day()) << ',' << row.file << ','
      << row.sun << missing(2) << ',' << mask;
  if (row.pixels > 0 && row.sum() > 0)
    out << ',' << row.gcc() << ',' << row.rcc();
  else
    out << missing(2);
  for (int c = 0; c < 3; ++c) {
    if (row.pixels > 0)
      out << ',' << row.mean[c] << ',' << row.deviation[c] << missing(7);
    else
      out << missing(9);
  }
  out << missing(3) << '\n';
}

// The rows of a region by periods of days. Periods begin anew with each year.
class Periods {
 public:
  Periods(std::ostream& out, int length) : out_(out), length_(length) {}

  /// By time.
  void add(const RegionRow& row) {
    if (!last_) start_ = row.day() - days((dayOfYear(row.day()) - 1) % length_.count());
    while (row.day() >= start_ + length_) next();
    rows_.push_back(row);
    last_ = row.day();
  }
  /// A last period that reaches into the new year takes its first days, and that year's first period is still written.
  void finish() {
    while (last_ && start_ <= *last_) next();
  }

 private:
  void next() {
    write();
    rows_.clear();
    start_ = std::min(start_ + length_, newYear(start_, 1));
  }

  void write() const {
    const sys_days middle = start_ + length_ / 2;
    out_ << date(middle) << ',' << date(middle).substr(0, 4) << ',' << dayOfYear(middle) << ',' << rows_.size() << ',';
    if (rows_.empty()) {
      out_ << "None" << missing(27) << '\n';
      return;
    }
    const UnixMs noon = middle.time_since_epoch().count() * kDayMs + 12 * kHourMs;
    const RegionRow& midday =
        *std::ranges::min_element(rows_, {}, [&](const RegionRow& row) { return std::abs(row.time - noon); });
    out_ << midday.file << ',' << midday.mean[0] << ',' << midday.mean[1] << ',' << midday.mean[2] << ','
         << midday.gcc() << ',' << midday.rcc();
    for (int c = 0; c < 3; ++c) writeMean(valuesOf([c](const RegionRow& row) { return row.mean[c]; }));
    for (const auto share : {&RegionRow::gcc, &RegionRow::rcc}) {
      const std::vector<double> values = valuesOf([share](const RegionRow& row) { return (row.*share)(); });
      writeMean(values);
      for (const double p : {0.5, 0.75, 0.9}) out_ << ',' << quantile(values, p);
    }
    const std::vector<double> suns = valuesOf([](const RegionRow& row) { return row.sun; });
    out_ << ',' << *std::ranges::max_element(suns) << missing(5) << '\n';
  }

  template <typename Value>
  std::vector<double> valuesOf(const Value& value) const {
    std::vector<double> values;
    for (const RegionRow& row : rows_) values.push_back(value(row));
    return values;
  }
  void writeMean(const std::vector<double>& values) const {
    const double n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    out_ << ',' << mean << ',' << std::sqrt(squares / n);
  }

  std::ostream& out_;
  days length_;
  sys_days start_{};
  std::optional<sys_days> last_{};  // day of a row
  std::vector<RegionRow> rows_{};
};

struct OutputFile {
  explicit OutputFile(const std::string& name) : path(name), file(name) {
    out.imbue(std::locale::classic());
    out.open(file.place(), std::ios::binary | std::ios::app);
    out << std::fixed << std::setprecision(5);
  }
  void finish() {
    errno = 0;
    out.close();
    if (!out) throw Error("cannot write '" + path + "'" + (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
    file.finish();
  }

  std::string path;
  AtomicFile file;
  std::ofstream out;
};

// The files of the regions of one name, which differ in their dates.
struct RegionFiles {
  RegionFiles(const PhenoCamOptions& options, const std::string& region, const std::string& code,
              const std::string& folder)
      : base((std::filesystem::path(folder) / (options.site + "_" + code)).string()) {
    const std::size_t score = code.find('_');
    std::ostringstream place;
    place.imbue(std::locale::classic());
    place << std::setprecision(9) << "# Site: " << options.site << "\n# Veg Type: " << code.substr(0, score)
          << "\n# ROI ID Number: " << code.substr(score + 1) << "\n# Lat: " << options.latitude
          << "\n# Lon: " << options.longitude
          << "\n# Elev: NA\n# UTC Offset: " << static_cast<double>(options.ahead_of_utc) / kHourMs << '\n';
    const std::string now = isoTime(unixNow()), day = now.substr(0, 10), time = now.substr(11, 8);
    const std::string end = "# Creation Date: " + day + "\n# Creation Time: " + time + "\n# Update Date: " + day +
                            "\n# Update Time: " + time + "\n# Region: " + visibleText(region) +
                            "\n# Software: mpm " MPM_VERSION "\n#\n";
    statistics.out << "#\n# ROI color statistics timeseries for " << options.site << "\n#\n"
                   << place.str() << "# Resize Flag: False\n# Version: 1\n"
                   << end << kStatisticsColumns;
    for (const auto& [file, length] : {std::pair(&one_day, 1), std::pair(&three_days, 3)}) {
      file->out << "#\n# " << length << "-day summary product timeseries for " << options.site << "\n#\n"
                << place.str() << "# Image Count Threshold: 1\n# Aggregation Period: " << length
                << "\n# Solar Elevation Min: 10.0\n# Time of Day Min: 00:00:00\n# Time of Day Max: 23:59:59"
                << "\n# ROI Brightness Min: 100\n# ROI Brightness Max: 665\n"
                << end << kPeriodColumns;
    }
  }

  void add(const RegionRow& row, int mask) {
    writeRow(statistics.out, row, mask);
    if (!row.counts()) return;
    by_day.add(row);
    by_three_days.add(row);
  }
  std::vector<std::string> finish() {
    by_day.finish();
    by_three_days.finish();
    std::vector<std::string> paths;
    for (OutputFile* file : {&statistics, &one_day, &three_days}) {
      file->finish();
      paths.push_back(file->path);
    }
    return paths;
  }

  std::string base;
  OutputFile statistics{base + "_roistats.csv"}, one_day{base + "_1day.csv"}, three_days{base + "_3day.csv"};
  Periods by_day{one_day.out, 1}, by_three_days{three_days.out, 3};
};

// A type and a number, as "DB_1000".
bool isCode(const std::string& name) {
  const std::size_t line = name.find('_');
  if (line == std::string::npos || line == 0 || line + 1 == name.size() || name.size() > 199) return false;
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  return std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(line), isLetter) &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(line) + 1, name.end(), isDigit);
}

std::map<std::string, std::string> codesOf(const std::set<std::string>& names) {
  std::map<std::string, std::string> codes;
  int number = 0;
  for (const std::string& name : names) {
    std::string code = name;
    while (!isCode(code) || (code != name && names.count(code) > 0)) {
      char text[32];
      std::snprintf(text, sizeof text, "XX_%04d", ++number);
      code = text;
    }
    codes[name] = code;
  }
  return codes;
}

}  // namespace

std::vector<std::string> writePhenoCam(const StoreReader& store, const PhenoCamOptions& options,
                                       const std::string& folder) {
  std::vector<RegionRecord> regions;
  for (const SourceRecord& source : store.sources())
    if (source.id == options.source) regions = store.regions(source.name);
  std::erase_if(regions, [](const RegionRecord& stored) { return stored.region.ignore; });
  if (regions.empty()) throw Error("PhenoCam's files are of regions, and none is stored: see 'mpm monitor --regions'");
  std::set<std::string> names;
  for (const RegionRecord& stored : regions) names.insert(stored.region.name);
  std::map<std::string, RegionFiles> files;
  for (const auto& [name, code] : codesOf(names)) files.try_emplace(name, options, name, code, folder);
  struct Mask {
    RegionFiles* files;
    int number;  // of the times from which regions with this name are valid, from 1: a changed region keeps its own
  };
  std::map<std::string, std::set<UnixMs>> starts;
  const auto startOf = [](const RegionRecord& stored) { return stored.region.from.value_or(INT64_MIN); };
  for (const RegionRecord& stored : regions) starts[stored.region.name].insert(startOf(stored));
  std::map<std::int64_t, Mask> masks;
  for (const RegionRecord& stored : regions) {
    const std::set<UnixMs>& of_name = starts[stored.region.name];
    masks[stored.id] = {&files.at(stored.region.name),
                        1 + static_cast<int>(std::distance(of_name.begin(), of_name.find(startOf(stored))))};
  }

  store.samples(
      options.source, options.from, options.to,
      [&](const Sample& sample) {
        RegionRow row{.time = sample.time + options.ahead_of_utc,
                      .file = utf8Line(std::filesystem::path(sample.picture).filename().string()),
                      .sun = vision::apparentElevation(sunElevation(sample.time, options.latitude, options.longitude)),
                      .flagged = sample.flagged()};
        std::ranges::replace_if(
            row.file, [](char c) { return c == ',' || c == '"'; }, '_');
        if (row.file.empty()) row.file = "None";
        for (const RegionSample& region : sample.regions) {
          const auto mask = masks.find(region.region);
          if (mask == masks.end()) continue;
          const auto known = [&](const char* key) { return region.value(key).value_or(0); };
          row.pixels = std::llround(known("pixels"));
          row.mean = {known("red"), known("green"), known("blue")};
          row.deviation = {known("red_deviation"), known("green_deviation"), known("blue_deviation")};
          mask->second.files->add(row, mask->second.number);
        }
        return true;
      },
      options.series);
  std::vector<std::string> paths;
  for (auto& [name, of_region] : files)
    for (std::string& path : of_region.finish()) paths.push_back(std::move(path));
  return paths;
}

}  // namespace mpm::monitor
