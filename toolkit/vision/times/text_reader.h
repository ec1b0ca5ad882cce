// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

namespace mpm::vision {

inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The rest of a text that is read from its beginning.
struct Rest {
  std::string_view text;

  bool startsWithDigit() const { return !text.empty() && isDigit(text[0]); }
  bool startsWithLetter() const { return !text.empty() && isLetter(text[0]); }

  /// How many digits follow.
  std::size_t digits() const {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), isDigit) - text.begin());
  }

  bool take(std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
  }

  /// One of these characters.
  std::optional<char> takeOne(std::string_view of) {
    if (text.empty() || of.find(text[0]) == std::string_view::npos) return std::nullopt;
    const char c = text[0];
    text.remove_prefix(1);
    return c;
  }

  /// A number of at most so many digits, and `least` of them.
  std::optional<int> takeNumber(std::size_t most, std::size_t least) {
    std::size_t n = 0;
    int value = 0;
    for (; n < most && n < text.size() && isDigit(text[n]); ++n) value = 10 * value + (text[n] - '0');
    if (n < least) return std::nullopt;
    text.remove_prefix(n);
    return value;
  }
  std::optional<int> takeNumber(std::size_t digits) { return takeNumber(digits, digits); }

  /// Digits behind a decimal point, as milliseconds.
  int takeMilliseconds() {
    int value = 0;
    for (int unit = 100; startsWithDigit(); unit /= 10) value += unit * (*takeOne("0123456789") - '0');
    return value;
  }
};

}  // namespace mpm::vision
