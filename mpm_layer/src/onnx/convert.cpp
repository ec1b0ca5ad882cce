// SPDX-License-Identifier: Apache-2.0
#include "mpm/convert.hpp"

#include <filesystem>
#include <fstream>

#include "mpm/error.hpp"
#include "mpm/whole_file.hpp"
#include "onnx/converter.h"

namespace mpm {
namespace {

// What `work` gives; errors name the file.
template <class Work>
auto naming(const std::filesystem::path& path, Work work) {
  std::string problem;
  try {
    return work();
  } catch (const Error& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "not enough memory";
  }
  // The JSON names itself.
  const std::string json = onnx_graph::factsPath(path).string();
  throw Error(problem.starts_with(json + ":") || problem.starts_with(json + ".") ? problem
                                                                                 : path.string() + ": " + problem);
}

// What `read` makes of the model in this file.
template <class Read>
auto fromPath(const std::filesystem::path& path, Read read) {
  return naming(path, [&] { return read(onnx_graph::readModelFile(path)); });
}

std::filesystem::path folderOf(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::string fileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::string bytes(file ? static_cast<std::size_t>(file.tellg()) : 0, '\0');
  if (!file.seekg(0) || !file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    throw Error(path + ": cannot read the file");
  return bytes;
}

}  // namespace

onnx_graph::Converted onnx_graph::convertPath(const std::filesystem::path& path, const ConvertOptions& options) {
  return fromPath(path, [&](onnx::ModelProto model) {
    return convert(std::move(model), readFacts(path), options, folderOf(path));
  });
}

ModelInfo readModelInfo(const std::string& onnx_path, const ConvertOptions& options) {
  onnx_graph::Converted result = onnx_graph::convertPath(onnx_path, options);
  result.info.converted = result.already;
  return result.info;
}

std::string convertModel(const std::string& onnx_path, const ConvertOptions& options, ModelInfo* info) {
  onnx_graph::Converted result = onnx_graph::convertPath(onnx_path, options);
  if (info) *info = result.info;
  if (result.already) return fileBytes(onnx_path);
  return naming(onnx_path, [&] { return onnx_graph::serialised(std::move(result.model)); });
}

std::vector<std::string> modelFiles(const std::string& onnx_path) {
  const std::filesystem::path path(onnx_path);
  std::vector<std::string> files = {onnx_path, onnx_graph::factsPath(path).string()};
  for (const std::string& file : fromPath(path, onnx_graph::externalFiles))
    files.push_back((folderOf(path) / file).string());
  return files;
}

ModelInfo convertFile(const std::string& onnx_path, const std::string& output_path, const ConvertOptions& options) {
  ModelInfo info;
  const std::string bytes = convertModel(onnx_path, options, &info);
  writeWholeFile(output_path, bytes, true);
  return info;
}

}  // namespace mpm
