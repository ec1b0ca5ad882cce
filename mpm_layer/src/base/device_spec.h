// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace mpm {

/// ReadOptions::device, parsed.
struct DeviceSpec {
  enum class Kind { kCpu, kAuto, kCuda } kind = Kind::kCpu;
  std::optional<int> index = {};  ///< of kCuda; nullopt: the first GPU
};

/// "cpu", "auto", "cuda", "cuda:1". Throws mpm::Error for any other text.
DeviceSpec parseDeviceSpec(const std::string& text);

}  // namespace mpm
