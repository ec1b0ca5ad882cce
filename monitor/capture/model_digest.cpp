// SPDX-License-Identifier: Apache-2.0
#include "monitor/capture/model_digest.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "mpm/convert.hpp"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

class Fnv1a {
 public:
  void add(const char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) hash_ = (hash_ ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
  }
  std::string hex() const {
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash_));
    return digits.data();
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

std::uint64_t addFile(Fnv1a& hash, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 1 << 16> part{};
  std::uint64_t size = 0;
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    hash.add(part.data(), static_cast<std::size_t>(file.gcount()));
    size += static_cast<std::uint64_t>(file.gcount());
  }
  if (!file.eof()) throw Error("cannot read '" + path + "'");
  return size;
}

}  // namespace

std::string modelDigest(const std::string& onnx_path) {
  Fnv1a hash;
  std::error_code ignored;
  for (const std::string& path : modelFiles(onnx_path)) {
    const bool there = path == onnx_path || std::filesystem::exists(path, ignored);
    const std::uint64_t size = there ? addFile(hash, path) : 0;
    // Its size ends a file, so that bytes cannot pass from the end of one to the beginning of the next.
    std::array<char, 8> ending{};
    for (std::size_t i = 0; i < ending.size(); ++i) ending[i] = static_cast<char>(size >> (8 * i));
    hash.add(ending.data(), ending.size());
  }
  return hash.hex();
}

}  // namespace mpm::monitor
