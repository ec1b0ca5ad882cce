// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/fleet.h"

namespace mpm::cli {

std::string statusText(const monitor::CameraStatus& camera);  ///< for a terminal and systemd: a line

/// "12 new samples, 40 in yard.db; mpm report yard.db sums them up".
std::string storedText(std::int64_t added, const std::string& database);

/// The output of `mpm monitor`, on one thread: where a terminal is stopped (Ctrl-S), or a reader is slow, only this
/// thread waits, and storing goes on.
class Lines {
 public:
  void add(bool data, std::string line);  ///< for stdout (data) or stderr; on any thread
  /// What waits, then the status, on a terminal. nullopt: something else draws there, unless lines wait.
  void print(const std::optional<std::string>& status);

  std::string failure;  ///< of the output; empty: none

 private:
  std::mutex mutex_;
  std::vector<std::pair<bool, std::string>> lines_;  // for stdout (data) or stderr
};

}  // namespace mpm::cli
