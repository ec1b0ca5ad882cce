// SPDX-License-Identifier: Apache-2.0
#include "mpm/convert.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "mpm/error.hpp"
#include "onnx/converter.h"

namespace mpm {
namespace {

onnx_graph::Converted convertPath(const std::string& onnx_path, const ConvertOptions& options) {
  const std::filesystem::path path(onnx_path);
  std::string problem;
  try {
    onnx::ModelProto model = onnx_graph::readModelFile(path);
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    return onnx_graph::convert(std::move(model), onnx_graph::readFacts(path), options, folder);
  } catch (const Error& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "not enough memory";
  }
  // The JSON names itself.
  std::filesystem::path json = path;
  json.replace_extension(".json");
  throw Error(problem.starts_with(json.string() + ":") || problem.starts_with(json.string() + ".")
                  ? problem
                  : onnx_path + ": " + problem);
}

std::string fileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file) throw Error(path + ": cannot read the file");
  return bytes.str();
}

}  // namespace

ModelInfo readModelInfo(const std::string& onnx_path, const ConvertOptions& options) {
  onnx_graph::Converted result = convertPath(onnx_path, options);
  result.info.converted = result.bytes.empty();
  return result.info;
}

std::string convertModel(const std::string& onnx_path, const ConvertOptions& options, ModelInfo* info) {
  onnx_graph::Converted result = convertPath(onnx_path, options);
  if (info) *info = result.info;
  return result.bytes.empty() ? fileBytes(onnx_path) : std::move(result.bytes);
}

ModelInfo convertFile(const std::string& onnx_path, const std::string& output_path, const ConvertOptions& options) {
  ModelInfo info;
  const std::string bytes = convertModel(onnx_path, options, &info);
  const std::string temporary = output_path + ".part" + std::to_string(::getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (!file) throw Error(output_path + ": cannot write: " + std::strerror(errno));
  // A full disk may show at any of the three.
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  int cause = errno;
  if (written && (std::fflush(file) != 0 || ::fsync(::fileno(file)) != 0)) {
    written = errno == EINVAL || errno == EROFS;  // a pipe or a device has nothing to sync
    cause = errno;
  }
  if (std::fclose(file) != 0 && written) {
    written = false;
    cause = errno;
  }
  std::error_code status;
  if (written) {
    std::filesystem::rename(temporary, output_path, status);
    if (!status) return info;
    cause = status.value();
  }
  std::filesystem::remove(temporary, status);
  throw Error(output_path + ": cannot write: " + std::strerror(cause));
}

}  // namespace mpm
