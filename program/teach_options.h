// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "mpm/options.hpp"

namespace mpm::cli {

/// What `mpm teach` and `mpm-train teach`, which does the work, are asked for.
struct TeachOptions {
  std::string images, labels;                    ///< folders; a label map has the name of its picture
  std::string classes;                           ///< JSON file; empty: the classes of the model
  std::string model;                             ///< empty: the default model
  std::string output;                            ///< the new ONNX file
  std::optional<Reduction> reduce = kFullModel;  ///< never nullopt
  bool cross_validation = true;
  int steps = 150;  ///< of the optimiser
  std::uint64_t seed = 1;
  int threads = 0;    ///< 0: all
  bool json = false;  ///< results and progress as lines of JSON
};

/// The options and the help text.
void addTeachOptions(CLI::App& verb, TeachOptions& options);

}  // namespace mpm::cli
