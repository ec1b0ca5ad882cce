// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "support/in_folder.h"
#include "support/matchers.h"

namespace mpm::test {

using Words = std::vector<std::string>;
/// One list of words behind the other.
inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

struct CommandOptions {
  std::string program = "mpm";                       ///< of this build
  std::map<std::string, std::string> environment{};  ///< on top of ours
  std::string folder{};                              ///< to run in; empty: ours
  std::optional<std::size_t> file_size_limit{};      ///< bytes that a file may grow to: a disk that is full
  std::optional<int> signal_after_first_line{};      ///< sent once a line came on stdout
  std::string signal_at_stderr{};                    ///< the signal comes once this is on stderr instead
  bool close_stdout_after_first_line = false;        ///< as `| head -1` does
  /// stdout and stderr are pipes that are full and that nobody reads, as a terminal is after Ctrl-S.
  bool output_is_stuck = false;
  std::function<bool()> signal_when{};  ///< asked ten times a second; the signal comes once it holds instead
  bool stdout_is_full = false;          ///< stdout is /dev/full
  bool stderr_is_terminal = false;
  bool stdin_is_closed = false;
  int timeout_s = 600;  ///< a busy computer is no failure
};

struct CommandResult {
  int exit_code = -1;  ///< -1: killed by a signal, or by us after the time-out
  std::string out{}, err{};

  Words lines() const;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
  std::vector<nlohmann::json> jsonLines() const;
};

/// Runs `mpm ARGUMENTS...` of this build, or another program of it, and waits for it.
CommandResult mpmCommand(const Words& arguments, const CommandOptions& options = {});

/// The same: the command succeeded.
CommandResult succeeded(CommandResult result);
/// The command failed with this exit code and one line on stderr, without escapes, that contains every part.
void expectFailure(const CommandResult& result, int exit_code, const Words& parts);

}  // namespace mpm::test
