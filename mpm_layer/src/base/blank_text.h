// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace mpm {

/// Whether a name says nothing: it is empty, or of blanks alone.
inline bool isBlank(std::string_view name) { return name.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace mpm
