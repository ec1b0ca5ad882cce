// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/bucket.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

static_assert(std::endian::native == std::endian::little, "the numbers in BLOBs are little-endian");

// A stored series is that of a key: part of the file format, so that the table of quantities needs no numbers.
std::uint32_t codeOf(std::string_view key) { return static_cast<std::uint32_t>(hashBytes(key)); }
std::uint32_t codeOf(int label) { return codeOf("area") + static_cast<std::uint32_t>(label); }

template <typename T>
std::string_view bytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
std::vector<T> valuesOf(const Statement& row, int column) {
  const std::string_view bytes = row.blob(column);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (bytes.size() != values.size() * sizeof(T)) row.refuse("a sum has another size than was written");
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

using Occurrence = std::array<std::int32_t, 2>;  // tenths of a token, and how often

}  // namespace

void addTo(Spread& all, const Spread& part) {
  if (part.samples == 0) return;
  if (all.samples == 0) all = {0, 0, part.min, part.max};
  const auto samples = static_cast<double>(all.samples), more = static_cast<double>(part.samples);
  all = {all.samples + part.samples, (all.mean * samples + part.mean * more) / (samples + more),
         std::min(all.min, part.min), std::max(all.max, part.max)};
}

void Bucket::addTotals(const Totals& totals) {
  const auto at = std::ranges::lower_bound(series_, totals.code, {}, &Totals::code);
  if (at == series_.end() || at->code != totals.code) {
    series_.insert(at, totals);
    return;
  }
  at->count += totals.count;
  at->sum += totals.sum;
  at->min = std::min(at->min, totals.min);
  at->max = std::max(at->max, totals.max);
}

void Bucket::addValue(std::uint32_t code, double value) {
  if (!std::isfinite(value)) return;
  const auto one = static_cast<float>(value);
  addTotals({value, one, one, 1, code});
}

void Bucket::add(const Sample& sample, const RegionSample& region) {
  ++samples;
  if (sample.night) ++(*sample.night ? night : day);
  const bool flagged = sample.flagged();
  for (std::size_t q = 0; q < quantities().size(); ++q)
    if (const auto value = region.value(q); value && (!flagged || quantities()[q].ofFlagged()))
      addValue(codeOf(quantities()[q].key), *value);
  if (flagged) return;
  for (const auto& [label, area] : region.areas) addValue(codeOf(label), 100 * area);
}

void Bucket::add(const Bucket& other) {
  samples += other.samples;
  day += other.day;
  night += other.night;
  for (const Totals& totals : other.series_) addTotals(totals);
}

const Bucket::Totals* Bucket::find(std::uint32_t code) const {
  const auto at = std::ranges::lower_bound(series_, code, {}, &Totals::code);
  return at == series_.end() || at->code != code ? nullptr : &*at;
}

Spread Bucket::spread(const std::string& quantity) const {
  const Totals* totals = find(codeOf(quantity));
  if (!totals) return {};
  return {totals->count, totals->sum / static_cast<double>(totals->count), totals->min, totals->max};
}

// A sample names only the classes that occur: in the others the area is 0.
Spread Bucket::area(int label) const {
  const Totals *totals = find(codeOf(label)), *flagged = find(codeOf("flagged"));
  const std::int64_t counted = samples - (flagged ? std::llround(flagged->sum) : 0);
  if (!totals) return {counted, 0, 0, 0};
  const bool always = totals->count == counted;
  return {counted, totals->sum / static_cast<double>(counted), always ? totals->min : 0.0, totals->max};
}

Bucket::Bucket(const Statement& row, int column)
    : samples(row.integer(column)),
      day(row.integer(column + 1)),
      night(row.integer(column + 2)),
      series_(valuesOf<Totals>(row, column + 3)) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // sums of many such buckets fit into 64 bits
  for (const std::int64_t count : {samples, day, night})
    if (count < 0 || count > kMost) row.refuse("a sum is of " + std::to_string(count) + " samples");
  std::erase_if(series_, [](const Totals& totals) { return totals.count == 0; });
}

std::string_view Bucket::bytes() const { return bytesOf(series_); }

std::optional<std::int32_t> tenthsOfTokens(const Sample& sample) {
  if (sample.flagged() || sample.token_counts.empty() || !std::isfinite(sample.token_counts.back()))
    return std::nullopt;
  return static_cast<std::int32_t>(std::lround(sample.token_counts.back() * 10));
}

void addOccurrences(const Statement& row, int column, std::map<std::int32_t, std::int64_t>& occurrences) {
  for (const auto& [tenths, count] : valuesOf<Occurrence>(row, column)) {
    if (tenths < 0 || count < 0) row.refuse("a sum of tokens is negative");
    occurrences[tenths] += count;
  }
}

void AggregateUpdate::add(std::int64_t source, std::int64_t session, const Sample& sample) {
  for (std::int64_t width : kBucketWidths)
    for (const RegionSample& region : sample.regions)
      if (region.region == 0 || !sample.flagged())
        buckets_[{source, width, bucketStart(sample.time, width), session, region.region}].add(sample, region);
  const int night = sample.night ? static_cast<int>(*sample.night) : kNightUnknown;
  if (const auto tenths = tenthsOfTokens(sample))
    ++hours_[{session, bucketStart(sample.time, kHourMs), night}][*tenths];
}

void AggregateUpdate::write(Database& database) {
  Statement read = database.prepare(
      "SELECT samples, day, night, series FROM bucket WHERE source = ? AND width_ms = ? AND start_ms = ?"
      " AND session = ? AND region = ?");
  Statement replace = database.prepare("INSERT OR REPLACE INTO bucket VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (auto& [key, bucket] : buckets_) {
    const auto& [source, width, start, session, region] = key;
    if (read.bind(source, width, start, session, region).step()) {
      // A sum that an SD card damaged begins anew: the samples, which it is only made from, must go on being stored.
      try {
        bucket.add(Bucket(read, 0));
      } catch (const Error&) {
      }
    }
    read.reset();
    replace.run(source, width, start, session, region, bucket.samples, bucket.day, bucket.night,
                Statement::Blob{bucket.bytes()});
  }
  Statement read_hour =
      database.prepare("SELECT occurrences FROM hour_of_tokens WHERE session = ? AND start_ms = ? AND night = ?");
  Statement replace_hour = database.prepare("INSERT OR REPLACE INTO hour_of_tokens VALUES (?, ?, ?, ?)");
  for (auto& [key, occurrences] : hours_) {
    const auto& [session, start, night] = key;
    if (read_hour.bind(session, start, night).step()) {
      try {
        auto sum = occurrences;
        addOccurrences(read_hour, 0, sum);
        occurrences = std::move(sum);
      } catch (const Error&) {
      }
    }
    read_hour.reset();
    std::vector<Occurrence> packed;
    for (const auto& [tenths, count] : occurrences) packed.push_back({tenths, static_cast<std::int32_t>(count)});
    replace_hour.run(session, start, night, Statement::Blob{bytesOf(packed)});
  }
}

}  // namespace mpm::monitor
