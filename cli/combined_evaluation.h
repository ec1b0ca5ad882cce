// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "evaluation/scores.h"

namespace mpm::cli {

/// Results of `mpm eval --json` on parts of the images, added up.
struct CombinedEvaluation {
  Json settings;  ///< of all parts; "shard" is null
  std::vector<std::string> names;
  evaluation::Evaluation sum;
};

/// Throws mpm::Error when a file is no such result, when two differ in settings or classes, or when some of N shards
/// are there and others are missing.
CombinedEvaluation combineEvaluations(const std::vector<std::string>& files);

}  // namespace mpm::cli
