// SPDX-License-Identifier: Apache-2.0
#include "monitor/tell/secret.h"

#include <sys/stat.h>

#include "base/atomic_file.h"
#include "mpm/error.hpp"

namespace mpm::monitor {

std::string readSecret(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0)
    throw Error("'" + path + "' can be read by every user: chmod o-r it");
  const std::string text = readFile(path, 1 << 16);
  const std::string line = text.substr(0, text.find_first_of("\r\n"));
  if (line.empty()) throw Error("'" + path + "' has no first line");
  return line;
}

}  // namespace mpm::monitor
