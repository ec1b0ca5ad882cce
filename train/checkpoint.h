// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>

#include "base/json_file.h"
#include "recipe.h"
#include "tensor_map.h"

namespace mpm::train {

/// A training run between two steps: what it needs to go on as if it had never stopped. There is no state of a random
/// generator in it, because every draw is a function of the recipe's seed and the number of the step.
struct Checkpoint {
  Recipe recipe;
  int step = 0;        ///< steps done
  double seconds = 0;  ///< of training so far
  std::vector<float> class_weights;
  TensorMap state;  ///< of the Learner
};

void writeCheckpoint(const std::string& path, const Checkpoint& checkpoint);
/// Throws mpm::Error naming the file.
Checkpoint readCheckpoint(const std::string& path);

/// Weights to start from, with the input size they were made for.
struct StartingWeights {
  TensorMap weights;
  NetworkConfig config;
};
/// A checkpoint (its average where it has one), an .onnx that mpm-train wrote, or a timm ViT as .safetensors (its
/// encoder; the decoder is then taken from `fallback`), whose tensors fit `config` but for the grid and the classes.
StartingWeights readStartingWeights(const std::string& path, const NetworkConfig& config, const TensorMap& fallback);

/// log.jsonl: the loss of every step and every evaluation, a JSON object per line, "step" first. It holds no times, so
/// a run that was killed and resumed leaves the same bytes as one that was not.
class RunLog {
 public:
  /// Keeps the lines of the first `steps` steps of an older log and appends from there. Throws mpm::Error.
  RunLog(const std::string& path, int steps);

  void add(const Json& line);
  void flush();

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace mpm::train
