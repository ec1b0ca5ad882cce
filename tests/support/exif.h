// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "support/png.h"

namespace mpm::test {

/// Marks a JPEG as held like this: 6 shows it turned by 90 degrees clockwise.
inline void setExifOrientation(const std::string& jpeg, char orientation) {
  using namespace std::string_literals;
  std::ifstream file(jpeg, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  // APP1 of 34 bytes: a TIFF header, then a directory of one entry, tag 0x0112, one 16-bit number.
  bytes.insert(2, "\xff\xe1\0\x22"s + "Exif\0\0"s + "II*\0\x08\0\0\0"s + "\x01\0"s + "\x12\x01\x03\0\x01\0\0\0"s +
                      orientation + "\0\0\0"s + "\0\0\0\0"s);
  std::ofstream(jpeg, std::ios::binary) << bytes;
}

/// Says when a JPEG or PNG was taken: DateTimeOriginal and, where they are not empty, SubSecTimeOriginal and
/// OffsetTimeOriginal.
inline void setExifTime(const std::string& path, const std::string& time, const std::string& fraction = "",
                        const std::string& offset = "") {
  using namespace std::string_literals;
  const auto number = [](std::size_t value, int bytes) {
    std::string text;
    for (; bytes-- > 0; value >>= 8) text += static_cast<char>(value & 255);
    return text;
  };
  std::vector<std::pair<int, std::string>> tags = {{0x9003, time}};
  if (!offset.empty()) tags.emplace_back(0x9011, offset);
  if (!fraction.empty()) tags.emplace_back(0x9291, fraction);
  // A directory with a pointer to the next one, that one, then the texts that do not fit into it.
  std::string entries, texts;
  const std::size_t begin = 26 + 2 + 12 * tags.size() + 4;
  for (const auto& [tag, text] : tags) {
    const std::string value = text + '\0';
    entries += number(tag, 2) + number(2, 2) + number(value.size(), 4);
    entries += value.size() > 4 ? number(begin + texts.size(), 4) : value + std::string(4 - value.size(), '\0');
    if (value.size() > 4) texts += value;
  }
  const std::string tiff = "II*\0\x08\0\0\0"s + number(1, 2) + number(0x8769, 2) + number(4, 2) + number(1, 4) +
                           number(26, 4) + number(0, 4) + number(tags.size(), 2) + entries + number(0, 4) + texts;
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.starts_with("\x89PNG")) {  // a chunk behind the first one
    bytes.insert(33, pngChunk("eXIf", tiff));
    std::ofstream(path, std::ios::binary) << bytes;
    return;
  }
  const std::size_t size = 2 + 6 + tiff.size();
  bytes.insert(2, "\xff\xe1"s + static_cast<char>(size >> 8) + static_cast<char>(size & 255) + "Exif\0\0"s + tiff);
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace mpm::test
