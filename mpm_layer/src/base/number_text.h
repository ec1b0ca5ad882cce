// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string>

namespace mpm {

/// The shortest text that reads back as `number`, whatever the locale is.
inline std::string numberText(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

/// The inverse; nullopt for a text that is no number or has more behind it.
template <class T>
std::optional<T> readNumber(const std::string& text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, number);
  return status == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace mpm
