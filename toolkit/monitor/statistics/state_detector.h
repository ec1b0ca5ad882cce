// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/states.h"
#include "monitor/statistics/state_count.h"
#include "monitor/store/sample.h"
#include "mpm/estimator.hpp"
#include "vision/times/due.h"

namespace mpm::monitor {

struct StateOptions {
  std::vector<evaluation::StateHead> heads{};
  std::vector<std::string> files{};  ///< that the heads were read from, in their order; empty: from none
  /// A state counts after so many sure results in turn that agree; one that is not sure does not count. Where pictures
  /// are a minute or more apart, the first sure one counts: what lies between them is not known.
  int after = 3;

  /// Throws mpm::Error for two heads of one name.
  void validate() const;
  /// The digests, by their names, of the heads that read the tokens of this model.
  std::map<std::string, std::string> digests(const std::string& model_digest) const;
};

/// Reads the states of samples, and says when one changes. Not thread-safe.
class StateDetector {
 public:
  /// Throws mpm::Error as StateOptions::validate().
  explicit StateDetector(StateOptions options = {});

  /// What heads are read from.
  struct Seen {
    const cv::Mat& image;      ///< of the camera
    const Estimate& estimate;  ///< of all of it, with features
    std::string digest;        ///< of the model
    UnixMs time = 0;
    ViewMotion moved{};   ///< as RegionMeter::measure()
    bool sparse = false;  ///< the sample before is a minute or more away, and StateOptions::after is 1
    /// Runs the same model on a cut-out of the image, for heads that look at one; null: these heads are not read.
    std::function<Estimate(const cv::Mat& cut_out)> look{};
    /// The pixels that must not be seen, which become black in a cut-out: CV_8U of the size of the image, 255 there;
    /// null, or an empty result: none.
    std::function<cv::Mat()> hidden{};
  };

  /// Reads each head whose model this is and whose region the picture shows. A head that looks at cut-outs repeats its
  /// last answer until it looks again. Adds what changed to `events`.
  std::vector<StateSample> read(const Seen& seen, std::vector<Event>& events);

  /// Counts on from these, of an earlier watch.
  void resume(const std::vector<StateSample>& samples);

 private:
  struct Tracked;
  static cv::Mat featuresOf(Tracked& tracked, const Seen& seen, std::vector<Event>& events);

  struct Tracked {
    evaluation::StateHead head;
    StateCount count{};
    bool refused = false, failed = false;  // and reported
    evaluation::StateView view{};          // for `picture` and `moved`
    std::optional<vision::Due> look{};     // of a head of cut-outs: when it looks at one
    std::optional<StateSample> last{};     // and what it saw, which holds until it looks again
    cv::Size picture{};
    ViewMotion moved{};
  };

  StateOptions options_;
  std::vector<Tracked> tracked_;
};

}  // namespace mpm::monitor
