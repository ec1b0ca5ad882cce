// SPDX-License-Identifier: Apache-2.0
// Of a build without CUDA this is all that there is of devices.
#include "layers/device_net.h"
#include "mpm/error.hpp"

namespace mpm {

std::shared_ptr<DeviceNet> joinDeviceNet(int, int) { throw Error("this build has no CUDA, so no net can run on it"); }

bool builtWithCuda() { return false; }

std::vector<CudaDevice> cudaDevices() { return {}; }

}  // namespace mpm
