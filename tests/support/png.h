// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/crc.hpp>
#include <string>

namespace mpm::test {

/// A chunk of a PNG with its length and its checksum.
inline std::string pngChunk(const std::string& name, const std::string& content) {
  const auto number = [](std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  boost::crc_32_type sum;
  sum.process_bytes((name + content).data(), name.size() + content.size());
  return number(static_cast<std::uint32_t>(content.size())) + name + content + number(sum.checksum());
}

}  // namespace mpm::test
