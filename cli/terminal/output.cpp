// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/output.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "cli/terminal/errors.h"
#include "mpm/error.hpp"

namespace mpm::cli {

void printLine(const std::string& line) {
  if (std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fputc('\n', stdout) != EOF &&
      std::fflush(stdout) == 0)
    return;
  if (errno == EPIPE) throw BrokenPipe();
  throw Error(std::string("cannot write to standard output: ") + std::strerror(errno));
}

std::string toLine(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json toJson(const StageTimes& times) {
  const auto rounded = [](double ms) { return std::round(ms * 1e3) / 1e3; };
  return {{"total", rounded(times.total)},
          {"preprocess", rounded(times.preprocess)},
          {"backbone", rounded(times.backbone)},
          {"merge", rounded(times.merge)},
          {"restore", rounded(times.restore)},
          {"head", rounded(times.head)},
          {"postprocess", rounded(times.postprocess)}};
}

Json toJson(Size2 size) { return {{"height", size.height}, {"width", size.width}}; }

std::string tokensText(const std::vector<double>& tokens) {
  std::string text;
  for (double count : tokens) text += (text.empty() ? "" : " -> ") + fixed(count, count == std::floor(count) ? 0 : 1);
  if (tokens.size() > 1) text += " (-" + fixed(100 * (1 - tokens.back() / tokens.front()), 0) + " %)";
  return text;
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace mpm::cli
