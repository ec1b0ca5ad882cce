// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <cstdlib>
#include <fstream>
#include <opencv2/core/utility.hpp>

#include "mpm/build_info.hpp"
#include "vision/sources/source_spec.h"
#include "vision/time.h"

namespace mpm::cli {

namespace {

std::string quoted(const std::string& word) {
  const char* const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./";
  std::string text;
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return word.empty() || word.find_first_not_of(plain) != word.npos ? "'" + text + "'" : word;
}

// The command line of this process, as a shell reads it, with what decides the numbers in its environment.
std::string commandText() {
  std::string text, word;
  for (const std::string name : {"MPM_MODEL", "MPM_INSTRUCTION_SET"})
    if (const char* value = std::getenv(name.c_str()); value && *value) text += name + "=" + quoted(value) + " ";
  std::ifstream words("/proc/self/cmdline");
  std::getline(words, word, '\0');
  for (text += "mpm"; std::getline(words, word, '\0');) text += " " + quoted(vision::redactCredentials(word));
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
