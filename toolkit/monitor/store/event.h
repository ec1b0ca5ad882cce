// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json_file.h"
#include "vision/time.h"

namespace mpm::monitor {

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
};
/// "session", "source", "model", "storage", "clock", "alarm", "alarm ended", "view", "reuse", "quality", "command",
/// "state", "heartbeat", "tell", "summary".
const char* toString(EventKind kind);

struct Event {
  UnixMs time = 0;
  EventKind kind = EventKind::kSession;
  Severity severity = Severity::kInfo;
  std::string message;  ///< one line, without credentials
  Json facts{};         ///< more for programs that are told, an object; the database does not keep it
  friend bool operator==(const Event&, const Event&) = default;
};

/// {"time", "event", "severity", "message"} and its facts: the one form of an event as JSON.
Json toJson(const Event& event);

}  // namespace mpm::monitor
