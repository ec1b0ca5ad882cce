// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "monitor/statistics/day_night.h"
#include "monitor/store/store_writer.h"

// What a StoreWriter is asked to write, in the order of its queue.
namespace mpm::monitor {

struct BeginSession {
  SessionInfo info;
  UnixMs time = 0;
  bool archive = false, again = false;
};
struct SetSource {
  std::string name;  // empty: none
  UnixMs time = 0;
};
struct SetRegions {
  std::string source;
  std::vector<vision::Region> regions;
};
struct SetPrivacy {
  std::string source, json;
};
struct Judge {
  std::string source;
  NightRule rule;
  std::function<bool(double share)> progress;
};
struct Settle {
  std::string source;
  int state_after = 1;
};
struct ForgetSent {
  std::string channel;
  std::int64_t number;
};
struct Announce {
  std::string topic, payload;
};
struct SetAlarms {
  std::vector<AlarmState> states;
};
using Operation = std::variant<Sample, Event, ViewReference, BeginSession, SetSource, SetRegions, SetPrivacy, Settle,
                               Message, ForgetSent, Announce, SetAlarms>;

// Where samples and events go: known once the session's row is written.
struct WriteTarget {
  std::int64_t source = 0, session = 0, series = 0;  // 0: none
  std::string name;                                  // of the source
  SessionInfo info;                                  // of the session
  UnixMs started = 0;                                // the session
  bool archive = false;                              // its times are those of its samples
  UnixMs last = 0;                                   // of an archive: of its samples
  std::optional<UnixMs> newest;                      // of an archive: the newest sample of the series
  bool marks_again = false;                          // an archive with other series: its next sample marks it
  // The series and the name of each head of states of which a sample has a state or, as of then, none: those of the
  // series, of a camera also those of its other ones.
  std::set<std::pair<std::int64_t, std::string>> heads{};
  bool had_one = false;               // this writer had a source
  std::int64_t events_before = 0;     // the last event before the source was set
  std::int64_t unnamed = 0;           // the first event that came before its source had a row; 0: none
  std::optional<UnixMs> last_before;  // when samples of the first one came last, before this writer
  UnixMs longest_pause = kDayMs;      // longestPause()
  std::string regions_of;             // a source; its regions by index
  std::vector<std::int64_t> regions{};
};

}  // namespace mpm::monitor
