// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <string_view>

namespace mpm::cuda {

/// Whether code built for `architecture` runs on compute capability `major`.`minor`. `architecture` is an entry of
/// CMAKE_CUDA_ARCHITECTURES ("90", "86-real", "90a", "native"). Machine code runs on the same major number and the same
/// or a higher minor number, PTX ("90", "90-virtual") on every later GPU, and code with an "a" on its own number only.
inline bool codeRunsOn(std::string_view architecture, int major, int minor) {
  int number = 0;
  const char* const end = architecture.data() + architecture.size();
  const char* const rest = std::from_chars(architecture.data(), end, number).ptr;
  if (number == 0) return true;  // "native", "all"
  const int own = 10 * major + minor;
  if (rest != end && *rest == 'a') return own == number;
  const bool machine_code = !architecture.ends_with("-virtual"), ptx = !architecture.ends_with("-real");
  return own >= number && (ptx || (machine_code && major == number / 10));
}

/// True when code of any architecture in a list, separated by commas, runs on the device.
inline bool anyCodeRunsOn(std::string_view architectures, int major, int minor) {
  while (true) {
    const std::size_t comma = architectures.find(',');
    if (codeRunsOn(architectures.substr(0, comma), major, minor)) return true;
    if (comma == std::string_view::npos) return false;
    architectures.remove_prefix(comma + 1);
  }
}

}  // namespace mpm::cuda
