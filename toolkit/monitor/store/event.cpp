// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/event.h"

#include <iterator>

namespace mpm::monitor {

// A number that a newer version wrote into the database is shown as "?".
const char* toString(Severity severity) {
  constexpr const char* kNames[] = {"info", "warning", "error"};
  const auto index = static_cast<unsigned>(severity);
  return index < std::size(kNames) ? kNames[index] : "?";
}

const char* toString(EventKind kind) {
  constexpr const char* kNames[] = {"session", "source",      "model",     "storage", "clock",
                                    "alarm",   "alarm ended", "view",      "reuse",   "quality",
                                    "command", "state",       "heartbeat", "tell",    "summary"};
  const auto index = static_cast<unsigned>(kind);
  return index < std::size(kNames) ? kNames[index] : "?";
}

Json toJson(const Event& event) {
  Json json = {{"time", isoTime(event.time, true)},
               {"event", toString(event.kind)},
               {"severity", toString(event.severity)},
               {"message", event.message}};
  if (event.facts.is_object()) json.update(event.facts);
  return json;
}

}  // namespace mpm::monitor
