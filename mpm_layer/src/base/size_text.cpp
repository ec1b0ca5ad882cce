// SPDX-License-Identifier: Apache-2.0
#include "base/size_text.h"

#include <charconv>

#include "mpm/error.hpp"

namespace mpm {

std::string toString(Size2 size) { return std::to_string(size.height) + "x" + std::to_string(size.width); }

std::string sizeText(Size2 size, const std::string& unit) {
  return std::to_string(size.width) + " x " + std::to_string(size.height) + " " + unit + " (width x height)";
}

Size2 parseSize(const std::string& text) {
  Size2 size;
  const char* const end = text.data() + text.size();
  const auto height = std::from_chars(text.data(), end, size.height);
  const bool separated = height.ec == std::errc() && height.ptr != end && *height.ptr == 'x';
  const auto width = std::from_chars(separated ? height.ptr + 1 : end, end, size.width);
  if (!separated || width.ec != std::errc() || width.ptr != end || size.height < 1 || size.width < 1)
    throw Error("'" + text + "' is not a size: write HEIGHTxWIDTH in pixels, for example 448x640");
  return size;
}

}  // namespace mpm
