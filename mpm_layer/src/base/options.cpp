// SPDX-License-Identifier: Apache-2.0
#include "mpm/options.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "base/device_spec.h"
#include "base/size_text.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

void requireIncreasing(const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (schedule[i] < 0) throw Error("schedule " + toString(schedule) + ": a block index is 0 or more");
    if (i > 0 && schedule[i] <= schedule[i - 1]) {
      throw Error("schedule " + toString(schedule) + ": block indices must be strictly increasing");
    }
  }
}

constexpr std::array<std::pair<Precision, const char*>, 4> kPrecisionWords = {
    {{Precision::kFp32, "fp32"}, {Precision::kBf16, "bf16"}, {Precision::kTf32, "tf32"}, {Precision::kFp16, "fp16"}}};

}  // namespace

std::string toString(Precision precision) {
  for (const auto& [value, word] : kPrecisionWords)
    if (value == precision) return word;
  return {};
}

Precision parsePrecision(const std::string& text) {
  for (const auto& [value, word] : kPrecisionWords)
    if (text == word) return value;
  throw Error("precision '" + text + "' is not fp32, bf16, tf32 or fp16");
}

DeviceSpec parseDeviceSpec(const std::string& text) {
  using Kind = DeviceSpec::Kind;
  if (text == "cpu") return {Kind::kCpu};
  if (text == "auto") return {Kind::kAuto};
  if (text == "cuda") return {Kind::kCuda};
  constexpr std::string_view kPrefix = "cuda:";
  if (text.starts_with(kPrefix)) {
    int index = -1;
    const char* const end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data() + kPrefix.size(), end, index);
    if (status == std::errc() && stop == end && index >= 0) return {Kind::kCuda, index};
  }
  throw Error("device '" + text + "': expected cpu, cuda, cuda:1 (a GPU by its index) or auto");
}

std::string toString(Attention attention) { return attention == Attention::kProportional ? "proportional" : "plain"; }

Attention parseAttention(const std::string& text) {
  for (const Attention attention : {Attention::kPlain, Attention::kProportional})
    if (text == toString(attention)) return attention;
  throw Error("attention '" + text + "' is not plain or proportional");
}

Schedule parseSchedule(const std::string& text) {
  if (text == "none") return {};
  Schedule schedule;
  const char* next = text.data();
  const char* const end = text.data() + text.size();
  while (true) {
    int block = 0;
    const auto [stop, status] = std::from_chars(next, end, block);
    if (status != std::errc() || block < 0 || (stop != end && *stop != ',')) {
      throw Error("schedule '" + text + "': expected block indices with commas between them, such as 2,5, or none");
    }
    schedule.push_back(block);
    if (stop == end) break;
    next = stop + 1;
  }
  requireIncreasing(schedule);
  return schedule;
}

std::string toString(const Schedule& schedule) {
  if (schedule.empty()) return "none";
  std::string text;
  for (const int block : schedule) {
    if (!text.empty()) text += ',';
    text += std::to_string(block);
  }
  return text;
}

void ConvertOptions::validate() const {
  if (schedule) requireIncreasing(*schedule);
  if (input_size && (input_size->height < 1 || input_size->width < 1)) {
    throw Error("input size " + toString(*input_size) + ": both sides must be positive");
  }
  parseDeviceSpec(device);
}

}  // namespace mpm
