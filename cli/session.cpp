// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <chrono>
#include <fstream>
#include <opencv2/core/utility.hpp>

#include "mpm/build_info.hpp"
#include "vision/sources/source_spec.h"
#include "vision/time.h"

namespace mpm::cli {

namespace {

// The command line of this process, as a shell reads it.
std::string commandText() {
  std::ifstream words("/proc/self/cmdline");
  std::string text;
  for (std::string word; std::getline(words, word, '\0');) {
    word = vision::redactCredentials(text.empty() ? "mpm" : word);
    const bool plain =
        word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./") == word.npos;
    std::string quoted;
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    text += (text.empty() ? "" : " ") + (plain && !word.empty() ? word : "'" + quoted + "'");
  }
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
  static const std::string start =
      isoTime(std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
                  .count(),
              true);
  return {{"session", start},
          {"cpu", cpuName()},
          {"instruction_set", buildInfo().instruction_set},
          {"threads", cv::getNumThreads()},
          {"device", device},
          {"version", buildInfo().version},
          {"command", commandText()}};
}

}  // namespace mpm::cli
