// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/bucket.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "monitor/store/sqlite.h"
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

// The least and the largest are floats, and may lie on the other side of a mean.
Spread spreadOf(std::int64_t samples, double mean, double min, double max) {
  return {samples, mean, std::min(min, mean), std::max(max, mean)};
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

std::vector<Bucket::Totals>::iterator Bucket::addTotals(const Totals& totals, std::vector<Totals>::iterator from) {
  // Buckets have the same series, but for classes: the next one is mostly here.
  if (from == series_.end() || from->code < totals.code)
    from = std::ranges::lower_bound(from, series_.end(), totals.code, {}, &Totals::code);
  if (from == series_.end() || from->code != totals.code) return series_.insert(from, totals) + 1;
  from->count += totals.count;
  from->sum += totals.sum;
  from->min = std::min(from->min, totals.min);
  from->max = std::max(from->max, totals.max);
  return from + 1;
}

void Bucket::addValue(std::uint32_t code, double value) {
  if (!std::isfinite(value)) return;
  const auto one = static_cast<float>(value);
  addTotals({value, one, one, 1, code}, series_.begin());
}

void Bucket::add(const Sample& sample, const RegionSample& region) {
  ++samples;
  const bool flagged = sample.flagged();
  for (std::size_t q = 0; q < quantities().size(); ++q) {
    if (const auto value = region.value(q); value && (!flagged || quantities()[q].of_flagged))
      addValue(codeOf(quantities()[q].key), *value);
  }
  if (flagged) return;
  for (const auto& [label, area] : region.areas) addValue(codeOf(label), 100 * area);
}

void Bucket::add(Bucket other) {
  samples += other.samples;
  if (series_.empty()) {
    series_ = std::move(other.series_);
    return;
  }
  auto at = series_.begin();
  for (const Totals& totals : other.series_) at = addTotals(totals, at);
}

const Bucket::Totals* Bucket::find(std::uint32_t code) const {
  const auto at = std::ranges::lower_bound(series_, code, {}, &Totals::code);
  return at == series_.end() || at->code != code ? nullptr : &*at;
}

Spread Bucket::spread(const std::string& quantity) const {
  const Totals* totals = find(codeOf(quantity));
  if (!totals) return {};
  return spreadOf(totals->count, totals->sum / static_cast<double>(totals->count), totals->min, totals->max);
}

// A sample names only the classes that occur: in the others the area is 0.
Spread Bucket::area(int label) const {
  const Totals *totals = find(codeOf(label)), *flagged = find(codeOf("flagged"));
  const std::int64_t counted = samples - (flagged ? std::llround(flagged->sum) : 0);
  if (!totals) return {counted, 0, 0, 0};
  const bool always = totals->count == counted;
  return spreadOf(counted, totals->sum / static_cast<double>(counted), always ? totals->min : 0.0, totals->max);
}

Bucket::Bucket(const Statement& row, int column)
    : samples(row.integer(column)), series_(valuesOf<Totals>(row, column + 1)) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // sums of many such buckets fit into 64 bits
  if (samples < 1 || samples > kMost) row.refuse("a sum is of " + std::to_string(samples) + " samples");
  std::erase_if(series_, [](const Totals& totals) { return totals.count == 0; });
}

std::string_view Bucket::bytes() const { return bytesOf(series_); }

Side sideIn(const Statement& row, int column) {
  const std::int64_t side = row.integer(column);
  if (side < 0 || side > 2) row.refuse("a sum is of neither day nor night");
  return static_cast<Side>(side);
}

std::optional<std::int32_t> tenthsOfTokens(const Sample& sample) {
  if (sample.flagged() || sample.token_counts.empty() || !std::isfinite(sample.token_counts.back()))
    return std::nullopt;
  return static_cast<std::int32_t>(std::lround(sample.token_counts.back() * 10));
}

void addTokenCounts(const Statement& row, int column, TokenCounts& counts) {
  for (const auto& [tenths, count] : valuesOf<Occurrence>(row, column)) {
    if (tenths < 0 || count < 0) row.refuse("a sum of tokens is negative");
    counts[tenths] += count;
  }
}

void BucketUpdate::add(std::int64_t series, const Sample& sample,
                       const std::function<bool(std::int64_t width, UnixMs start)>& takes) {
  const Side side = sideOf(sample.night);
  const auto tenths = tenthsOfTokens(sample);
  for (std::int64_t width : kBucketWidths) {
    if (takes && !takes(width, bucketStart(sample.time, width))) continue;
    for (const RegionSample& region : sample.regions) {
      if (!countsIn(sample, region)) continue;
      Sums& sums = sums_[{series, width, bucketStart(sample.time, width), region.region, side}];
      sums.bucket.add(sample, region);
      if (tenths && width == kHourMs && region.region == 0) ++sums.tokens[*tenths];
    }
  }
}

void BucketUpdate::add(const BucketKey& key, const Bucket& bucket, const TokenCounts& tokens) {
  Sums& sums = sums_[key];
  sums.bucket.add(bucket);
  for (const auto& [tenths, count] : tokens) sums.tokens[tenths] += count;
}

void BucketUpdate::write(Database& database) {
  Statement read = database.prepare(
      "SELECT samples, sums, tokens FROM bucket WHERE series = ? AND width_ms = ? AND start_ms = ? AND region = ?"
      " AND night = ?");
  Statement replace = database.prepare("INSERT OR REPLACE INTO bucket VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  for (auto& [key, sums] : sums_) {
    const int side = static_cast<int>(key.side);
    if (read.bind(key.series, key.width, key.start, key.region, side).step()) {
      // A sum that an SD card damaged begins anew: the samples, which it is only made from, must go on being stored.
      try {
        Sums stored{Bucket(read, 0), {}};
        addTokenCounts(read, 2, stored.tokens);
        stored.bucket.add(sums.bucket);
        for (const auto& [tenths, count] : sums.tokens) stored.tokens[tenths] += count;
        sums = std::move(stored);
      } catch (const Error&) {
      }
    }
    read.reset();
    std::vector<Occurrence> packed;
    for (const auto& [tenths, count] : sums.tokens) packed.push_back({tenths, static_cast<std::int32_t>(count)});
    const auto tokens = packed.empty() ? std::nullopt : std::optional(Statement::Blob{bytesOf(packed)});
    replace.run(key.series, key.width, key.start, key.region, side, sums.bucket.samples,
                Statement::Blob{sums.bucket.bytes()}, tokens);
  }
  sums_.clear();
}

}  // namespace mpm::monitor
