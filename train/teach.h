// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "evaluation/confusion_matrix.h"
#include "program/teach_options.h"

namespace mpm::train {

/// What testing a head on pictures that it was not trained on gave.
struct CrossValidation {
  int rounds = 0;
  vision::ConfusionMatrix matrix;
  std::vector<int> pictures;  ///< of each class: in how many pictures it is labelled
};

/// For people: a line per class, the means, then which classes are good and which need more labels.
std::vector<std::string> verdict(const CrossValidation& result, const std::vector<std::string>& classes);

/// `mpm teach`. Prints to stdout; returns the exit status. Throws mpm::Error, and cli::UsageError where the command
/// line is wrong.
int teach(const cli::TeachOptions& options);

}  // namespace mpm::train
