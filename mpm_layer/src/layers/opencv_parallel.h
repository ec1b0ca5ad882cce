// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/parallel.h"

namespace mpm {

/// The kernels' work on OpenCV's own threads, as many as cv::setNumThreads allows. Tasks start in order and each thread
/// takes the next one when it is done, so that unequal tasks balance.
class OpenCvParallel final : public Parallel {
 public:
  void run(int tasks, TaskRef body) const override;
  int threads() const override;
};

}  // namespace mpm
