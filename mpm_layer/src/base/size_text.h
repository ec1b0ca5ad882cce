// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpm/options.hpp"

namespace mpm {

/// {448, 640} -> "448x640": height x width, as every option and message writes sizes.
std::string toString(Size2 size);

/// "448x640" -> {448, 640}. Throws mpm::Error unless both sides are whole numbers of at least 1.
Size2 parseSize(const std::string& text);

}  // namespace mpm
