// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/parallel.h"

namespace mpm {

/// Runs the tasks of kernels on OpenCV's threads, as many as cv::setNumThreads allows. Tasks start in order, and a
/// thread takes the next one when it is done, so unequal tasks balance.
class OpenCvParallel final : public Parallel {
 public:
  void run(int tasks, TaskRef body) const override;
  int threads() const override;
};

}  // namespace mpm
