// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>

#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

// The elements of an EBML file (RFC 8794), of which Matroska and WebM are two kinds (RFC 9559).
class Elements {
 public:
  explicit Elements(const std::string& path) : file_(path, std::ios::binary) {}

  // A number whose first byte says how many follow. The mark of its length stays in an identifier, not in a size.
  std::optional<std::uint64_t> number(bool identifier) {
    const int first = file_.get();
    if (!file_ || first == 0) return std::nullopt;
    int more = 0;
    while ((first & (0x80 >> more)) == 0) ++more;
    std::uint64_t value = static_cast<std::uint64_t>(identifier ? first : first & (0x7f >> more));
    for (int i = 0; i < more; ++i) value = value << 8 | static_cast<std::uint64_t>(file_.get() & 0xff);
    return file_ ? std::optional(value) : std::nullopt;
  }

  std::optional<std::uint64_t> unsignedOf(std::uint64_t size) {
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < size && size <= 8; ++i)
      value = value << 8 | static_cast<std::uint64_t>(file_.get() & 0xff);
    return file_ && size <= 8 ? std::optional(value) : std::nullopt;
  }

  bool skip(std::uint64_t size) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
    if (size > kMost) return false;
    file_.seekg(static_cast<std::streamoff>(size), std::ios::cur);
    return static_cast<bool>(file_);
  }

 private:
  std::ifstream file_;
};

}  // namespace

double matroskaStart(const std::string& path) {
  constexpr std::uint64_t kHead = 0x1a45dfa3, kSegment = 0x18538067, kInfo = 0x1549a966, kScale = 0x2ad7b1,
                          kCluster = 0x1f43b675, kTime = 0xe7;
  constexpr int kMost = 1000;  // elements before the first picture
  Elements elements(path);
  double scale = 1e6;  // ns
  for (int i = 0; i < kMost; ++i) {
    const auto id = elements.number(true), size = id ? elements.number(false) : std::nullopt;
    if (!size || (i == 0) != (*id == kHead)) return 0;
    if (*id == kSegment || *id == kInfo || *id == kCluster) continue;  // what they hold comes next
    if (*id == kScale || *id == kTime) {
      const auto value = elements.unsignedOf(*size);
      if (!value) return 0;
      if (*id == kTime) return static_cast<double>(*value) * scale / 1e9;
      scale = static_cast<double>(*value);
    } else if (!elements.skip(*size)) {
      return 0;
    }
  }
  return 0;
}

}  // namespace mpm::vision
