// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/export.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <ostream>
#include <set>

#include "base/atomic_file.h"
#include "base/json_file.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"
#include "vision/csv.h"
#include "vision/labels/classes.h"

namespace mpm::monitor {
namespace {

std::string number(double value, int digits) {
  char text[400];  // of any double; snprintf would write a comma where the locale has one
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr};
}

std::string field(const std::string& any) { return vision::csvCell(utf8Line(any)); }

// The columns: known only after a look at every sample, because sessions may differ, also in what their
// models call the same number.
struct Columns {
  struct Session {
    SessionRecord record;
    std::set<int> labels;           // that occur
    std::map<int, std::size_t> at;  // label -> column, for every class of the model that has one
  };

  std::int64_t samples = 0;
  std::vector<std::string> classes;  // of all sessions
  std::set<std::string> regions;     // that were measured
  std::set<std::string> states;      // names of the heads that were read
  std::map<std::int64_t, Session> sessions;

  // The session of a sample; an empty one for a sample that came after findColumns().
  const Session& of(const Sample& sample) const {
    static const Session none{};
    const auto session = sessions.find(sample.session);
    return session == sessions.end() ? none : session->second;
  }

  // Share of the pixels per column, of the sample or one of its regions; nullopt where the sample's model does not know
  // the class.
  std::vector<std::optional<double>> areas(const Sample& sample,
                                           const std::vector<std::pair<int, double>>& found) const {
    std::vector<std::optional<double>> areas(classes.size());
    const Session& session = of(sample);
    for (const auto& [label, column] : session.at) areas[column] = 0;
    for (const auto& [label, area] : found)
      if (const auto at = session.at.find(label); at != session.at.end()) *areas[at->second] += area;
    return areas;
  }
};

// `goes_on`: asked at each sample.
Columns findColumns(const StoreReader& store, const ExportOptions& options, const std::function<bool()>& goes_on) {
  Columns columns;
  const auto sessions = store.sessions(options.source);
  store.samples(
      options.source, options.from, options.to,
      [&](const Sample& sample) {
        std::set<int>& labels = columns.sessions[sample.session].labels;
        for (const RegionSample& region : sample.regions) {
          for (const auto& [label, area] : region.areas) labels.insert(label);
          if (region.region != 0) columns.regions.insert(region.name);
        }
        for (const StateSample& one : sample.states) columns.states.insert(one.name);
        ++columns.samples;
        return goes_on();
      },
      options.series);
  for (const SessionRecord& record : sessions) {
    if (const auto session = columns.sessions.find(record.id); session != columns.sessions.end())
      session->second.record = record;
  }
  std::map<std::string, int> names;  // with the lowest number that any model gives it
  for (const auto& [id, session] : columns.sessions) {
    for (int label : session.labels) {
      const auto [name, fresh] = names.emplace(vision::className(session.record.classes, label), label);
      name->second = std::min(name->second, label);
    }
  }
  for (const auto& [name, label] : names) columns.classes.push_back(name);
  std::ranges::stable_sort(columns.classes,
                           [&](const std::string& a, const std::string& b) { return names[a] < names[b]; });
  std::map<std::string, std::size_t> column;
  for (std::size_t c = 0; c < columns.classes.size(); ++c) column[columns.classes[c]] = c;
  for (auto& [id, session] : columns.sessions) {
    for (std::size_t c = 0; c < session.record.classes.size(); ++c) session.labels.insert(static_cast<int>(c));
    for (int label : session.labels) {
      if (const auto at = column.find(vision::className(session.record.classes, label)); at != column.end())
        session.at[label] = at->second;
    }
  }
  return columns;
}

// The columns of the whole picture, or of a region.
template <typename Write>
void writeParts(const Columns& columns, const Write& write) {
  write("", "");
  for (const std::string& region : columns.regions) write(region, "region_" + region + "_");
}

void writeHeader(std::ostream& out, const Columns& columns) {
  out << "time_utc,time_local,unix_ms,picture,night,reduce,token_counts";
  writeParts(columns, [&](const std::string& region, const std::string& prefix) {
    for (const Quantity& one : quantities())
      if (region.empty() || one.of_regions) out << ',' << field(prefix + one.key);
    for (const std::string& name : columns.classes) out << ',' << field(prefix + "area_" + name + "_percent");
  });
  for (const std::string& name : columns.states)
    for (const char* what : {"", "_probability", "_sure", "_counted"}) out << ',' << field("state_" + name + what);
  out << '\n';
}

void writeRow(std::ostream& out, const Columns& columns, const vision::CameraClock& clock, const Sample& sample) {
  out << isoTime(sample.time, true) << ',' << clock.localTime(sample.time) << ',' << sample.time << ','
      << field(sample.picture) << ','
      << (!sample.night   ? ""
          : *sample.night ? "1"
                          : "0")
      << ',' << field(columns.of(sample).record.reduce) << ',';
  for (std::size_t k = 0; k < sample.token_counts.size(); ++k)
    out << (k > 0 ? " " : "") << numberText(sample.token_counts[k]);
  writeParts(columns, [&](const std::string& name, const std::string&) {
    const RegionSample* const region = sample.region(name);
    for (std::size_t q = 0; q < quantities().size(); ++q) {
      if (!name.empty() && !quantities()[q].of_regions) continue;
      const auto value = region ? region->value(q) : std::nullopt;
      out << ',' << (value ? numberText(rounded(quantities()[q], *value)) : "");
    }
    const auto areas =
        region ? columns.areas(sample, region->areas) : std::vector<std::optional<double>>(columns.classes.size());
    for (const auto& area : areas) out << ',' << (area ? number(100 * *area, 4) : "");
  });
  for (const std::string& name : columns.states) {
    const auto one = std::ranges::find_if(sample.states, [&](const StateSample& state) { return state.name == name; });
    if (one == sample.states.end()) {
      out << ",,,,";
    } else {
      out << ',' << field(one->state) << ',' << number(one->probability, 4) << ',' << (one->sure ? 1 : 0) << ','
          << field(one->counted);
    }
  }
  out << '\n';
}

void writeJson(std::ostream& out, const Columns& columns, const Sample& sample) {
  const SessionRecord& session = columns.of(sample).record;
  out << toLine(toJson(sample, session.classes, session.reduce)) << '\n';
}

}  // namespace

std::optional<std::int64_t> exportSamples(const StoreReader& store, const ExportOptions& options,
                                          const std::string& path, const std::function<bool(double)>& go_on) {
  AtomicFile file(path);
  errno = 0;
  std::ofstream out(file.place(), std::ios::binary | std::ios::app);
  const double steps =
      std::max(1.0, 2.0 * static_cast<double>(store.count(options.source, options.from, options.to, options.series)));
  std::int64_t done = 0;
  bool stopped = false;
  const auto goes_on = [&] {
    constexpr std::int64_t kBetween = 256;  // some ms of writing
    if (go_on && ++done % kBetween == 0) stopped = !go_on(std::min(1.0, static_cast<double>(done) / steps));
    return !stopped;
  };
  const Columns columns = findColumns(store, options, goes_on);
  if (stopped) return std::nullopt;
  if (options.format == ExportFormat::kCsv) writeHeader(out, columns);
  std::int64_t written = 0;
  // Newer rows may have more columns: write as many as were counted.
  store.samples(
      options.source, options.from, options.to,
      [&](const Sample& sample) {
        if (written == columns.samples) return false;
        if (options.format == ExportFormat::kCsv) {
          writeRow(out, columns, options.clock, sample);
        } else {
          writeJson(out, columns, sample);
        }
        ++written;
        return goes_on() && out.good();
      },
      options.series);
  if (stopped) return std::nullopt;
  out.close();
  if (!out) throw Error("cannot write '" + path + "'" + (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
  file.finish();
  return written;
}

std::string outagesCsv(const std::vector<Outage>& outages, const vision::CameraClock& clock) {
  std::string text = "begin_utc,end_utc,begin_local,end_local,seconds,cause\n";
  for (const Outage& one : outages) {
    text += isoTime(one.begin, true) + ',' + isoTime(one.end, true) + ',' + clock.localTime(one.begin) + ',' +
            clock.localTime(one.end) + ',' + number(static_cast<double>(one.end - one.begin) / kSecondMs, 3) + ',' +
            toString(one.cause) + '\n';
  }
  return text;
}

}  // namespace mpm::monitor
