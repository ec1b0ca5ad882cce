// SPDX-License-Identifier: Apache-2.0
#include "vision/model_digest.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/hash.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"

namespace mpm::vision {
namespace {

std::uint64_t hashFile(const std::string& path, std::uint64_t before) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 1 << 16> part{};
  std::uint64_t size = 0;
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    before = hashBytes({part.data(), static_cast<std::size_t>(file.gcount())}, before);
    size += static_cast<std::uint64_t>(file.gcount());
  }
  if (!file.eof()) throw Error("cannot read '" + path + "'");
  return hash(before, size);  // bytes cannot pass from the end of one file to the beginning of the next
}

}  // namespace

std::string modelDigest(const std::string& onnx_path) {
  std::uint64_t digest = 0;
  std::error_code ignored;
  for (const std::string& path : modelFiles(onnx_path)) {
    const bool there = path == onnx_path || std::filesystem::exists(path, ignored);
    digest = there ? hashFile(path, digest) : hash(digest, 0);
  }
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(digest));
  return digits.data();
}

}  // namespace mpm::vision
