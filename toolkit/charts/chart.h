// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vision/time.h"

namespace mpm::charts {

/// A quantity that a chart shows.
struct SeriesKey {
  /// Their numbers are part of the monitor's file format.
  enum class Kind {
    kTokens,       ///< after insertion `index` (0: before the first); index -1: after the last
    kMerged,       ///< share of the tokens merged away, 0..1
    kInferenceMs,  ///< ms
    kBrightness,   ///< mean grey value, 0..255
    kDropped,      ///< frames dropped per sample
    kRows,         ///< share of the rows that were computed, 0..1, with the reuse of rows
    kAgreement,    ///< percent, at the key frames that compared reuse with the full result
    kSharpness,    ///< of the picture, squared grey levels
    kContrast,     ///< of the picture, grey levels
    kFlagged,      ///< 0 or 1; index -1: the picture is flagged, k: by bit k of PictureQuality::flags
    kClassArea,    ///< share of the pixels of the class `name`, 0..1; models differ in its number
    kGcc,          ///< G / (R + G + B) of the mean digital numbers of a region
    kRcc,          ///< R / (R + G + B) of them
    kExg,          ///< 2 G - R - B of them
    kRed,          ///< mean digital number, 0..255
    kGreen,
    kBlue,
  } kind = Kind::kTokens;
  int index = -1;
  std::string name{};
  /// Name of a region that it is of: kTokens (after the last insertion), kBrightness, kClassArea and those from kGcc
  /// on, which need one. Empty: the whole picture.
  std::string region{};

  friend bool operator==(const SeriesKey&, const SeriesKey&) = default;
};

struct Spread {
  std::int64_t samples = 0;  ///< 0: the quantity did not exist then
  double mean = 0, min = 0, max = 0;
};

struct ChartBucket {
  UnixMs start = 0;
  std::int64_t samples = 0;
  double night = 0;            ///< share of the samples taken by night, of those that know; 0 when none does
  bool gap_before = false;     ///< nothing was recorded between this bucket and the one before: do not join them
  std::vector<Spread> values;  ///< one per quantity asked for. Areas count 0 in samples without the class
                               ///< if their model knows it
};

struct Chart {
  UnixMs bucket_ms = 0;              ///< width of each bucket
  std::vector<ChartBucket> buckets;  ///< ascending; empty ones are left out
};

}  // namespace mpm::charts
