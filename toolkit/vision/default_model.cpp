// SPDX-License-Identifier: Apache-2.0
#include "vision/default_model.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace mpm::vision {

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

}  // namespace mpm::vision
