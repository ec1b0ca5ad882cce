// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <optional>
#include <vector>

#include "kernels/parallel.h"
#include "mpm/reuse.hpp"
#include "net/graph_marks.h"

namespace mpm {

/// Decides which patches of a frame changed (docs/reuse.md). It compares the mean colours of the 4x4 cells of each
/// patch with those of the time when the patch was last computed, so slow drift adds up and is seen.
class ReuseGate {
 public:
  ReuseGate(const Reuse& options, const PatchPlaces& places) : options_(options), places_(places) {}

  struct Frame {
    bool key = false;          ///< everything must be computed: the first frame, or too much changed
    bool due = false;          ///< a key frame is due after this one: reuse is to be compared with it
    std::vector<int> changed;  ///< patches in raster order; all of a key frame
  };
  /// `picture` CV_8UC3, of the size of the network input. `seconds` since any start. Patches that changed count as
  /// computed from now on. `patches`: those that changed, ascending, if the caller knows it.
  Frame look(const cv::Mat& picture, double seconds, const Parallel& parallel,
             const std::optional<std::vector<int>>& patches = {});

  /// A key frame agreed so far with reuse, in percent. Steers the threshold towards Reuse::agreement.
  void compared(double agreement);
  /// Grey levels.
  double threshold() const { return options_.threshold.value_or(offset_ + std::max(0.0, noise_)); }
  /// Forgets earlier frames and what was learned of their camera. The next frame is a key frame.
  void reset();

 private:
  static constexpr double kOffset = 6;  ///< grey levels

  std::vector<int> changedPatches() const;
  std::vector<int> mostChanged(int count) const;

  Reuse options_;
  PatchPlaces places_;
  double offset_ = kOffset;  ///< grey levels that matter, beyond the noise
  double noise_ = -1;        ///< lower quartile over patches of the difference between successive frames; -1: not known
  double last_key_ = 0;      ///< s
  std::vector<float> reference_, before_, now_;  ///< {N, 16, 3}
};

}  // namespace mpm
