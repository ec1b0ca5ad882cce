// SPDX-License-Identifier: Apache-2.0
#include "layers/cuda_plugin.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <opencv2/core/utility.hpp>

#include "kernels/instruction_set.h"
#include "kernels/precision.h"
#include "mpm/error.hpp"

#define MPM_TEXT_OF(number) #number
#define MPM_TEXT(number) MPM_TEXT_OF(number)
#define MPM_SERIES MPM_TEXT(MPM_VERSION_MAJOR) "." MPM_TEXT(MPM_VERSION_MINOR)

namespace mpm {
namespace {

/// MPM_CUDA_PLUGIN, else the file in the folder of this library, else the name alone, for the dynamic loader.
std::string pluginFile() {
  constexpr const char* kName = "libmpm_cuda.so." MPM_SERIES;
  if (const char* const named = std::getenv("MPM_CUDA_PLUGIN")) return named;
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&loadCudaPlugin), &self) != 0) {
    const std::filesystem::path beside = std::filesystem::path(self.dli_fname).replace_filename(kName);
    std::error_code error;
    if (std::filesystem::exists(beside, error)) return beside.string();
  }
  return kName;
}

const CudaPlugin& plugin() {
  static const CudaPlugin& loaded = loadCudaPlugin(pluginFile().c_str());  // tried again after an error
  return loaded;
}

}  // namespace

const CudaPlugin& loadCudaPlugin(const char* file) {
  constexpr const char* kAdvice =
      "; install libmpm_cuda " MPM_VERSION " (docs/cuda.md; Python wheels have none), or use the device cpu";
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error(std::string("the CUDA plug-in was not loaded (") + dlerror() + ")" + kAdvice);
  const auto entry = reinterpret_cast<const CudaPlugin* (*)()>(dlsym(library, "mpm_cuda_plugin"));
  if (entry == nullptr) throw Error("'" + std::string(file) + "' is not a CUDA plug-in of mpm_layer" + kAdvice);
  const CudaPlugin& found = *entry();
  if (found.version != std::string(kCudaPluginVersion)) {
    throw Error("the CUDA plug-in '" + std::string(file) + "' is version " + found.version +
                " and libmpm_layer is version " + kCudaPluginVersion + kAdvice);
  }
  return found;
}

CudaDevices cudaDevices() {
  try {
    std::vector<CudaDevice> devices = plugin().devices();
    const bool none = devices.empty();
    return {std::move(devices),
            none ? "no NVIDIA GPU with a working driver was found; see nvidia-smi, or use the device cpu" : ""};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

std::unique_ptr<DeviceNet> makeDeviceNet(int device) { return plugin().makeNet(device); }

BuildInfo buildInfo() {
  const auto [devices, problem] = cudaDevices();
  return {MPM_VERSION,      cv::getVersionString(), instructionSet(), availableInstructionSets(),
          cpuHasFastBf16(), cpuHasFp16(),           cpuHasInt8(),     devices,
          problem};
}

}  // namespace mpm
