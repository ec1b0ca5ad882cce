// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/core/version.hpp>
#include <string>
#include <vector>

#include "layers/device_net.h"
#include "mpm/build_info.hpp"
#include "mpm/version.hpp"

namespace mpm {

/// The interface that the plug-in for NVIDIA GPUs, libmpm_cuda.so, exports: extern "C" const CudaPlugin*
/// mpm_cuda_plugin().
struct CudaPlugin {
  const char* version;  ///< kCudaPluginVersion of its build. First, so that every version can read it
  std::vector<CudaDevice> (*devices)();
  /// Throws mpm::Error when there is no such device.
  std::unique_ptr<DeviceNet> (*makeNet)(int device);
};
/// The types above are C++, so the library and the plug-in must come from the same version and the same OpenCV.
inline constexpr const char* kCudaPluginVersion = MPM_VERSION " for OpenCV " CV_VERSION;

/// The GPUs that nets can run on.
struct CudaDevices {
  std::vector<CudaDevice> devices;
  std::string problem;  ///< why there are none, in one line that says what to do
};
/// Loads the plug-in if it is not loaded yet. Thread-safe.
CudaDevices cudaDevices();

/// What the layers of a net share on this device. Throws mpm::Error when there is no plug-in or no such device.
std::unique_ptr<DeviceNet> makeDeviceNet(int device);

/// Loads a plug-in; it stays loaded. `file`: a path, or a name that the dynamic loader looks for. Throws mpm::Error.
const CudaPlugin& loadCudaPlugin(const char* file);

}  // namespace mpm
