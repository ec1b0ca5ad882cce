// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "monitor/store/sample.h"
#include "monitor/store/sqlite.h"
#include "monitor/store/store.h"

namespace mpm::monitor {

/// Widths of the stored aggregates.
inline constexpr std::array<std::int64_t, 3> kBucketWidths = {kMinuteMs, kHourMs, kDayMs};

/// Start of the bucket of such a width that `time` lies in; also right before 1970.
inline UnixMs bucketStart(UnixMs time, std::int64_t width) {
  const std::int64_t rest = time % width;
  return time - rest - (rest < 0 ? width : 0);
}

/// Sums over the samples of some stretch of time, from which means, minima and maxima come. Buckets add up.
class Bucket {
 public:
  Bucket() = default;
  /// As stored: `column` and the three after it are samples, day, night and series. Throws SqliteError for what no
  /// program of ours wrote.
  Bucket(const Statement& row, int column);

  /// A region of the sample; of a flagged one only what Quantity::ofFlagged() says.
  void add(const Sample& sample, const RegionSample& region);
  void add(const Bucket& other);
  Spread spread(const std::string& quantity) const;  ///< by its key
  Spread area(int label) const;                      ///< of a class, percent

  std::int64_t samples = 0, day = 0, night = 0;

  /// The series as stored; valid until the bucket changes.
  std::string_view bytes() const;

 private:
  // Part of the file format, as little-endian CPUs hold it.
  struct Totals {
    double sum = 0;
    float min = 0, max = 0;
    std::uint32_t count = 0, code = 0;
  };
  void addValue(std::uint32_t code, double value);
  void addTotals(const Totals& totals);
  const Totals* find(std::uint32_t code) const;

  std::vector<Totals> series_;  // ascending by code
};

/// The sums that a batch of samples adds to the stored aggregates. Collected in memory, written in the transaction that
/// writes the samples, so the two never disagree.
class AggregateUpdate {
 public:
  /// With the ids of its regions.
  void add(std::int64_t source, std::int64_t session, const Sample& sample);
  /// Adds what was collected to what is stored; once.
  void write(Database& database);

 private:
  std::map<std::tuple<std::int64_t, std::int64_t, UnixMs, std::int64_t, std::int64_t>, Bucket>
      buckets_;  // source, width, start, session, region
  std::map<std::tuple<std::int64_t, UnixMs, int>, std::map<std::int32_t, std::int64_t>>
      hours_;  // session, start, night -> tenths of a token -> occurrences
};

/// In the column `night` of an hour, of samples that were stored without a rule.
inline constexpr int kNightUnknown = 2;
/// Tenths of the tokens after the last insertion; nullopt: the sample has none, or its picture is flagged.
std::optional<std::int32_t> tenthsOfTokens(const Sample& sample);

/// Adds what this column of hour_of_tokens holds: pairs of a number of tenths and its occurrences, 32 bits each. Throws
/// SqliteError for what no program of ours wrote.
void addOccurrences(const Statement& row, int column, std::map<std::int32_t, std::int64_t>& occurrences);

}  // namespace mpm::monitor
