// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

#include "base/random.h"
#include "mpm/options.hpp"

namespace mpm::train {

struct TrainingSample;

/// What is changed about an image at random while training.
struct AugmentationOptions {
  double scale_min = 0.75, scale_max = 1.5;  ///< of the image before a window of the input's size is cut out of it
  double flip = 0.5;                         ///< probability of a mirror image
  double brightness = 0.3;                   ///< largest change of the logarithm (base 2) of the exposure
  double contrast = 0.2;                     ///< largest relative change of the distance from mid-grey
  double saturation = 0.3;                   ///< largest relative change of the distance from grey
  double color = 0.06;                       ///< largest relative change of one channel (white balance)
  double noise = 0.3;                        ///< probability of extra sensor noise
  double dim = 0.1;                          ///< probability of an under-exposed image (a fifth to a half of the light)

  /// Throws mpm::Error.
  void validate() const;
};

/// A window of `size` out of `sample`, which is resized by a drawn factor first (1: the image just covers the window);
/// pixels beyond the image are black and labelled `ignore`.
TrainingSample randomWindow(const TrainingSample& sample, Size2 size, double scale, int ignore, Random& random);

/// Mirrors, changes colours and exposure, adds shot and read noise; labels stay true.
void augment(TrainingSample& sample, const AugmentationOptions& options, Random& random);

}  // namespace mpm::train
