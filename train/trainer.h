// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "street_batches.h"

namespace mpm::train {

struct TrainingOptions {
  std::string folder;  ///< gets NAME.onnx and NAME.json
  std::string name = "segmenter";
  std::string init;                  ///< a model or "A.onnx:0.6,B.onnx:0.4"; empty: random weights
  std::optional<Size2> export_size;  ///< input of the ONNX file; nullopt: what was trained on
  bool half = true;                  ///< weights of the ONNX file stored as float16
  StreetOptions streets{.size = {256, 384}};
  int steps = 20000;
  std::string optimizer = "adamw";
  double lr = 1e-3;
  int warmup = 500;
  double final_share = 0.01;  ///< of the learning rate
  double average = 0.999;
  int label_stride = 1;
  std::string precision = "auto";
  int threads = 0;       ///< of LibTorch and of rendering each; 0: every core
  int save_every = 500;  ///< steps
  int log_every = 50;
  bool terminal = false;                    ///< draw a progress bar
  const std::atomic<bool>* stop = nullptr;  ///< once set, training writes the model and ends after the current step

  /// Throws mpm::Error naming the option.
  void validate() const;
};

/// Trains and writes the model, and returns the steps done. Throws mpm::Error.
int train(const TrainingOptions& options);

}  // namespace mpm::train
