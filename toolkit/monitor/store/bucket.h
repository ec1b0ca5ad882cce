// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "charts/chart.h"
#include "monitor/store/sample.h"

namespace mpm::monitor {

using charts::Spread;

class Database;
class Statement;

/// Widths of the stored aggregates.
inline constexpr std::array<std::int64_t, 3> kBucketWidths = {kMinuteMs, kHourMs, kDayMs};

/// Start of the bucket of such a width that `time` lies in; also right before 1970.
inline UnixMs bucketStart(UnixMs time, std::int64_t width) {
  const std::int64_t rest = time % width;
  return time - rest - (rest < 0 ? width : 0);
}

/// Whether a region of this sample is in sums. Not if the sample is flagged, because its picture does not show the
/// region; the whole picture is all the same, so that flagged pictures are counted.
inline bool countsIn(const Sample& sample, const RegionSample& region) {
  return region.region == 0 || !sample.flagged();
}

/// Sums over samples, from which means, minima and maxima come. Buckets add up.
class Bucket {
 public:
  Bucket() = default;
  /// As stored: `column` and the one after it are samples and sums. Throws SqliteError for what no program of ours
  /// wrote.
  Bucket(const Statement& row, int column);

  /// A region of the sample; of a flagged one only what Quantity::of_flagged says.
  void add(const Sample& sample, const RegionSample& region);
  void add(Bucket other);
  Spread spread(const std::string& quantity) const;  ///< by its key
  Spread area(int label) const;                      ///< of a class, percent

  std::int64_t samples = 0;

  /// The sums as stored; valid until the bucket changes.
  std::string_view bytes() const;

 private:
  // Part of the file format, as little-endian CPUs hold it.
  struct Totals {
    double sum = 0;
    float min = 0, max = 0;
    std::uint32_t count = 0, code = 0;
  };
  void addValue(std::uint32_t code, double value);
  // `from`: a place before which all codes are lower. Returns the place behind that of these.
  std::vector<Totals>::iterator addTotals(const Totals& totals, std::vector<Totals>::iterator from);
  const Totals* find(std::uint32_t code) const;

  std::vector<Totals> series_;  // ascending by code
};

/// The column `night` of a bucket: as its samples have it.
enum class Side { kDay = 0, kNight = 1, kUnknown = 2 };
inline Side sideOf(const std::optional<bool>& night) {
  return !night ? Side::kUnknown : *night ? Side::kNight : Side::kDay;
}

/// This column `night` of a bucket. Throws SqliteError for what no program of ours wrote.
Side sideIn(const Statement& row, int column);

/// How often each number of tokens after the last insertion came, in tenths of a token.
using TokenCounts = std::map<std::int32_t, std::int64_t>;
/// nullopt: the sample has none, or its picture is flagged.
std::optional<std::int32_t> tenthsOfTokens(const Sample& sample);
/// Adds what this column `tokens` of a bucket holds: pairs of a number of tenths and its occurrences, 32 bits each.
/// Throws SqliteError for what no program of ours wrote.
void addTokenCounts(const Statement& row, int column, TokenCounts& counts);

/// What a stored sum is of.
struct BucketKey {
  std::int64_t series = 0, width = 0;
  UnixMs start = 0;
  std::int64_t region = 0;
  Side side = Side::kUnknown;
  friend auto operator<=>(const BucketKey&, const BucketKey&) = default;
};

/// The sums that a batch of samples adds to the stored ones. Collected in memory, written in the transaction that
/// writes the samples, so the two never disagree.
class BucketUpdate {
 public:
  /// Adds a stored sample, whose regions have ids. `takes`: returns false for sums that stay as they are.
  void add(std::int64_t series, const Sample& sample,
           const std::function<bool(std::int64_t width, UnixMs start)>& takes = {});
  void add(const BucketKey& key, const Bucket& bucket, const TokenCounts& tokens);
  /// Adds what was collected to what is stored, and forgets it.
  void write(Database& database);
  std::size_t size() const { return sums_.size(); }

 private:
  struct Sums {
    Bucket bucket;
    TokenCounts tokens;
  };
  std::map<BucketKey, Sums> sums_;
};

/// Adds the samples of `part`.
void addTo(Spread& all, const Spread& part);

}  // namespace mpm::monitor
