// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "monitor/store/sample.h"

namespace mpm::monitor {

/// Splits a command line into a program and its arguments. Blanks separate them, except within '...' and "..."; a
/// backslash takes the next character as it is, except within '...'. Nothing else is special: variables, patterns and
/// pipes need "sh -c '...'". Throws mpm::Error for an empty line and a quote that is not closed.
std::vector<std::string> splitCommand(const std::string& line);

/// splitCommand(), and throws mpm::Error where there is no such program.
std::vector<std::string> parseCommand(const std::string& line);

struct EventCommandLimits {
  double run_s = 60;             ///< a command that runs longer is killed, with all that it started
  std::size_t max_waiting = 50;  ///< events that wait for the command; more are dropped
};

/// Runs a command for each event, one at a time, on its own thread: add() never waits. The command gets the facts as
/// MPM_EVENT_KIND, _SEVERITY, _MESSAGE, _TIME and _SOURCE in its environment, and as one line of JSON on its standard
/// input. Its output goes to standard error. It inherits no other file and is its own process group. Thread-safe.
class EventCommand {
 public:
  /// `arguments`: the program first, looked for in PATH. `report`: gets an event of the kind kCommand for a command
  /// that cannot run, fails, takes too long, and for events that were dropped; called on the thread of the commands.
  EventCommand(std::vector<std::string> arguments, std::function<void(const Event&)> report,
               EventCommandLimits limits = {});
  ~EventCommand();  ///< finish(0)

  /// `source`: where it happened, without credentials; empty: nowhere. Ignores the kind kCommand.
  void add(const Event& event, const std::string& source);

  /// Waits at most this many seconds until the command ran for each event, then kills it. From now on add() does
  /// nothing.
  void finish(double patience_s);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm::monitor
