// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "mpm/error.hpp"

namespace mpm::train {

void writeFile(const std::string& path, std::initializer_list<std::string_view> parts) {
  const std::string temporary = path + ".part";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  bool whole = file != nullptr;
  for (const std::string_view part : parts)
    whole = whole && std::fwrite(part.data(), 1, part.size(), file) == part.size();
  whole = whole && std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
  int cause = errno;
  if (file && std::fclose(file) != 0 && whole) {
    whole = false;
    cause = errno;
  }
  if (whole && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  if (whole) cause = errno;
  std::remove(temporary.c_str());
  throw Error("cannot write '" + path + "': " + std::strerror(cause));
}

std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || file.bad()) throw Error("cannot read '" + path + "': " + std::strerror(errno));
  return bytes;
}

}  // namespace mpm::train
