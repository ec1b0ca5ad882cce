// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace mpm {

/// The shortest text that reads back as `number`, whatever the locale is.
inline std::string numberText(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

/// `value` with `digits` digits after the point; "-" for none and for NaN.
inline std::string fixed(std::optional<double> value, int digits) {
  if (!value || std::isnan(*value)) return "-";
  char text[400];  // of any double
  std::snprintf(text, sizeof text, "%.*f", digits, *value);
  return text;
}

/// "1 image", "2 images".
inline std::string counted(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// The inverse of numberText(); nullopt for a text that is no number or has more behind it.
template <class T>
std::optional<T> readNumber(const std::string& text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  return status == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace mpm
