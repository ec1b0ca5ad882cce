// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mpm {

/// The shortest text that reads back as `number`, whatever the locale is: "100000", "0.00002". Only numbers of 1e15 and
/// more, and below 1e-6, have an exponent.
inline std::string numberText(double number) {
  char text[32];
  const double size = std::abs(number);
  const bool plain = size == 0 || (size >= 1e-6 && size < 1e15);
  const auto end = plain ? std::to_chars(text, text + sizeof text, number, std::chars_format::fixed)
                         : std::to_chars(text, text + sizeof text, number);
  return {text, end.ptr};
}

/// `value` with `digits` digits after the point; "-" for none and for NaN. What rounds to zero has no sign.
inline std::string fixed(std::optional<double> value, int digits) {
  if (!value || std::isnan(*value)) return "-";
  char text[400];  // of any double
  std::snprintf(text, sizeof text, "%.*f", digits, *value);
  const bool zero =
      std::isfinite(*value) && std::string_view(text).find_first_of("123456789") == std::string_view::npos;
  return zero && text[0] == '-' ? text + 1 : text;
}

/// Why `number` is not in [min, max], behind the text of the number: " is not a number from 1 to 5"; empty: it is. A
/// maximum of a million and more is only named where the number exceeds it.
inline std::string rangeProblem(double number, double min, double max) {
  constexpr double kUnlimited = 1e6;
  if (number >= min && number <= max) return {};  // NaN is in no range
  if (number > max && max >= kUnlimited) return " is more than " + fixed(max, 0);
  return " is not a number from " + numberText(min) + (max < kUnlimited ? " to " + numberText(max) : " upwards");
}

/// "1 image", "2 images".
inline std::string counted(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// The inverse of numberText(); nullopt for a text that is no number or has more behind it.
template <class T>
std::optional<T> readNumber(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  return status == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// The whole numbers on both sides of the first `mark`, as in "448x640"; nullopt for another text.
inline std::optional<std::pair<int, int>> readNumbers(std::string_view text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const auto first = readNumber<int>(text.substr(0, at)), second = readNumber<int>(text.substr(at + 1));
  return first && second ? std::optional(std::pair(*first, *second)) : std::nullopt;
}

}  // namespace mpm
