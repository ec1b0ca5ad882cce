// SPDX-License-Identifier: Apache-2.0
#include "mpm/convert.hpp"

#include <filesystem>

#include "base/atomic_file.h"
#include "mpm/error.hpp"
#include "onnx/converter.h"
#include "onnx/model/model_file.h"

namespace mpm {
namespace {

// Applies `read` to the model in this file and its late weights.
template <class Read>
auto fromPath(const std::filesystem::path& path, Read read) {
  return onnx_graph::naming(path, [&] {
    onnx_graph::LateWeights late;
    onnx::ModelProto model = onnx_graph::readModelFile(path, late);
    return read(std::move(model), std::move(late));
  });
}

void requireApart(const std::string& onnx_path, const std::string& output_path, const ConvertOptions& options) {
  std::vector<std::string> files = modelFiles(onnx_path);
  if (options.reduce && !options.reduce->policy.empty()) files.push_back(options.reduce->policy);
  for (const std::string& file : files)
    if (sameFile(file, output_path))
      throw Error(output_path + ": is the model that is converted, or a part of it: name another file");
}

}  // namespace

onnx_graph::Converted onnx_graph::convertPath(const std::filesystem::path& path, const ConvertOptions& options) {
  bool chosen = options.reduce.has_value();
  Converted converted = fromPath(path, [&](onnx::ModelProto model, onnx_graph::LateWeights late) {
    const FactsFile facts = readFactsOf(model, path);
    chosen = chosen || facts.reduce;
    return convert(std::move(model), facts, options, onnx_graph::folderOf(path), std::move(late));
  });
  const ModelInfo& info = converted.info;
  if (chosen || info.converted || info.head != HeadKind::kOther || info.task || info.schedule().empty())
    return converted;
  converted = {};
  return convertPath(path, options.with(kFullModel));  // the head is known only now
}

ModelInfo readModelInfo(const std::string& onnx_path, const ConvertOptions& options) {
  return onnx_graph::convertPath(onnx_path, options).info;
}

ConvertedModel convertModel(const std::string& onnx_path, const ConvertOptions& options) {
  onnx_graph::Converted result = onnx_graph::convertPath(onnx_path, options);
  return onnx_graph::naming(onnx_path, [&] {
    result.late.load(*result.model.mutable_graph());
    return ConvertedModel{onnx_graph::serialised(std::move(result.model)), std::move(result.info)};
  });
}

std::vector<std::string> modelFiles(const std::string& onnx_path) {
  const std::filesystem::path path(onnx_path);
  std::vector<std::string> files = {onnx_path, onnx_graph::factsPath(path).string()};
  for (const std::string& file :
       fromPath(path, [](const onnx::ModelProto&model, const auto&) { return onnx_graph::externalFiles(model); }))
    files.push_back((onnx_graph::folderOf(path) / file).string());
  return files;
}

ModelInfo convertFile(const std::string& onnx_path, const std::string& output_path, const ConvertOptions& options) {
  requireApart(onnx_path, output_path, options);
  ConvertedModel converted = convertModel(onnx_path, options);
  if (converted.info.reduction.method == ReductionMethod::kRule)
    throw Error("reduction '" + toString(converted.info.reduction) +
                "' is a function of a program, which no file holds");
  writeFileAtomically(output_path, converted.bytes, true);
  return std::move(converted.info);
}

}  // namespace mpm
