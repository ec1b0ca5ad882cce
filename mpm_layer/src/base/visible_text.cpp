// SPDX-License-Identifier: Apache-2.0
#include "base/visible_text.h"

#include <cstdint>
#include <cstdio>

namespace mpm {
namespace {

// The first character of a text that is not empty: its code, and its bytes. No bytes: this is not UTF-8.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Character firstOf(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = byte(0) & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool too_long = code < (bytes == 3 ? 0x800U : bytes == 4 ? 0x10000U : 0x80U);
  return too_long || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? Character{} : Character{code, bytes};
}

bool isControl(std::uint32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

bool hides(std::uint32_t code) {
  return isControl(code) || (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

// "\xe9", "\u202e".
std::string escaped(unsigned code) {
  char text[16];
  if (code > 0xff)
    std::snprintf(text, sizeof text, "\\u%04x", code);
  else
    std::snprintf(text, sizeof text, "\\x%02x", code);
  return text;
}

// Each byte that is not UTF-8 becomes visible, and show(character, its bytes) says what a character becomes.
template <typename Show>
std::string eachCharacter(std::string_view text, Show show) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Character next = firstOf(text.substr(at));
    if (next.bytes == 0)
      shown += escaped(static_cast<unsigned char>(text[at]));
    else
      shown += show(next, text.substr(at, next.bytes));
    at += next.bytes == 0 ? 1 : next.bytes;
  }
  return shown;
}

}  // namespace

std::string visibleText(std::string_view text, std::size_t most) {
  std::string shown;
  std::size_t before_end = 0;  // bytes of `shown` that leave room for "..."
  for (std::size_t at = 0, length = 0; at < text.size();) {
    const Character next = firstOf(text.substr(at));
    std::string one(text.substr(at, next.bytes));
    if (next.bytes == 0 || hides(next.code)) {
      const unsigned code = next.bytes == 0 ? static_cast<unsigned char>(text[at]) : next.code;
      one = code == '\n' ? "\\n" : code == '\t' ? "\\t" : escaped(code);
    }
    length += next.bytes == 0 || hides(next.code) ? one.size() : 1;
    if (length > most) return shown.substr(0, before_end) + "...";
    shown += one;
    if (length + 3 <= most) before_end = shown.size();
    at += next.bytes == 0 ? 1 : next.bytes;
  }
  return shown;
}

std::string utf8Text(std::string_view text) {
  return eachCharacter(text, [](const Character&, std::string_view bytes) { return bytes; });
}

std::string utf8Line(std::string_view text) {
  return eachCharacter(text, [](const Character& one, std::string_view bytes) {
    return isControl(one.code) ? std::string_view(" ") : bytes;
  });
}

}  // namespace mpm
