// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace mpm {

/// What ConvertOptions::device says: "cpu", "auto", "cuda", "cuda:1".
struct DeviceSpec {
  enum class Kind { kCpu, kAuto, kCuda } kind = Kind::kCpu;
  std::optional<int> index = {};  ///< kCuda: the GPU that is named; nullopt: the first
};

/// Throws mpm::Error when it is none of these.
DeviceSpec parseDeviceSpec(const std::string& text);

}  // namespace mpm
