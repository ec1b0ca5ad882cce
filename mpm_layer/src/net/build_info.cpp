// SPDX-License-Identifier: Apache-2.0
#include "mpm/build_info.hpp"

#include <opencv2/core/utility.hpp>

#include "kernels/instruction_set.h"
#include "kernels/precision.h"
#include "layers/device_net.h"
#include "mpm/version.hpp"

namespace mpm {

BuildInfo buildInfo() {
  return {MPM_VERSION,  cv::getVersionString(), instructionSet(), availableInstructionSets(),
          cpuHasBf16(), builtWithCuda(),        cudaDevices()};
}

}  // namespace mpm
