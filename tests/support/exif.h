// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/png.h"

namespace mpm::test {

/// Marks a JPEG or PNG as held like this: 6 shows it turned by 90 degrees clockwise.
inline void setExifOrientation(const std::string& path, char orientation) {
  using namespace std::string_literals;
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  // A TIFF header, then a directory of one entry, tag 0x0112, one 16-bit number.
  const std::string tiff =
      "II*\0\x08\0\0\0"s + "\x01\0"s + "\x12\x01\x03\0\x01\0\0\0"s + orientation + "\0\0\0"s + "\0\0\0\0"s;
  if (bytes.starts_with("\x89PNG"))
    bytes.insert(33, pngChunk("eXIf", tiff));  // behind the first chunk
  else
    bytes.insert(2, "\xff\xe1\0\x22"s + "Exif\0\0"s + tiff);
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A tag with a text or a 16-bit number.
struct ExifTag {
  std::uint16_t tag = 0;
  std::variant<std::string, int> value{};
};

/// Gives a JPEG or PNG tags: of the main directory, and of that for EXIF.
inline void setExif(const std::string& path, std::vector<ExifTag> main, std::vector<ExifTag> own) {
  using namespace std::string_literals;
  const auto number = [](std::size_t value, int bytes) {
    std::string text;
    for (; bytes-- > 0; value >>= 8) text += static_cast<char>(value & 255);
    return text;
  };
  // A directory that begins at this offset, then the texts that do not fit into it.
  const auto directory = [&](std::vector<ExifTag>& tags, std::size_t begin, std::optional<std::size_t> pointer = {}) {
    if (pointer) tags.push_back({0x8769});
    std::ranges::sort(tags, {}, &ExifTag::tag);
    std::string entries, texts;
    const std::size_t end = begin + 2 + 12 * tags.size() + 4;
    for (const ExifTag& tag : tags) {
      entries += number(tag.tag, 2);
      if (tag.tag == 0x8769) {
        entries += number(4, 2) + number(1, 4) + number(pointer.value_or(0), 4);
      } else if (const auto* const whole = std::get_if<int>(&tag.value)) {
        entries += number(3, 2) + number(1, 4) + number(static_cast<std::size_t>(*whole) & 0xffff, 4);
      } else {
        const std::string value = std::get<std::string>(tag.value) + '\0';
        entries += number(2, 2) + number(value.size(), 4);
        entries += value.size() > 4 ? number(end + texts.size(), 4) : value + std::string(4 - value.size(), '\0');
        if (value.size() > 4) texts += value;
      }
    }
    return number(tags.size(), 2) + entries + number(0, 4) + texts;
  };
  auto measured = main;
  const std::size_t begin = 8 + directory(measured, 8, 0).size();
  const std::string tiff = "II*\0\x08\0\0\0"s + directory(main, 8, begin) + directory(own, begin);
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

/// Says when a JPEG or PNG was taken: DateTimeOriginal and, where they are not empty, SubSecTimeOriginal and
/// OffsetTimeOriginal.
inline void setExifTime(const std::string& path, const std::string& time, const std::string& fraction = "",
                        const std::string& offset = "") {
  std::vector<ExifTag> tags = {{0x9003, time}};
  if (!offset.empty()) tags.push_back({0x9011, offset});
  if (!fraction.empty()) tags.push_back({0x9291, fraction});
  setExif(path, {}, tags);
}

}  // namespace mpm::test
