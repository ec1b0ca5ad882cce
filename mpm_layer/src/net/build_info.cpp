// SPDX-License-Identifier: Apache-2.0
#include "mpm/build_info.hpp"

#include <opencv2/core/utility.hpp>

#include "kernels/instruction_set.h"
#include "kernels/precision.h"
#include "layers/cuda_plugin.h"
#include "mpm/version.hpp"

namespace mpm {

BuildInfo buildInfo() {
  const auto [devices, problem] = cudaDevices();
  return {MPM_VERSION,  cv::getVersionString(), instructionSet(), availableInstructionSets(),
          cpuHasBf16(), cpuHasFp16(),           cpuHasInt8(),     devices,
          problem};
}

}  // namespace mpm
