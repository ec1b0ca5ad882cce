// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpm/options.hpp"

namespace mpm {

/// {448, 640} -> "448x640": height x width, as options write sizes. In a message kHeightFirst says so.
std::string toString(Size2 size);
inline constexpr const char* kHeightFirst = " (height x width)";

/// {448, 640} -> "640 x 448 px (width x height)": as messages write the sizes of pictures.
std::string sizeText(Size2 size, const std::string& unit = "px");

/// "448x640" -> {448, 640}. Throws mpm::Error unless both sides are whole numbers of at least 1.
Size2 parseSize(const std::string& text);

/// ReadOptions::device, parsed.
struct DeviceSpec {
  enum class Kind { kCpu, kAuto, kCuda } kind = Kind::kCpu;
  std::optional<int> index = {};  ///< of kCuda; nullopt: the first GPU
};

/// "cpu", "auto", "cuda", "cuda:1". Throws mpm::Error for any other text.
DeviceSpec parseDeviceSpec(const std::string& text);

}  // namespace mpm
