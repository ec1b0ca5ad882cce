// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <string>

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

}  // namespace mpm::test
