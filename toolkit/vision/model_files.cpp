// SPDX-License-Identifier: Apache-2.0
#include "vision/model_files.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdlib>
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

std::string defaultModel() {
  namespace fs = std::filesystem;
  if (const char* named = std::getenv("MPM_MODEL"); named && *named) return named;
  // Relative to the file that holds this code, so that an installation can be moved.
  Dl_info file{};
  if (::dladdr(reinterpret_cast<const void*>(&defaultModel), &file) == 0 || !file.dli_fname) return {};
  std::error_code error;
  // A program that was found in PATH knows itself by its bare name; a shared library knows its path.
  const fs::path code = fs::path(file.dli_fname).is_absolute() ? file.dli_fname : "/proc/self/exe";
  fs::path above = fs::canonical(code, error).parent_path();
  for (int up = 0; up < 3 && !error && above.has_relative_path(); ++up) {  // PREFIX/lib/ARCHITECTURE
    above = above.parent_path();
    const fs::path model = above / MPM_MODELS_FOLDER / "outdoor_vit_t16.onnx";
    if (fs::is_regular_file(model, error)) return model.string();
    error.clear();
  }
  return {};
}

std::string modelDigest(const std::string& onnx_path) {
  std::uint64_t digest = 0;
  std::error_code ignored;
  for (const std::string& path : modelFiles(onnx_path)) {
    const bool there = path == onnx_path || std::filesystem::exists(path, ignored);
    digest = there ? hashFile(path, digest) : hash(digest, 0);
  }
  return digestText(digest);
}

void requireNotOfModel(const std::string& path) {
  std::error_code error;
  // A link that is written to keeps its name, and replaces the file that it leads to.
  for (std::filesystem::path model : {std::filesystem::path(path), std::filesystem::weakly_canonical(path, error)}) {
    if (model.extension() == ".json" && std::filesystem::exists(model.replace_extension(".onnx"), error)) {
      throw Error("'" + path + "' is the JSON of the model '" + model.string() +
                  "', which names its classes: choose another file name");
    }
  }
}

}  // namespace mpm::vision
