// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mpm::cli {

/// Writes lines to stdout and stderr from its own thread: a caller never waits for a terminal
/// that is stopped (Ctrl-S) or a pipe whose reader sleeps. What comes while 10000 lines wait is left out. Meanwhile
/// nothing else must write to either. Thread-safe.
class Console {
 public:
  Console();
  ~Console();  ///< drain() in a hurry, unless that was in vain before
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void data(std::string line);  ///< on stdout
  void note(std::string line);  ///< on stderr
  /// The last line of stderr, redrawn in place, where that is a terminal; empty: none.
  void status(std::string line);

  /// Why stdout cannot be written to, once it cannot: nothing is written to it from then on.
  std::optional<std::string> failure() const;
  bool readerIsGone() const;     ///< the failure is a pipe that was closed
  std::int64_t leftOut() const;  ///< lines of data, because others waited for too long

  /// Waits until all is written; from the moment that `hurry` is set, until nothing goes out for two seconds. False:
  /// something is left, and a direct write to stdout or stderr may then block for ever.
  bool drain(const std::atomic<bool>& hurry);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // the thread has a share, for a write that never returns is left behind
};

}  // namespace mpm::cli
