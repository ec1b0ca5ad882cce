// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.h"

#include <cmath>
#include <filesystem>
#include <sstream>

#include "base/atomic_file.h"
#include "base/json_file.h"
#include "mpm/error.hpp"
#include "onnx_file.h"
#include "safetensors.h"

namespace mpm::train {
namespace {

constexpr const char* kClassWeights = "loss.class_weights";
constexpr const char* kAverage = "average.";

Recipe recipeOf(const std::string& path, const std::string& text) {
  return recipeFromJson({text, "'" + path + "': the recipe in it"});
}

}  // namespace

void writeCheckpoint(const std::string& path, const Checkpoint& checkpoint) {
  TensorFile file{checkpoint.state, {}};
  if (!checkpoint.class_weights.empty())
    file.tensors[kClassWeights] = {{static_cast<std::int64_t>(checkpoint.class_weights.size())},
                                   checkpoint.class_weights};
  file.metadata["mpm_train.recipe"] = toJson(checkpoint.recipe).dump();
  file.metadata["mpm_train.step"] = std::to_string(checkpoint.step);
  file.metadata["mpm_train.seconds"] = std::to_string(checkpoint.seconds);
  writeTensorFile(path, file);
}

Checkpoint readCheckpoint(const std::string& path) {
  TensorFile file = readTensorFile(path);
  Checkpoint checkpoint;
  try {
    checkpoint.recipe = recipeOf(path, file.metadata.at("mpm_train.recipe"));
    checkpoint.step = std::stoi(file.metadata.at("mpm_train.step"));
    checkpoint.seconds = std::stod(file.metadata.at("mpm_train.seconds"));
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    throw Error("'" + path + "' is not a checkpoint of mpm-train");
  }
  if (const auto weights = file.tensors.extract(kClassWeights)) checkpoint.class_weights = weights.mapped().values;
  checkpoint.state = std::move(file.tensors);
  return checkpoint;
}

StartingWeights readStartingWeights(const std::string& path, const NetworkConfig& config, const TensorMap& fallback) {
  if (path.ends_with(".onnx")) try {
      OnnxWeights model = weightsOfOnnx(readFile(path));
      StartingWeights start{std::move(model.weights), config};
      start.config.input = model.input;
      return start;
    } catch (const Error& error) {
      throw Error("cannot start from '" + path + "': " + error.what());
    }
  TensorFile file = readTensorFile(path);
  StartingWeights start{{}, config};
  for (const auto& [name, tensor] : file.tensors)
    if (name.starts_with(kAverage)) start.weights[name.substr(std::string(kAverage).size())] = tensor;
  if (start.weights.empty())
    for (const auto& [name, tensor] : file.tensors)
      start.weights[name.starts_with("encoder.") || name.starts_with("decoder.") ? name : "encoder." + name] = tensor;

  if (const auto recipe = file.metadata.find("mpm_train.recipe"); recipe != file.metadata.end()) {
    start.config.input = recipeOf(path, recipe->second).size;
    return start;
  }
  const auto positions = start.weights.find("encoder.pos_embed");
  if (positions == start.weights.end() || positions->second.shape.size() != 3)
    throw Error("'" + path + "' is neither a checkpoint of mpm-train nor a timm ViT: it has no 'pos_embed'");
  // A ViT trained on square images says nothing about its grid.
  const int side = static_cast<int>(std::lround(std::sqrt(static_cast<double>(positions->second.shape[1] - 1))));
  start.config.input = {side * config.patch, side * config.patch};
  for (const auto& [name, tensor] : fallback)
    if (name.starts_with("decoder.")) start.weights.try_emplace(name, tensor);
  return start;
}

RunLog::RunLog(const std::string& path, int steps) : path_(path) {
  std::string kept;
  if (steps > 0 && std::filesystem::exists(path)) {
    std::istringstream old(readFile(path));
    for (std::string line; std::getline(old, line);) {
      try {
        if (JsonValue(line, path).at("step").count() <= steps) kept += line + '\n';
      } catch (const Error&) {  // the last line of a killed run may be cut
      }
    }
  }
  writeFileAtomically(path, kept, true);
  file_.open(path, std::ios::app);
  if (!file_) throw Error("cannot write '" + path + "'");
}

void RunLog::add(const Json& line) { file_ << line.dump() << '\n'; }

void RunLog::flush() {
  file_.flush();
  if (!file_) throw Error("cannot write '" + path_ + "': is the disk full?");
}

}  // namespace mpm::train
