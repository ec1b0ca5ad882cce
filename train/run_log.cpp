// SPDX-License-Identifier: Apache-2.0
#include "run_log.h"

#include <filesystem>
#include <sstream>

#include "base/atomic_file.h"
#include "base/json_file.h"
#include "mpm/error.hpp"

namespace mpm::train {

RunLog::RunLog(const std::string& path, int steps) : path_(path) {
  std::string kept;
  if (steps > 0 && std::filesystem::exists(path)) {
    std::istringstream old(readFile(path));
    for (std::string line; std::getline(old, line);) {
      try {
        if (JsonValue(line, path).at("step").count() <= steps) kept += line + '\n';
      } catch (const Error&) {  // the last line of a killed run may be cut
      }
    }
  }
  writeFileAtomically(path, kept, true);
  file_.open(path, std::ios::app);
  if (!file_) throw Error("cannot write '" + path + "'");
}

void RunLog::add(const nlohmann::ordered_json& line) { file_ << line.dump() << '\n'; }

void RunLog::flush() {
  file_.flush();
  if (!file_) throw Error("cannot write '" + path_ + "': is the disk full?");
}

}  // namespace mpm::train
