// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/bucket.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

// Codes of the stored series: part of the file format.
constexpr int kLastTokens = 0, kMerged = 1, kInferenceMs = 2, kBrightness = 3, kDropped = 4, kRowShare = 5,
              kAgreement = 6, kGcc = 7, kRcc = 8, kExg = 9, kRed = 10, kGreen = 11, kBlue = 12, kSharpness = 13,
              kContrast = 14;
constexpr int kFlagged = 0x80;  // any; 0x81 and so on: by its bits
constexpr int kFirstTokens = 0x100;
constexpr int kFirstArea = 0x1000;

int codeOf(const Quantity& quantity) {
  switch (quantity.kind) {
    case Quantity::Kind::kTokens:
      return quantity.index < 0 ? kLastTokens : kFirstTokens + quantity.index;
    case Quantity::Kind::kMerged:
      return kMerged;
    case Quantity::Kind::kInferenceMs:
      return kInferenceMs;
    case Quantity::Kind::kBrightness:
      return kBrightness;
    case Quantity::Kind::kDropped:
      return kDropped;
    case Quantity::Kind::kRows:
      return kRowShare;
    case Quantity::Kind::kAgreement:
      return kAgreement;
    case Quantity::Kind::kSharpness:
      return kSharpness;
    case Quantity::Kind::kContrast:
      return kContrast;
    case Quantity::Kind::kFlagged:
      return kFlagged + 1 + quantity.index;
    case Quantity::Kind::kClassArea:
      return kFirstArea + quantity.index;
    case Quantity::Kind::kGcc:
      return kGcc;
    case Quantity::Kind::kRcc:
      return kRcc;
    case Quantity::Kind::kExg:
      return kExg;
    case Quantity::Kind::kRed:
      return kRed;
    case Quantity::Kind::kGreen:
      return kGreen;
    case Quantity::Kind::kBlue:
      return kBlue;
  }
  return -1;
}

template <typename Integer>
void putInteger(Bytes& bytes, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

template <typename Integer>
Integer getInteger(std::string_view& bytes) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i)
    value = static_cast<Integer>(value | static_cast<Integer>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  bytes.remove_prefix(sizeof value);
  return value;
}

template <typename To, typename From>
To bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

constexpr std::size_t kTotalsBytes = 2 + 4 + 8 + 4 + 4;

std::uint32_t clamp32(std::int64_t count) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

void addTo(Spread& all, const Spread& part) {
  if (part.samples == 0) return;
  if (all.samples == 0) all = {0, 0, part.min, part.max};
  const auto samples = static_cast<double>(all.samples), more = static_cast<double>(part.samples);
  all = {all.samples + part.samples, (all.mean * samples + part.mean * more) / (samples + more),
         std::min(all.min, part.min), std::max(all.max, part.max)};
}

void Bucket::addTotals(const Totals& totals) {
  const auto at = std::lower_bound(series_.begin(), series_.end(), totals.code,
                                   [](const Totals& t, std::uint16_t code) { return t.code < code; });
  if (at == series_.end() || at->code != totals.code) {
    series_.insert(at, totals);
    return;
  }
  at->count += totals.count;
  at->sum += totals.sum;
  at->min = std::min(at->min, totals.min);
  at->max = std::max(at->max, totals.max);
}

void Bucket::addValue(int code, double value) {
  if (code > std::numeric_limits<std::uint16_t>::max() || !std::isfinite(value)) return;
  addTotals({static_cast<std::uint16_t>(code), 1, value, static_cast<float>(value), static_cast<float>(value)});
}

void Bucket::add(const Sample& sample) {
  ++samples;
  if (sample.night) ++(*sample.night ? night : day);
  addValue(kInferenceMs, sample.inference_ms);
  addValue(kBrightness, sample.brightness);
  addValue(kDropped, static_cast<double>(sample.dropped));
  if (sample.rows) addValue(kRowShare, *sample.rows);
  if (sample.agreement) addValue(kAgreement, *sample.agreement);
  if (const auto& quality = sample.quality) {
    addValue(kSharpness, quality->sharpness);
    addValue(kContrast, quality->contrast);
    addValue(kFlagged, quality->flags != 0);
    for (int bit = 0; bit < static_cast<int>(kQualityFlags.size()); ++bit)
      if (quality->flags >> bit & 1) addValue(kFlagged + 1 + bit, 1);
  }
  if (sample.flagged()) return;
  if (!sample.tokens.empty()) {
    addValue(kLastTokens, sample.tokens.back());
    if (sample.tokens.front() > 0) addValue(kMerged, 1 - sample.tokens.back() / sample.tokens.front());
    for (std::size_t k = 0; k < sample.tokens.size(); ++k)
      addValue(kFirstTokens + static_cast<int>(k), sample.tokens[k]);
  }
  for (const auto& [label, area] : sample.areas) addValue(kFirstArea + label, area);
}

void Bucket::add(const RegionSample& region, std::optional<bool> is_night) {
  ++samples;
  if (is_night) ++(*is_night ? night : day);
  if (region.tokens) addValue(kLastTokens, *region.tokens);
  addValue(kBrightness, region.brightness());
  addValue(kGcc, region.gcc());
  addValue(kRcc, region.rcc());
  addValue(kExg, region.exg());
  addValue(kRed, region.red);
  addValue(kGreen, region.green);
  addValue(kBlue, region.blue);
  for (const auto& [label, area] : region.areas) addValue(kFirstArea + label, area);
}

void Bucket::add(const Bucket& other) {
  samples += other.samples;
  day += other.day;
  night += other.night;
  for (const Totals& totals : other.series_) addTotals(totals);
}

const Bucket::Totals* Bucket::find(int code) const {
  const auto at = std::lower_bound(series_.begin(), series_.end(), code,
                                   [](const Totals& t, int wanted) { return t.code < wanted; });
  return at == series_.end() || at->code != code ? nullptr : &*at;
}

Spread Bucket::spread(const Quantity& quantity) const {
  const Totals* totals = find(codeOf(quantity));
  // A sample names only the classes that occur: in the others the area is 0.
  if (quantity.kind == Quantity::Kind::kClassArea) {
    const Totals* flagged = find(kFlagged);
    const std::int64_t counted = samples - (flagged ? std::llround(flagged->sum) : 0);
    if (!totals) return {counted, 0, 0, 0};
    const bool always = totals->count == counted;
    return {counted, totals->sum / static_cast<double>(counted), always ? totals->min : 0.0, totals->max};
  }
  if (!totals) return {};
  return {totals->count, totals->sum / static_cast<double>(totals->count), totals->min, totals->max};
}

Bytes Bucket::pack() const {
  Bytes bytes;
  bytes.reserve(series_.size() * kTotalsBytes);
  for (const Totals& totals : series_) {
    putInteger(bytes, totals.code);
    putInteger(bytes, clamp32(totals.count));
    putInteger(bytes, bits<std::uint64_t>(totals.sum));
    putInteger(bytes, bits<std::uint32_t>(totals.min));
    putInteger(bytes, bits<std::uint32_t>(totals.max));
  }
  return bytes;
}

void Bucket::unpack(std::string_view bytes) {
  if (bytes.size() % kTotalsBytes != 0) throw Error("the database holds a damaged aggregate");
  series_.clear();
  while (!bytes.empty()) {
    Totals totals;
    totals.code = getInteger<std::uint16_t>(bytes);
    totals.count = getInteger<std::uint32_t>(bytes);
    totals.sum = bits<double>(getInteger<std::uint64_t>(bytes));
    totals.min = bits<float>(getInteger<std::uint32_t>(bytes));
    totals.max = bits<float>(getInteger<std::uint32_t>(bytes));
    if (totals.count > 0) series_.push_back(totals);
  }
}

std::optional<std::int32_t> tenthsOfTokens(const Sample& sample) {
  if (sample.flagged() || sample.tokens.empty() || !std::isfinite(sample.tokens.back())) return std::nullopt;
  return static_cast<std::int32_t>(std::lround(sample.tokens.back() * 10));
}

Bytes packOccurrences(const std::map<std::int32_t, std::int64_t>& occurrences) {
  Bytes bytes;
  for (const auto& [tenths, count] : occurrences) {
    putInteger(bytes, static_cast<std::uint32_t>(tenths));
    putInteger(bytes, clamp32(count));
  }
  return bytes;
}

void addOccurrences(std::string_view bytes, std::map<std::int32_t, std::int64_t>& occurrences) {
  if (bytes.size() % 8 != 0) throw Error("the database holds a damaged histogram");
  while (!bytes.empty()) {
    const auto tenths = static_cast<std::int32_t>(getInteger<std::uint32_t>(bytes));
    occurrences[tenths] += getInteger<std::uint32_t>(bytes);
  }
}

void AggregateUpdate::add(std::int64_t source, std::int64_t session, const Sample& sample) {
  for (std::int64_t width : kBucketWidths) addTo(width, source, session, sample);
  const int night = sample.night ? static_cast<int>(*sample.night) : kNightUnknown;
  if (const auto tenths = tenthsOfTokens(sample))
    ++hours_[{session, bucketStart(sample.time, kHourMs), night}][*tenths];
}

void AggregateUpdate::addTo(std::int64_t width, std::int64_t source, std::int64_t session, const Sample& sample) {
  const UnixMs start = bucketStart(sample.time, width);
  buckets_[{source, width, start, session, 0}].add(sample);
  if (sample.flagged()) return;
  for (const RegionSample& region : sample.regions)
    buckets_[{source, width, start, session, region.region}].add(region, sample.night);
}

void AggregateUpdate::write(Database& database) {
  Statement read = database.prepare(
      "SELECT samples, day, night, series FROM bucket WHERE source = ? AND width_ms = ? AND start_ms = ? AND session = "
      "?"
      " AND region = ?");
  Statement replace = database.prepare("INSERT OR REPLACE INTO bucket VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (auto& [key, bucket] : buckets_) {
    const auto& [source, width, start, session, region] = key;
    if (read.bind(source, width, start, session, region).step()) {
      // A sum that an SD card damaged begins anew: the samples, which it is only made from, must go on being stored.
      try {
        Bucket stored;
        stored.samples = read.integer(0);
        stored.day = read.integer(1);
        stored.night = read.integer(2);
        stored.unpack(read.blob(3));
        bucket.add(stored);
      } catch (const Error&) {
      }
    }
    read.reset();
    replace.run(source, width, start, session, region, bucket.samples, bucket.day, bucket.night,
                Statement::Blob{bucket.pack()});
  }
  Statement read_hour =
      database.prepare("SELECT occurrences FROM hour_of_tokens WHERE session = ? AND start_ms = ? AND night = ?");
  Statement replace_hour = database.prepare("INSERT OR REPLACE INTO hour_of_tokens VALUES (?, ?, ?, ?)");
  for (auto& [key, occurrences] : hours_) {
    const auto& [session, start, night] = key;
    if (read_hour.bind(session, start, night).step()) {
      try {
        auto sum = occurrences;
        addOccurrences(read_hour.blob(0), sum);
        occurrences = std::move(sum);
      } catch (const Error&) {
      }
    }
    read_hour.reset();
    replace_hour.run(session, start, night, Statement::Blob{packOccurrences(occurrences)});
  }
  buckets_.clear();
  hours_.clear();
}

}  // namespace mpm::monitor
