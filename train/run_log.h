// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace mpm::train {

/// log.jsonl: the loss of every step and every evaluation, a JSON object per line, "step" first. It holds no times, so
/// a run that was killed and resumed leaves the same bytes as one that was not.
class RunLog {
 public:
  /// Keeps the lines of the first `steps` steps of an older log and appends from there. Throws mpm::Error.
  RunLog(const std::string& path, int steps);

  void add(const nlohmann::ordered_json& line);
  void flush();

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace mpm::train
