// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mpm::monitor {

/// Bits of PictureQuality::flags.
enum QualityFlag {
  kDark = 1,         ///< nothing in it shines
  kOverexposed = 2,  ///< most of it is white
  kBlurred = 4,      ///< it has no fine detail
  kFogged = 8,       ///< the lens is covered, or the fog dense: it hardly has any contrast
};
inline constexpr std::array kQualityFlags = {"dark", "overexposed", "blurred", "fogged"};  ///< quantities, by bit

/// How well a picture shows the scene, measured on a grey picture 320 px wide.
struct PictureQuality {
  double sharpness = 0;  ///< variance of the Laplacian less that of the noise, squared grey levels
  /// Standard deviation within squares of a twentieth of the width, which a tenth of them exceed, grey levels.
  double contrast = 0;
  double saturated = 0;  ///< share of the pixels with a channel of 250 or more, 0..1
  int flags = 0;         ///< what is wrong with it; 0: nothing
};

/// Facts of a frame beside its pixels.
struct FrameFacts {
  std::vector<double> token_counts{};  ///< N, then N' after each insertion
  double inference_ms = 0;
  std::int64_t dropped = 0;           ///< frames dropped since the sample before
  std::optional<double> rows{};       ///< share of the rows that were computed, 0..1; nullopt without the reuse of rows
  std::optional<double> agreement{};  ///< percent, the lowest of the key frames since the sample before
  std::optional<PictureQuality> quality{};
  std::optional<bool> unchanged{};  ///< each pixel is as in the sample before; nullopt: that one is not known
};

/// The input of the quantities: the whole picture, or one region of it.
struct RegionInput {
  std::int64_t pixels = 0;                    ///< that count
  std::array<double, 3> mean{}, deviation{};  ///< red, green and blue of these pixels, 0..255
  std::optional<double> tokens{};             ///< kept in it: each patch counts one over the size of its cluster
  const FrameFacts* frame = nullptr;          ///< null: this is a region
};

/// One number that is measured: its key, its words and how it is computed. docs/regions.md documents each.
struct Quantity {
  const char* key;    ///< in databases, files, alarms: lower case letters, digits, '_'
  const char* label;  ///< for people, in English
  const char* unit;   ///< "", "%", "ms"
  int digits;         ///< after the decimal point, where it is shown
  std::optional<double> (*measure)(const RegionInput&);  ///< nullopt: not known here
  bool of_regions = true;   ///< measured of each region, too; false: of the whole picture only
  bool of_flagged = false;  ///< sums have flagged pictures, too

  /// True for one of kQualityFlags: 0 or 1.
  bool isFlag() const {
    return std::ranges::any_of(kQualityFlags, [&](std::string_view flag) { return flag == key; });
  }
  /// A number of the frame and its measurement, not of what the picture shows.
  bool ofFrame() const { return !of_regions && of_flagged; }
  /// After the decimal point of a mean: that of flags and small counts says nothing without one.
  int meanDigits() const { return ofFrame() && digits == 0 ? 2 : digits; }
};

/// The table, in the order of columns and menus. It may grow while no database is open.
std::vector<Quantity>& quantities();
/// "dark", "covered or fogged".
std::string toText(QualityFlag flag);
/// Null: there is none with this key.
const Quantity* findQuantity(std::string_view key);

}  // namespace mpm::monitor
