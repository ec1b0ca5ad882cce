// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "recipe.h"

namespace mpm::train {

/// How a recipe is carried out: nothing here changes which weights come out on the same machine.
struct RunOptions {
  std::string folder;  ///< gets checkpoint.safetensors, log.jsonl, NAME.onnx and NAME.json
  std::string name = "segmenter";
  bool resume = false;
  std::string device = "auto";  ///< cpu, cuda or auto
  int threads = 0;              ///< of LibTorch; 0: every core
  int workers = 0;              ///< that make images; 0: one per core, 16 at most
  int save_every = 500;         ///< steps
  int eval_every = 1000;
  int log_every = 50;
  std::optional<Size2> export_size;         ///< input of the ONNX file; nullopt: what was trained on
  bool half = true;                         ///< weights of the ONNX file stored as float16
  bool terminal = false;                    ///< draw a progress bar
  const std::atomic<bool>* stop = nullptr;  ///< once set, training saves and ends after the current step
};

struct RunResult {
  bool finished = false;  ///< false: stopped
  int step = 0;           ///< steps done
  std::string model;      ///< the ONNX file
};

/// Trains, evaluates, saves and exports. With options.resume the recipe is the checkpoint's. Throws mpm::Error.
RunResult train(Recipe recipe, const RunOptions& options);

}  // namespace mpm::train
