// SPDX-License-Identifier: Apache-2.0
#include "evaluation/machine.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <opencv2/core/utility.hpp>
#include <random>
#include <vector>

#include "base/number_text.h"
#include "kernels/linear.h"

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

// FLOP/s of rows x dim times dim x dim tiles, every thread on its own tiles, with the same weights.
double flopPerSecond(const PackedLinear& linear, int dim, double seconds) {
  constexpr int kRows = PackedLinear::kMaxRows;
  const int tasks = 8 * std::max(1, cv::getNumThreads());
  std::vector<float> x(static_cast<std::size_t>(kRows) * dim, 0.5f);
  double best = 0;
  const auto start = std::chrono::steady_clock::now();
  auto before = start;
  do {
    cv::parallel_for_(cv::Range(0, tasks), [&](const cv::Range& range) {
      std::vector<float> y(x.size());
      for (int task = range.start; task < range.end; ++task) linear.run({x.data(), kRows, dim}, {y.data(), kRows, dim});
    });
    const auto after = std::chrono::steady_clock::now();
    const double flop = 2.0 * kRows * dim * dim * tasks;
    best = std::max(best, flop / std::chrono::duration<double>(after - before).count());
    before = after;
  } while (std::chrono::duration<double>(before - start).count() < seconds);
  return best;
}

}  // namespace

Json cpuName() {
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);) {
    if (const auto colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  }
  return nullptr;
}

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
  return text.starts_with(", ") ? text.substr(2) : text;
}

int usedThreads(int wanted) { return std::min(wanted > 0 ? wanted : cv::getNumThreads(), cv::getNumberOfCPUs()); }

double gemmPeak(Precision precision, double seconds) {
  constexpr int kDims[] = {192, 384, 768};  // of ViT-T, S and B: weights in L2, L2 and L3
  double best = 0;
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.05f);
  for (int dim : kDims) {
    std::vector<float> weight(static_cast<std::size_t>(dim) * dim);
    std::generate(weight.begin(), weight.end(), [&] { return normal(random); });
    const PackedLinear linear(MatrixView<const float>(weight.data(), dim, dim), nullptr, precision);
    best = std::max(best, flopPerSecond(linear, dim, seconds / std::size(kDims)));
  }
  return best;
}

}  // namespace mpm::evaluation
