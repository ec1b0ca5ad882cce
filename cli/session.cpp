// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <cstdlib>
#include <fstream>
#include <opencv2/core/utility.hpp>

#include "mpm/build_info.hpp"
#include "program/paths.h"
#include "vision/sources/source_spec.h"
#include "vision/time.h"

namespace mpm::cli {

namespace {

// The command line of this process, as a shell reads it, with what decides the numbers in its environment.
std::string commandText() {
  std::string text, word;
  for (const std::string name : {"MPM_MODEL", "MPM_INSTRUCTION_SET"})
    if (const char* value = std::getenv(name.c_str()); value && *value)
      text += name + "=" + program::shellWord(value) + " ";
  std::ifstream words("/proc/self/cmdline");
  std::getline(words, word, '\0');
  for (text += "mpm"; std::getline(words, word, '\0');)
    text += " " + program::shellWord(vision::redactCredentials(word));
  return text;
}

}  // namespace

Json cpuName() {
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);)
    if (const auto colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return nullptr;
}

Json sessionJson(const std::string& device) {
  static const std::string start = isoTime(unixNow(), true);
  return {{"session", start},
          {"cpu", cpuName()},
          {"instruction_set", buildInfo().instruction_set},
          {"threads", cv::getNumThreads()},
          {"device", device},
          {"version", buildInfo().version},
          {"command", commandText()}};
}

}  // namespace mpm::cli
