// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_file.h"
#include "monitor/quantity.h"
#include "vision/time.h"

namespace mpm::monitor {

/// How what a picture shows has moved since the reference of its source was taken.
struct ViewMotion {
  double right = 0, down = 0;  ///< pixels of the picture, at its centre
  double turn = 0;             ///< degrees, clockwise, about its centre
  double zoom = 1;             ///< above 1: things look larger
};

/// The numbers of one region of a frame, or of the whole picture.
struct RegionSample {
  /// 0: the whole picture. Else the id in the table `region`; until it is stored, the index among the regions that are
  /// watched, plus 1.
  std::int64_t region = 0;
  std::string name{};                           ///< of the region; empty: the whole picture
  std::vector<double> values{};                 ///< by quantities(); NaN, or none there: not known
  std::vector<std::pair<int, double>> areas{};  ///< class, share of the pixels in 0..1; classes that occur, ascending

  std::optional<double> value(std::size_t quantity) const;      ///< an index in quantities()
  std::optional<double> value(std::string_view key) const;      ///< nullopt also where there is no such quantity
  void set(std::string_view key, std::optional<double> value);  ///< of a quantity that there is
};

/// The quantities of a part of a frame.
RegionSample evaluate(const Measurement& measurement);

/// The result of one head of states on a frame.
struct StateSample {
  std::string name{};      ///< of the head: "gate"
  std::string state{};     ///< the likeliest
  double probability = 0;  ///< of it, 0..1
  bool sure = false;
  std::string counted{};  ///< the state that counts since enough sure results agreed; empty: none yet
  bool changed = false;   ///< `counted` is another one than in the sample before; not stored
};

/// A frame as it is stored.
struct Sample {
  std::int64_t id = 0;                 ///< given by the store; grows with every sample, also when the clock goes back
  std::int64_t session = 0;            ///< given by the store: SessionRecord::id, whose model it is of
  UnixMs time = 0;                     ///< of the frame
  std::string picture{};               ///< name of an image file; empty: the frame is of a video or camera
  std::int64_t digest = 0;             ///< vision::pictureDigest() of it, in an archive; 0: not known, the same as any
  std::optional<bool> night{};         ///< nullopt: no rule
  std::vector<double> token_counts{};  ///< N, then N' after each insertion
  std::optional<ViewMotion> motion{};  ///< nullopt: not measured, or not sure
  ViewMotion place{};                  ///< where the regions lay: `motion`, or the last that was sure; not stored
  std::vector<StateSample> states{};
  std::vector<RegionSample> regions = std::vector<RegionSample>(1);  ///< the first is the whole picture

  const RegionSample& whole() const { return regions.front(); }
  RegionSample& whole() { return regions.front(); }
  const RegionSample* region(std::string_view name) const;  ///< empty: the whole picture. Null: it was not measured
  /// Statistics, charts and reports leave a flagged picture out.
  bool flagged() const { return whole().value("flagged").value_or(0) != 0; }
  double brightness() const { return whole().value("brightness").value_or(0); }  ///< which night rules look at
};

/// As files hold it: two digits more than are shown.
double rounded(const Quantity& quantity, double value);

/// {"time", "unix_ms", "picture", "night", "reduce", "token_counts", a key for each quantity, "area_fraction": {class:
/// share}, "motion", "regions": {name: {keys, "area_fraction"}}, "states"}: the one form of a sample as JSON.
/// `classes`: names of the model; `reduce`: its reduction as text.
Json toJson(const Sample& sample, const std::vector<std::string>& classes, const std::string& reduce);

}  // namespace mpm::monitor
