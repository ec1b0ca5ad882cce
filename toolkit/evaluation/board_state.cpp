// SPDX-License-Identifier: Apache-2.0
#include "evaluation/board_state.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "base/number_text.h"

namespace mpm::evaluation {
namespace {

/// The numbers in the files FOLDER/NAME*/FILE whose NAME* has no second colon: "intel-rapl:0:0" is part of a package.
std::vector<double> numbersIn(const std::string& folder, const std::string& name, const std::string& file) {
  std::vector<double> numbers;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string found = entry.path().filename().string();
    double number = 0;
    if (found.starts_with(name) && std::ranges::count(found, ':') < 2 && std::ifstream(entry.path() / file) >> number)
      numbers.push_back(number);
  }
  return numbers;
}

std::optional<double> largest(const std::vector<double>& numbers, double unit) {
  if (numbers.empty()) return std::nullopt;
  return *std::ranges::max_element(numbers) * unit;
}

std::optional<double> sum(const std::vector<double>& numbers, double unit) {
  if (numbers.empty()) return std::nullopt;
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) * unit;
}

std::string fromTo(const std::optional<double>& from, const std::optional<double>& to, int digits, const char* unit) {
  return from && to ? ", " + fixed(*from, digits) + " to " + fixed(*to, digits) + unit : "";
}

}  // namespace

BoardState boardState(const std::string& root) {
  BoardState state;
  std::ifstream name(root + "/proc/device-tree/model");
  std::getline(name, state.name, '\0');
  const std::string cpus = root + "/sys/devices/system/cpu";
  state.ghz = largest(numbersIn(cpus, "cpu", "cpufreq/scaling_cur_freq"), 1e-6);
  state.celsius = largest(numbersIn(root + "/sys/class/thermal", "thermal_zone", "temp"), 1e-3);
  state.watts = sum(numbersIn(root + "/sys/class/hwmon", "hwmon", "power1_input"), 1e-6);
  state.joules = sum(numbersIn(root + "/sys/class/powercap", "intel-rapl:", "energy_uj"), 1e-6);
  std::ifstream(root + "/sys/devices/platform/soc/soc:firmware/get_throttled") >> state.throttled;
  return state;
}

std::string boardText(const BoardState& before, const BoardState& after, double seconds) {
  std::string text = after.name + fromTo(before.ghz, after.ghz, 2, " GHz") +
                     fromTo(before.celsius, after.celsius, 0, " degrees C") +
                     fromTo(before.watts, after.watts, 1, " W");
  if (before.joules && after.joules && *after.joules > *before.joules)  // the counter starts again at 0
    text += ", " + fixed((*after.joules - *before.joules) / seconds, 1) + " W on average";
  if (!after.throttled.empty()) text += ", throttled " + after.throttled + " (0: never)";
  return text;
}

}  // namespace mpm::evaluation
