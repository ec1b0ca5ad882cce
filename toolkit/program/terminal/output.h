// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "mpm/options.hpp"

namespace mpm::program {

/// One line on stdout as it is, flushed. Throws BrokenPipe when its reader is gone, mpm::Error when it cannot be
/// written.
void printData(const std::string& line);
/// Prints a line for a person, passed through visibleText().
void printLine(const std::string& text);
inline void printLine(const char* text) { printLine(std::string(text)); }
inline void printLine(const Json& json) { printData(toLine(json)); }

/// {"height", "width"}.
Json sizeJson(Size2 size);

/// "660 -> 491 -> 377 (-43 %)"; "660" without merging.
std::string tokensText(const std::vector<double>& tokens);

/// A line of a table: each text, by visibleText(), in a cell of that many columns, aligned right; left for a negative
/// number.
std::string tableRow(const std::vector<std::string>& cells, const std::vector<int>& widths);

/// The environment has a value for it.
bool isSet(const char* variable);

/// True when stderr is a terminal that understands escapes.
bool stderrIsTerminal();
bool stdoutIsTerminal();

/// "mpm run: error: MESSAGE" on stderr, one line; red on a terminal unless NO_COLOR is set.
void printError(const std::string& command, const std::string& message);
void printNote(const std::string& message);

/// A text on stderr as it is, such as a line that is redrawn in place.
void drawText(const std::string& text);

/// Progress on stderr, redrawn in place; nothing at all when `shown` is false.
class Progress {
 public:
  /// `step`: what one is called, "frame".
  Progress(bool shown, std::optional<int> total, const std::string& step = "");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `detail`: what stands at the end of the line.
  void step(const std::string& detail = "");
  /// "frame 12 of 400  4.1/s  2 min left".
  std::string text() const;
  /// Makes room for a line on the same terminal.
  void clear() const;
  /// Another estimate of all steps.
  void setTotal(int total) { total_ = total; }
  /// A line above it.
  void note(const std::string& message) const;

 private:
  bool shown_;
  std::optional<int> total_;
  std::string name_;
  int done_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  mutable std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace mpm::program
