// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal/output.h"
#include "vision/estimate_files.h"

namespace mpm::cli {

/// What a model gave for one frame.
struct FrameAnswer {
  RunReport report;
  cv::Mat labels;    ///< of the task semantic; else empty
  std::string text;  ///< end of the frame's line: "road 40 %, sky 31 %"
  Json fields;       ///< of the frame's line of --json, besides those that every task has
  vision::EstimateFiles files;
};

/// What `mpm run` lets a person choose.
struct TaskOptions {
  std::optional<Task> task;  ///< nullopt: that of the model
  std::optional<double> min_score, min_overlap;
};

/// A model at work in `mpm run`, for one task.
class FrameTask {
 public:
  explicit FrameTask(Estimator estimator) : estimator_(std::move(estimator)) {}
  virtual ~FrameTask() = default;

  const ModelInfo& model() const { return vision::modelOf(estimator_); }
  /// Of FrameAnswer::files.
  virtual std::vector<std::string> endings() const = 0;
  /// Without `draw` there are no files.
  FrameAnswer answer(const cv::Mat& image, bool draw) {
    return describe(vision::estimate(estimator_, image), image, draw);
  }
  /// The colours of all pictures so far; empty when they need none.
  virtual cv::Mat legend() const { return {}; }
  /// The pictures of this frame, of an earlier run, count for the legend too.
  virtual void addEarlier(const Json&) {}

 private:
  virtual FrameAnswer describe(const vision::Estimate& result, const cv::Mat& image, bool draw) = 0;

  Estimator estimator_;
};

/// Reads the model; one without a task gives tokens and merge maps alone. Throws mpm::Error when the model cannot do
/// the task, UsageError for options of another one.
std::unique_ptr<FrameTask> frameTask(const std::string& model, const SegmenterOptions& options,
                                     const TaskOptions& wanted);

}  // namespace mpm::cli
