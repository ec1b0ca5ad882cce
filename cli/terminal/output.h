// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "mpm/segmenter.hpp"

namespace mpm::cli {

using Json = nlohmann::ordered_json;

/// One line on stdout, flushed. Throws BrokenPipe when nobody reads it, mpm::Error when it cannot be written.
void printLine(const std::string& line);
inline void printLine(const char* line) { printLine(std::string(line)); }
/// One line, without its end; what is not UTF-8 (file names may hold anything) is replaced.
std::string toLine(const Json& json);
inline void printLine(const Json& json) { printLine(toLine(json)); }

/// {"total", "preprocess", "backbone", "merge", "restore", "head", "postprocess"}, ms.
Json toJson(const StageTimes& times);

/// {"height", "width"}.
Json toJson(Size2 size);

/// "660 -> 491 -> 377 (-43 %)"; "660" without merging.
std::string tokensText(const std::vector<double>& tokens);

/// `value` with so many digits behind the point.
std::string fixed(double value, int digits);

}  // namespace mpm::cli
