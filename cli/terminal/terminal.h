// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace mpm::cli {

/// True when stderr is a terminal that understands escapes.
bool stderrIsTerminal();
bool stdoutIsTerminal();

/// "mpm run: error: MESSAGE" on stderr, one line; red on a terminal unless NO_COLOR is set.
void printError(const std::string& command, const std::string& message);
void printNote(const std::string& message);

/// Progress on stderr, redrawn in place; nothing at all when `shown` is false.
class Progress {
 public:
  Progress(bool shown, std::optional<int> total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step();
  /// A line above it.
  void note(const std::string& message);

 private:
  bool shown_;
  std::optional<int> total_;
  int done_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), drawn_{};
};

}  // namespace mpm::cli
