// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/export.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <tuple>

#include "base/atomic_file.h"
#include "base/json_file.h"
#include "evaluation/numbers.h"
#include "monitor/statistics/day_night.h"
#include "mpm/error.hpp"
#include "mpm/version.hpp"
#include "vision/labels/classes.h"
#include "vision/times/written_time.h"

namespace mpm::monitor {
namespace {

std::string number(double value, int digits) {
  char text[400];  // of any double; snprintf would write a comma where the locale has one
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr};
}

std::string shortest(double value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// As RFC 4180 wants it.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

std::string oneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

// What the columns are: known only after a look at every sample, because sessions may differ, also in what their
// models call the same number.
struct Columns {
  struct Session {
    SessionRecord record;
    std::set<int> labels;           // that occur
    std::map<int, std::size_t> at;  // label -> column, for every class of the model that has one
  };

  std::size_t tokens = 1;
  std::int64_t samples = 0;
  std::vector<std::string> classes;  // of all sessions
  std::set<std::string> regions;     // that were measured
  std::set<std::string> states;      // names of the heads that were read
  std::map<std::int64_t, Session> sessions;
  SessionRecord latest;  // says where the camera stands

  // How tokens merged; empty where the session is not known.
  std::string reduction(const Sample& sample) const {
    const auto session = sessions.find(sample.session);
    return session == sessions.end() ? std::string() : session->second.record.reduce;
  }

  // Share of the pixels per column, of the sample or one of its regions; nullopt where the sample's model does not know
  // the class.
  std::vector<std::optional<double>> areas(const Sample& sample) const { return areas(sample, sample.areas); }
  std::vector<std::optional<double>> areas(const Sample& sample,
                                           const std::vector<std::pair<int, double>>& found) const {
    std::vector<std::optional<double>> areas(classes.size());
    const auto session = sessions.find(sample.session);
    if (session == sessions.end()) return areas;
    for (const auto& [label, column] : session->second.at) areas[column] = 0;
    for (const auto& [label, area] : found)
      if (const auto at = session->second.at.find(label); at != session->second.at.end()) *areas[at->second] += area;
    return areas;
  }
};

// Counts the samples that two looks at all of them pass, and asks now and then whether it is worth going on.
class ExportProgress {
 public:
  ExportProgress(std::int64_t samples, const std::function<bool(double)>& go_on)
      : steps_(static_cast<double>(std::max<std::int64_t>(1, 2 * samples))), go_on_(go_on) {}
  bool step() {
    constexpr std::int64_t kBetween = 256;  // some ms of writing
    if (go_on_ && ++done_ % kBetween == 0) stopped_ = !go_on_(std::min(1.0, static_cast<double>(done_) / steps_));
    return !stopped_;
  }
  bool stopped() const { return stopped_; }

 private:
  double steps_;
  const std::function<bool(double)>& go_on_;
  std::int64_t done_ = 0;
  bool stopped_ = false;
};

Columns findColumns(const StoreReader& store, const ExportOptions& options, ExportProgress& progress) {
  Columns columns;
  const auto sessions = store.sessions(options.source);
  if (!sessions.empty()) columns.latest = sessions.back();
  store.samples(options.source, options.from, options.to, [&](const Sample& sample) {
    columns.tokens = std::max(columns.tokens, sample.tokens.size());
    std::set<int>& labels = columns.sessions[sample.session].labels;
    for (const auto& [label, area] : sample.areas) labels.insert(label);
    for (const RegionSample& region : sample.regions) columns.regions.insert(region.name);
    for (const StateSample& one : sample.states) columns.states.insert(one.name);
    ++columns.samples;
    return progress.step();
  });
  for (const SessionRecord& record : sessions)
    if (const auto session = columns.sessions.find(record.id); session != columns.sessions.end())
      session->second.record = record;
  std::map<std::string, int> names;  // with the lowest number that any model gives it
  for (const auto& [id, session] : columns.sessions)
    for (int label : session.labels) {
      const auto [name, fresh] = names.emplace(vision::className(session.record.classes, label), label);
      name->second = std::min(name->second, label);
    }
  for (const auto& [name, label] : names) columns.classes.push_back(name);
  std::stable_sort(columns.classes.begin(), columns.classes.end(),
                   [&](const std::string& a, const std::string& b) { return names[a] < names[b]; });
  for (auto& [id, session] : columns.sessions) {
    for (std::size_t c = 0; c < session.record.classes.size(); ++c) session.labels.insert(static_cast<int>(c));
    for (int label : session.labels)
      if (const auto at = std::find(columns.classes.begin(), columns.classes.end(),
                                    vision::className(session.record.classes, label));
          at != columns.classes.end())
        session.at[label] = static_cast<std::size_t>(at - columns.classes.begin());
  }
  return columns;
}

constexpr const char* kOfRegion[] = {
    "pixels",         "red_0_255",        "green_0_255", "blue_0_255", "red_deviation", "green_deviation",
    "blue_deviation", "brightness_0_255", "gcc",         "rcc",        "exg",           "tokens"};

void writeRegionHeader(std::ostream& out, const Columns& columns) {
  for (const std::string& region : columns.regions) {
    const std::string name = "region_" + oneLine(region) + "_";
    for (const char* what : kOfRegion) out << ',' << field(name + what);
    for (const std::string& one : columns.classes) out << ',' << field(name + "area_" + oneLine(one) + "_percent");
  }
}

void writeRegionValues(std::ostream& out, const Columns& columns, const Sample& sample, const char* missing) {
  for (const std::string& name : columns.regions) {
    const auto found = std::find_if(sample.regions.begin(), sample.regions.end(),
                                    [&](const RegionSample& region) { return region.name == name; });
    if (found == sample.regions.end()) {
      for (std::size_t i = 0; i < std::size(kOfRegion) + columns.classes.size(); ++i) out << ',' << missing;
      continue;
    }
    out << ',' << found->pixels;
    for (const double value : {found->red, found->green, found->blue, found->red_deviation, found->green_deviation,
                               found->blue_deviation, found->brightness()})
      out << ',' << number(value, 4);
    out << ',' << number(found->gcc(), 6) << ',' << number(found->rcc(), 6) << ',' << number(found->exg(), 4) << ','
        << (found->tokens ? number(*found->tokens, 3) : missing);
    for (const auto& area : columns.areas(sample, found->areas))
      out << ',' << (area ? number(100 * *area, 4) : missing);
  }
}

void writeCsvHeader(std::ostream& out, const Columns& columns) {
  out << "tokens";
  for (std::size_t k = 1; k < columns.tokens; ++k) out << ",tokens_after_merge_" << k;
  out << ",merged_percent,inference_ms,brightness_0_255,night,dropped_frames,rows_percent,agreement_percent,"
         "sharpness,contrast,saturated_percent,quality,reduction,picture";
  for (const std::string& name : columns.classes) out << ',' << field("area_" + oneLine(name) + "_percent");
  writeRegionHeader(out, columns);
  for (const std::string& name : columns.states)
    for (const char* what : {"", "_probability", "_sure", "_counted"})
      out << ',' << field("state_" + oneLine(name) + what);
  out << '\n';
}

void writeCsvValues(std::ostream& out, const Columns& columns, const Sample& sample, const char* missing) {
  for (std::size_t k = 0; k < columns.tokens; ++k)
    out << (k > 0 ? "," : "") << (k < sample.tokens.size() ? shortest(sample.tokens[k]) : missing);
  if (sample.tokens.empty() || sample.tokens.front() <= 0)
    out << ',' << missing;
  else
    out << ',' << number(100 * (1 - sample.tokens.back() / sample.tokens.front()), 3);
  out << ',' << number(sample.inference_ms, 3) << ',' << number(sample.brightness, 2) << ',';
  out << (!sample.night   ? missing
          : *sample.night ? "1"
                          : "0")
      << ',' << sample.dropped << ',' << (sample.rows ? number(100 * *sample.rows, 2) : missing) << ','
      << (sample.agreement ? number(*sample.agreement, 3) : missing) << ',';
  if (const auto& quality = sample.quality)
    out << number(quality->sharpness, 1) << ',' << number(quality->contrast, 2) << ','
        << number(100 * quality->saturated, 2) << ',' << field(toText(*quality));
  else
    out << missing << ',' << missing << ',' << missing << ',' << missing;
  out << ',' << field(columns.reduction(sample)) << ',' << field(oneLine(sample.picture));
  for (const auto& area : columns.areas(sample)) out << ',' << (area ? number(100 * *area, 4) : missing);
  writeRegionValues(out, columns, sample, missing);
  for (const std::string& name : columns.states) {
    const auto one = std::find_if(sample.states.begin(), sample.states.end(),
                                  [&](const StateSample& state) { return state.name == name; });
    if (one == sample.states.end())
      out << ',' << missing << ',' << missing << ',' << missing << ',' << missing;
    else
      out << ',' << field(oneLine(one->state)) << ',' << number(one->probability, 4) << ',' << (one->sure ? 1 : 0)
          << ',' << (one->counted.empty() ? std::string(missing) : field(oneLine(one->counted)));
  }
  out << '\n';
}

void writePhenoCamHeader(std::ostream& out, const Columns& columns) {
  const SessionRecord& session = columns.latest;
  std::vector<std::string> models, reductions;
  const auto add = [](std::vector<std::string>& to, const std::string& text) {
    if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
  };
  for (const auto& [id, used] : columns.sessions) {
    add(models, oneLine(used.record.model_name.empty() ? used.record.model : used.record.model_name));
    add(reductions, used.record.reduce);
  }
  const std::string now = isoTime(unixNow());
  const auto place = [](const std::optional<double>& degrees) {
    return degrees ? number(*degrees, 5) : std::string("NA");
  };
  out << "#\n# Tokens kept after merging\n#\n"
      << "# Site: " << oneLine(session.source) << "\n# Lat: " << place(session.latitude)
      << "\n# Lon: " << place(session.longitude)
      << "\n# UTC Offset: " << shortest(vision::machineTimeZone(session.started) / 60.0)
      << "\n# Image Count: " << columns.samples << "\n# Model: " << boost::algorithm::join(models, "; ")
      << "\n# Reduction: " << boost::algorithm::join(reductions, "; ") << "\n# Software: mpm " MPM_VERSION
      << "\n# Creation Date: " << now.substr(0, 10) << "\n# Creation Time: " << now.substr(11, 8)
      << "\n# Units: doy day of year from 1.0; solar_elev degrees; NA missing\n#\n"
      << "date,local_std_time,doy,solar_elev,";
  writeCsvHeader(out, columns);
}

void writePhenoCamTime(std::ostream& out, const Columns& columns, const Sample& sample) {
  const std::time_t second =
      (sample.time + vision::machineTimeZone(sample.time) * kMinuteMs) / kSecondMs;  // local_std_time
  std::tm parts{};
  ::gmtime_r(&second, &parts);
  char text[64];
  text[std::strftime(text, sizeof text, "%Y-%m-%d,%H:%M:%S,", &parts)] = '\0';
  const double day = parts.tm_yday + 1 + (parts.tm_hour * 3600 + parts.tm_min * 60 + parts.tm_sec) / 86400.0;
  out << text << number(day, 5) << ',';
  const auto& [latitude, longitude] = std::tie(columns.latest.latitude, columns.latest.longitude);
  out << (latitude && longitude ? number(sunElevation(sample.time, *latitude, *longitude), 3) : "NA") << ',';
}

void writeJson(std::ostream& out, const Columns& columns, const Sample& sample) {
  Json areas = Json::object();
  const auto values = columns.areas(sample);
  for (std::size_t c = 0; c < values.size(); ++c)
    if (values[c].value_or(0) > 0) areas[columns.classes[c]] = *values[c];
  const auto session = columns.sessions.find(sample.session);
  Json regions = Json::object();
  for (const RegionSample& region : sample.regions)
    regions[region.name] = regionJson(
        region, session == columns.sessions.end() ? std::vector<std::string>() : session->second.record.classes);
  const Json line = {{"time", isoTime(sample.time, true)},
                     {"unix_ms", sample.time},
                     {"tokens", sample.tokens},
                     {"reduce", columns.reduction(sample)},
                     {"inference_ms", sample.inference_ms},
                     {"brightness_0_255", sample.brightness},
                     {"night", sample.night ? Json(*sample.night) : Json(nullptr)},
                     {"dropped_frames", sample.dropped},
                     {"rows_fraction", evaluation::orNull(sample.rows)},
                     {"agreement_percent", evaluation::orNull(sample.agreement)},
                     {"quality", sample.quality ? Json{{"sharpness", sample.quality->sharpness},
                                                       {"contrast", sample.quality->contrast},
                                                       {"saturated_fraction", sample.quality->saturated},
                                                       {"is", toText(*sample.quality)}}
                                                : Json()},
                     {"picture", sample.picture},
                     {"area_fraction", areas},
                     {"regions", regions},
                     {"states", statesJson(sample)}};
  out << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace

Json regionJson(const RegionSample& region, const std::vector<std::string>& classes) {
  Json areas = Json::object();
  for (const auto& [label, area] : region.areas) areas[vision::className(classes, label)] = area;
  return {{"pixels", region.pixels},
          {"red", region.red},
          {"green", region.green},
          {"blue", region.blue},
          {"red_deviation", region.red_deviation},
          {"green_deviation", region.green_deviation},
          {"blue_deviation", region.blue_deviation},
          {"brightness_0_255", region.brightness()},
          {"gcc", region.gcc()},
          {"rcc", region.rcc()},
          {"exg", region.exg()},
          {"tokens", evaluation::orNull(region.tokens)},
          {"area_fraction", areas}};
}

Json statesJson(const Sample& sample) {
  Json states = Json::object();
  for (const StateSample& one : sample.states)
    states[one.name] = {{"state", one.state},
                        {"probability", one.probability},
                        {"sure", one.sure},
                        {"counted", one.counted.empty() ? Json() : Json(one.counted)}};
  return states;
}

std::optional<std::int64_t> exportSamples(const StoreReader& store, const ExportOptions& options,
                                          const std::string& path, const std::function<bool(double)>& go_on) {
  AtomicFile file(path);
  errno = 0;
  std::ofstream out(file.place(), std::ios::binary | std::ios::app);
  ExportProgress progress(store.count(options.source, options.from, options.to), go_on);
  const Columns columns = findColumns(store, options, progress);
  if (progress.stopped()) return std::nullopt;
  if (options.format == ExportFormat::kCsv) {
    out << "time_utc,unix_ms,";
    writeCsvHeader(out, columns);
  } else if (options.format == ExportFormat::kPhenoCam) {
    writePhenoCamHeader(out, columns);
  }
  std::int64_t written = 0;
  // Newer rows may have more columns: write as many as were counted.
  store.samples(options.source, options.from, options.to, [&](const Sample& sample) {
    if (written == columns.samples) return false;
    if (options.format == ExportFormat::kJsonLines) {
      writeJson(out, columns, sample);
    } else if (options.format == ExportFormat::kCsv) {
      out << isoTime(sample.time, true) << ',' << sample.time << ',';
      writeCsvValues(out, columns, sample, "");
    } else {
      writePhenoCamTime(out, columns, sample);
      writeCsvValues(out, columns, sample, "NA");
    }
    ++written;
    return progress.step() && out.good();
  });
  if (progress.stopped()) return std::nullopt;
  out.close();
  if (!out) throw Error("cannot write '" + path + "'" + (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
  file.finish();
  return written;
}

}  // namespace mpm::monitor
