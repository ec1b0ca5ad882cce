// SPDX-License-Identifier: Apache-2.0
#include "cli/own_file.h"

#include <filesystem>

namespace mpm::cli {

namespace fs = std::filesystem;

std::string ownProgram() { return fs::read_symlink("/proc/self/exe").string(); }

std::string ownFile(const std::string& installed, const std::string& of_source) {
  std::error_code ignored;
  const fs::path data = fs::path(ownProgram()).parent_path() / MPM_DATA_FROM_PROGRAM;
  const fs::path path = (data / installed).lexically_normal();
  return (fs::exists(path, ignored) ? path : fs::path(MPM_SOURCE) / of_source).string();
}

}  // namespace mpm::cli
