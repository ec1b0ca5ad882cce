// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "mpm/model_info.hpp"
#include "mpm/run_report.hpp"
#include "vision/sources/source.h"

namespace mpm::cli {

/// Token counts of frames that know their time.
class TokenHistory {
 public:
  explicit TokenHistory(const ModelInfo& model) : model_(model) {}

  /// Throws UsageError when the frame does not know its time.
  void add(const vision::Frame& frame, const RunReport& result);

  /// A line for each insertion over time, nights shaded; frames of one moment (several streets) become mean and band.
  cv::Mat chart() const;
  /// A heading, then a line for each hour of the day (UTC) that has frames.
  std::vector<std::string> hours() const;

 private:
  struct Moment {
    double sun_elevation = 0;
    std::vector<std::vector<double>> tokens;  // of each frame
  };
  const ModelInfo& model_;
  std::map<double, Moment> moments_;  // by unix time
};

}  // namespace mpm::cli
