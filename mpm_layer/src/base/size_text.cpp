// SPDX-License-Identifier: Apache-2.0
#include "base/size_text.h"

#include "base/number_text.h"
#include "mpm/error.hpp"

namespace mpm {

std::string toString(Size2 size) { return std::to_string(size.height) + "x" + std::to_string(size.width); }

std::string sizeText(Size2 size, const std::string& unit) {
  return std::to_string(size.width) + " x " + std::to_string(size.height) + " " + unit + " (width x height)";
}

Size2 parseSize(const std::string& text) {
  const auto sides = readNumbers(text, 'x');
  if (!sides || sides->first < 1 || sides->second < 1)
    throw Error("'" + text + "' is not a size: write HEIGHTxWIDTH in pixels, for example 448x640");
  return {sides->first, sides->second};
}

}  // namespace mpm
