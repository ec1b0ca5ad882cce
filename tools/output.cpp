// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "errors.h"
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

void addMoment(const Frame& frame, Json& json) {
  if (frame.unix_time) {
    const auto ms = static_cast<std::int64_t>(std::llround(*frame.unix_time * 1e3));
    const std::time_t s = static_cast<std::time_t>((ms - ((ms % 1000) + 1000) % 1000) / 1000);
    std::tm utc{};
    gmtime_r(&s, &utc);
    char date[32], text[48];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    std::snprintf(text, sizeof text, "%s.%03dZ", date, static_cast<int>(ms - static_cast<std::int64_t>(s) * 1000));
    json["time"] = text;
    json["film"] = frame.film;
  }
  if (frame.night) json["night"] = *frame.night;
  if (frame.sun_elevation) json["sun_elevation"] = std::round(*frame.sun_elevation * 1e3) / 1e3;
}

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
