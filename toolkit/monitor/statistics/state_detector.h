// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "evaluation/states.h"
#include "monitor/store/sample.h"
#include "mpm/estimator.hpp"

namespace mpm::monitor {

struct StateOptions {
  std::vector<evaluation::StateHead> heads{};
  /// A state counts after so many sure results in turn that agree; one that is not sure does not count. Where pictures
  /// are a minute or more apart, the first sure one counts: what lies between them is not known.
  int after = 3;

  /// Throws mpm::Error for two heads of one name.
  void validate() const;
};

/// Reads the states of samples, and says when one changes. Not thread-safe.
class StateDetector {
 public:
  /// Throws mpm::Error as StateOptions::validate().
  explicit StateDetector(StateOptions options = {});

  /// Reads each head whose model this is and whose region the picture shows. `estimate` with features. Adds what
  /// changed to `events`. `digest`: of the model; `moved`: as RegionMeter::measure(); `sparse`: the sample before is a
  /// minute or more away, and StateOptions::after is 1.
  std::vector<StateSample> read(const Estimate& estimate, const std::string& digest, cv::Size picture, UnixMs time,
                                const ViewMotion& moved, std::vector<Event>& events, bool sparse = false);

  /// Counts on from these, of an earlier watch.
  void resume(const std::vector<StateSample>& samples);

 private:
  struct Watched {
    evaluation::StateHead head;
    int counted = -1, candidate = -1, results = 0;  // -1: none yet
    bool fresh = true;                              // nothing was read yet
    bool refused = false;                           // and reported
    cv::Mat shares{};                               // of the patches, for `picture` and `moved`
    cv::Size picture{};
    ViewMotion moved{};
  };

  StateOptions options_;
  std::vector<Watched> watched_;
};

}  // namespace mpm::monitor
