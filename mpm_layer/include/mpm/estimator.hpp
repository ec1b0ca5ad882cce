// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "mpm/depth_estimator.hpp"
#include "mpm/export.hpp"
#include "mpm/panoptic_segmenter.hpp"
#include "mpm/segmenter.hpp"

namespace mpm {

/// What takes images, by the task of a model.
using Estimator = std::variant<Segmenter, PanopticSegmenter, DepthEstimator>;

/// Of SegmenterOptions, `read`, `threads` and `inspect` count for every task, the others for labels.
struct EstimatorOptions : SegmenterOptions {
  std::optional<Task> task = {};  ///< nullopt: that of the model
  /// As in PanopticOptions.
  double min_score = PanopticOptions().min_score, min_overlap = PanopticOptions().min_overlap;
  bool labels = false;  ///< the same: also fill PanopticMap::labels
};

/// Reads and converts a model once, and returns what its task needs. A model without a task (a classifier, features)
/// becomes a Segmenter that gives tokens and merge maps. Throws mpm::Error when readNet() does, for options out of
/// range, for a model that cannot do `options.task`, and for labels of more than 256 classes.
MPM_API Estimator readEstimator(const std::string& model, const EstimatorOptions& options = {});

}  // namespace mpm
