// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

namespace mpm::test {

/// The number in the attribute data-NAME of a drawing; NaN where there is none.
inline double svgNumber(const std::string& svg, const std::string& name) {
  const std::string attribute = "data-" + name + "=\"";
  const std::size_t at = svg.find(attribute);
  return at == std::string::npos ? NAN : std::stod(svg.substr(at + attribute.size()));
}

}  // namespace mpm::test
