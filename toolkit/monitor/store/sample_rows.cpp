// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/sample_rows.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "monitor/store/schema.h"

namespace mpm::monitor {
namespace {

constexpr int kFirstValue = 4;    // parameter of prepareRegions()
constexpr int kFirstColumn = 15;  // of SampleRows

template <typename Number>
void appendNumber(std::string& text, Number value) {
  char digits[64];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// The next number in `text`, from which it and all before it are removed.
template <typename Number>
bool takeNumber(std::string_view& text, Number& value) {
  text.remove_prefix(std::min(text.find_first_of("-0123456789"), text.size()));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// "{"0":0.25,"7":0.75}": what the column `areas` holds.
std::string areasJson(const std::vector<std::pair<int, double>>& areas) {
  std::string text = "{";
  for (const auto& [label, area] : areas) {
    if (text.size() > 1) text += ',';
    text += '"';
    appendNumber(text, label);
    text += "\":";
    appendNumber(text, static_cast<float>(area));  // the shortest text that gives the float back
  }
  return text + "}";
}

}  // namespace

std::string countsJson(const std::vector<double>& counts) {
  std::string text = "[";
  for (double count : counts) {
    if (text.size() > 1) text += ',';
    appendNumber(text, count);
  }
  return text + "]";
}

Statement prepareRegions(const Database& database) {
  std::string columns = "sample, region, areas", values = "?, ?, ?";
  for (const Quantity& one : quantities()) {
    columns += std::string(", ") + one.key;
    values += ", ?";
  }
  return database.prepare("INSERT INTO region_sample(" + columns + ") VALUES (" + values + ")");
}

void insertRegion(Statement& prepared, std::int64_t sample, const RegionSample& region) {
  prepared.bind(sample, region.region, areasJson(region.areas));
  for (std::size_t q = 0; q < quantities().size(); ++q) prepared.bindAt(kFirstValue + q, region.value(q));
  prepared.step();
  prepared.reset();
}

SampleRows::SampleRows(const Database& database, With with, const std::string& where) {
  const std::vector<std::string> there = columnsOf(database, "region_sample");
  std::string columns =
      "SELECT sample.id, session, time_ms, picture, night, token_counts, moved_right, moved_down, turned,"
      " zoomed, picture_digest, pixel_digest, region, coalesce(region.name, ''), areas";
  for (const Quantity& one : quantities()) columns += ", " + nullUnless(there, one.key);
  rows_ = database.prepare(columns + " FROM sample JOIN region_sample ON region_sample.sample = sample.id" +
                           (with == With::kWhole ? " AND region = 0" : "") +
                           " LEFT JOIN region ON region.id = region_sample.region WHERE " + where +
                           " ORDER BY time_ms, sample.id, region");
  if (with == With::kStates) {
    const bool looks = std::ranges::count(columnsOf(database, "state_sample"), "look") > 0;
    states_ =
        database.prepare(std::string("SELECT name, state, probability, sure, counted, ") +
                         (looks ? "coalesce(look, 1)" : "1") + " FROM state_sample WHERE sample = ? ORDER BY name");
  }
}

bool SampleRows::next(Sample& sample) {
  if (!more_) return false;
  sample = {};
  sample.regions.clear();
  std::string_view counts, areas;
  ViewMotion moved;
  do {
    RegionSample region;
    rows_.read(sample.id, sample.session, sample.time, sample.picture, sample.night, counts, moved.right, moved.down,
               moved.turn, moved.zoom, sample.digest, sample.pixels, region.region, region.name, areas);
    int label = 0;
    for (double area = 0; takeNumber(areas, label) && takeNumber(areas, area);)
      if (label >= 0) region.areas.emplace_back(label, area);
    for (std::size_t q = 0; q < quantities().size(); ++q) {
      const int column = kFirstColumn + static_cast<int>(q);
      region.values.push_back(rows_.isNull(column) ? std::numeric_limits<double>::quiet_NaN() : rows_.real(column));
    }
    if (sample.regions.empty()) {
      for (double count = 0; takeNumber(counts, count);) sample.token_counts.push_back(count);
      if (!rows_.isNull(6)) sample.measured_offset = moved;
      // A row of the whole picture that another program deleted: its numbers are unknown.
      if (region.region != 0) sample.regions.emplace_back();
    }
    sample.regions.push_back(std::move(region));
    more_ = rows_.step();
  } while (more_ && rows_.integer(0) == sample.id);
  if (!states_.isPrepared()) return true;
  states_.bind(sample.id);
  while (states_.step()) {
    StateSample& one = sample.states.emplace_back();
    int look = 0;
    states_.read(one.name, one.state, one.probability, one.sure, one.counted, look);
    one.look = static_cast<StateLook>(look);
  }
  return true;
}

}  // namespace mpm::monitor
