// SPDX-License-Identifier: Apache-2.0
#include "layers/cuda_plugin.h"
#include "mpm/error.hpp"

#ifndef FAKE_VERSION
#define FAKE_VERSION mpm::kCudaPluginVersion
#endif

namespace {

std::vector<mpm::CudaDevice> devices() {
  std::vector<mpm::CudaDevice> found;
  for (int i = 0; i < FAKE_DEVICES; ++i) found.push_back({i, "broken GPU", 1, 9, 0});
  return found;
}

std::unique_ptr<mpm::DeviceNet> makeNet(int device) {
  if (device == 0) throw mpm::Error("this GPU is out of order");
  CV_Error(cv::Error::GpuApiCallError, "this GPU too");
}

}  // namespace

extern "C" MPM_API const mpm::CudaPlugin* mpm_cuda_plugin() {
  static const mpm::CudaPlugin plugin = {FAKE_VERSION, devices, makeNet};
  return &plugin;
}
