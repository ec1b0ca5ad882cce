// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpm/segmenter.hpp"

namespace mpm::cli {

using Json = nlohmann::ordered_json;

/// One line on stdout, flushed. Throws BrokenPipe when its reader is gone, mpm::Error when it cannot be written.
void printLine(const std::string& line);
inline void printLine(const char* line) { printLine(std::string(line)); }
/// One line, without its end; what is not UTF-8 (file names may hold anything) is replaced.
std::string toLine(const Json& json);
inline void printLine(const Json& json) { printLine(toLine(json)); }

/// The stages of a pass and their names in JSON.
inline constexpr std::pair<const char*, double StageTimes::*> kStages[] = {{"total", &StageTimes::total},
                                                                           {"preprocess", &StageTimes::preprocess},
                                                                           {"backbone", &StageTimes::backbone},
                                                                           {"merge", &StageTimes::merge},
                                                                           {"restore", &StageTimes::restore},
                                                                           {"head", &StageTimes::head},
                                                                           {"postprocess", &StageTimes::postprocess}};
/// {"total", "preprocess", "backbone", "merge", "restore", "head", "postprocess"}, ms.
Json toJson(const StageTimes& times);
/// Back from it. Throws nlohmann's exceptions when a stage is missing.
StageTimes stageTimesOf(const Json& json);

/// The number; null for none and for NaN.
Json orNull(std::optional<double> number);
/// A share as a percentage with three decimals; null for NaN.
Json percentJson(double share);

/// {"height", "width"}.
Json toJson(Size2 size);

/// The blocks before which MPM merges; null for another reduction.
Json scheduleJson(const ModelInfo& model);

/// "2,5" for MPM, "none"; any other reduction as in --reduce.
std::string reductionText(const Reduction& reduction);

/// "660 -> 491 -> 377 (-43 %)"; "660" without merging.
std::string tokensText(const std::vector<double>& tokens);

/// `value` with `digits` digits after the point; "-" for none and for NaN.
std::string fixed(std::optional<double> value, int digits);

/// "1 image", "2 images".
std::string counted(std::int64_t count, const std::string& noun);

/// A line of a table: each text in a cell of that many columns, aligned right; left for a negative number.
std::string tableRow(const std::vector<std::string>& cells, const std::vector<int>& widths);

/// True when stderr is a terminal that understands escapes.
bool stderrIsTerminal();
bool stdoutIsTerminal();

/// "mpm run: error: MESSAGE" on stderr, one line; red on a terminal unless NO_COLOR is set.
void printError(const std::string& command, const std::string& message);
void printNote(const std::string& message);

/// Progress on stderr, redrawn in place; nothing at all when `shown` is false.
class Progress {
 public:
  Progress(bool shown, std::optional<int> total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step();
  /// Another estimate of all steps.
  void setTotal(int total) { total_ = total; }
  /// A line above it.
  void note(const std::string& message) const;

 private:
  bool shown_;
  std::optional<int> total_;
  int done_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), drawn_{};
};

}  // namespace mpm::cli
