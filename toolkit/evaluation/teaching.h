// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "evaluation/confusion_matrix.h"
#include "mpm/options.hpp"
#include "vision/labels/classes.h"
#include "vision/labels/labelled_picture.h"

namespace mpm::evaluation {

/// The test of a head on pictures that it was not trained on.
struct CrossValidation {
  int rounds = 0;
  ConfusionMatrix matrix;
  std::vector<int> pictures;  ///< of each class: in how many pictures it is labelled
};

/// A model to be made of labelled pictures: `mpm teach`, the app, mpm.teach() in Python.
struct TeachJob {
  std::string model;  ///< a plain ViT, whose encoder is used
  vision::ClassList classes;
  std::string output;  ///< the new ONNX file
  std::size_t pictures = 0;
  std::function<vision::LabelledPicture(std::size_t)> picture =
      {};  ///< of an index; called twice, so that one is in memory
  Reduction reduce = kFullModel;
  bool cross_validation = true;
  int steps = 150;  ///< of the optimiser
  std::uint64_t seed = 1;
  /// Called after each part of the work, so many are done of so many; false ends it.
  std::function<bool(int done, int of)> progress = {};
};

/// An Error about what a TeachJob says, whatever its model: classes, labels, the name of the new file.
struct TeachJobError : Error {
  using Error::Error;
};

struct Taught {
  vision::ClassList classes;
  std::size_t pictures = 0;  ///< that hold a label
  Reduction reduce;
  std::optional<CrossValidation> validation = {};  ///< nullopt: not wanted, or of one picture alone
};

/// Trains a head and writes the model with its JSON, both or none; nullopt: `progress` ended it, and nothing is
/// written. The cross-validation trains on some pictures and tests on the others, in at most five rounds. Throws
/// TeachJobError for wrong classes or labels and a class without a pixel, mpm::Error for a model that cannot be taught
/// and a file that cannot be written.
std::optional<Taught> teach(const TeachJob& job);

/// {"pictures", "reduce", "cross_validation": {"rounds", "miou", ...}}, in percent ('mpm teach --help').
Json toJson(const Taught& taught);

}  // namespace mpm::evaluation
