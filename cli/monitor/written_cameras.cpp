// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor/written_cameras.h"

#include <cctype>
#include <cstdlib>
#include <map>
#include <utility>

#include "evaluation/numbers.h"
#include "program/terminal/program.h"

namespace mpm::cli {

using namespace monitor;
using namespace program;

namespace {

// The variable of the environment that has the source of a camera with a password: MPM_SOURCE_YARD_1 of "yard-1".
std::string variableOf(const std::string& name) {
  std::string variable = "MPM_SOURCE_" + name;
  for (char& c : variable) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

// Takes the sources of named cameras from the environment. Throws UsageError for a variable that is that of two
// cameras: one of them would be watched under the name, and with the hidden parts, of the other.
void takeSources(std::vector<WrittenCamera>& cameras) {
  std::map<std::string, std::string> names;  // by variable
  for (WrittenCamera& one : cameras) {
    const std::string& name = one.config.name;
    const std::string variable = name.empty() ? "" : variableOf(name);
    const char* const source = name.empty() ? nullptr : std::getenv(variable.c_str());
    if (!source || !*source) continue;
    if (const auto [before, first] = names.emplace(variable, name); !first) {
      throw UsageError(variable + " of the environment is the source of both cameras '" + before->second + "' and '" +
                       name + "': give one of them another 'name'");
    }
    one.config.source = source;
    one.places.erase("source");
  }
}

}  // namespace

WatchFile watchFile(const MonitorArguments& arguments) {
  WatchFile file{.cameras = std::vector<WrittenCamera>(1)};
  if (!arguments.file.empty()) file = orUsageError([&] { return readWatchFile(arguments.file); });
  auto& cameras = file.cameras;
  const CameraConfig& given = arguments.config;
  const bool several = cameras.size() > 1;
  if (several && !(given.source + given.name + given.db).empty()) {
    throw UsageError("'" + arguments.file + "' has " + counted(static_cast<std::int64_t>(cameras.size()), "camera") +
                     ": SOURCE, MPM_SOURCE, --name and --db are for one");
  }
  if (several && (arguments.recompute || !arguments.shard.isWhole()))
    throw UsageError("--recompute and --shard are for one camera");
  if (given.source.empty()) takeSources(cameras);
  for (WrittenCamera& written : cameras) {
    std::erase_if(written.places, [&](const auto& place) {
      return std::visit([&](auto member) { return given.*member != CameraConfig().*member; },
                        cameraField(place.first).member);
    });
    take(written.config, given);
  }
  return file;
}

}  // namespace mpm::cli
