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

/// Rounds a share to float precision, so that it prints the same before and after it is stored.
double keptShare(double share);

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
RegionSample evaluate(const RegionInput& input);

/// Whether the answer of a head is a look at the picture of its sample.
enum class StateLook {
  kRepeated = 0,  ///< no: that of an earlier one, once more
  kOwn = 1,       ///< yes
  kSparse = 2,    ///< yes, and its looks come a minute or more apart
};

/// The result of one head of states on a frame.
struct StateSample {
  std::string name{};      ///< of the head: "gate"
  std::string state{};     ///< the likeliest
  double probability = 0;  ///< of it, 0..1
  bool sure = false;
  std::string counted{};  ///< the state that counts since enough sure results agreed; empty: none yet
  StateLook look = StateLook::kOwn;
};

/// A frame as it is stored.
struct Sample {
  std::int64_t id = 0;                 ///< given by the store; grows with every sample, also when the clock goes back
  std::int64_t session = 0;            ///< given by the store: SessionRecord::id, whose model it is of
  UnixMs time = 0;                     ///< of the frame
  std::string picture{};               ///< name of an image file; empty: the frame is of a video or camera
  std::int64_t digest = 0;             ///< vision::pictureDigest(), in an archive; 0: not known, equal to any digest
  std::int64_t pixels = 0;             ///< a digest of the pixels of the frame; 0: not known
  std::optional<bool> night{};         ///< nullopt: no rule
  std::vector<double> token_counts{};  ///< N, then N' after each insertion
  std::optional<ViewMotion> measured_offset{};  ///< of the view from its reference; nullopt: not measured, or not sure
  /// By which the regions were moved: `measured_offset`, or the last that was sure. Not stored; StoreReader::samples()
  /// finds it again.
  ViewMotion view_offset{};
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

/// {"right_px", "down_px", "turn_degrees", "zoom"}.
Json toJson(const ViewMotion& motion);

/// {"time", "unix_ms", "picture", "night", "reduce", "token_counts", a key for each quantity, "area_fraction": {class:
/// share}, "motion", "regions": {name: {keys, "area_fraction"}}, "states"}: the one form of a sample as JSON.
/// `classes`: names of the model; `reduce`: its reduction as text.
Json toJson(const Sample& sample, const std::vector<std::string>& classes, const std::string& reduce);

enum class Severity { kInfo, kWarning, kError };
/// "info", "warning", "error".
const char* toString(Severity severity);

enum class EventKind {
  kSession = 0,     ///< a new model or reduction took over
  kSource = 1,      ///< the source came, went, hangs
  kModel = 2,       ///< a model could not be loaded or its result is damaged
  kStorage = 3,     ///< the disk is full, is writable again, retention
  kClock = 4,       ///< the wall clock jumped
  kAlarm = 5,       ///< an alarm went off
  kAlarmEnded = 6,  ///< and is over
  kView = 7,        ///< the camera was bumped
  kReuse = 8,       ///< the reuse of rows agrees less with the full model than wanted, or enough again
  kQuality = 9,     ///< the pictures have become bad, or good again
  kCommand = 10,    ///< the command that is run for each event fails, or is too slow
  kState = 11,      ///< a region shows another state
  kHeartbeat = 12,  ///< once a day: samples come and are stored
  kTell = 13,       ///< a broker or server takes no messages, or takes them again
  kSummary = 14,    ///< once a day: DailySummary
  kDamaged = 15,    ///< a picture cannot be read: at its time, where it has one of its own
};
inline constexpr std::size_t kEventKinds = static_cast<std::size_t>(EventKind::kDamaged) + 1;  ///< how many there are
/// "session", "source", "model", "storage", "clock", "alarm", "alarm ended", "view", "reuse", "quality", "command",
/// "state", "heartbeat", "tell", "summary", "damaged".
const char* toString(EventKind kind);

struct Event {
  UnixMs time = 0;
  EventKind kind = EventKind::kSession;
  Severity severity = Severity::kInfo;
  std::string message;  ///< one line, without credentials
  Json facts{};         ///< more for programs that are told, an object; the database does not keep it
  friend bool operator==(const Event&, const Event&) = default;
};

/// Nobody is told of what happened more than an hour ago: it was in the pictures of an archive, or waited too long.
/// This does not count for the scene, which has a clock of its own.
constexpr bool isPast(UnixMs time, UnixMs now) { return time < now - kHourMs; }

/// {"time", "event", "severity", "message"} and its facts: the one form of an event as JSON.
Json toJson(const Event& event);

}  // namespace mpm::monitor
