// SPDX-License-Identifier: Apache-2.0
#include "mpm/read_net.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <atomic>
#include <mutex>
#include <opencv2/core/utils/logger.hpp>

#include "layers/device_net.h"
#include "layers/mpm_layer.h"
#include "layers/opencv_adapter.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "onnx/device_word.h"
#include "onnx/placement.h"

namespace mpm {
namespace {

/// OpenCV 4.6 warns once per node of a domain it does not know, although the layer is found. The caller's level is
/// restored whatever happens. It is one for the whole process, and imports run side by side: the first lowers it, the
/// last restores it.
class QuietImport {
 public:
  QuietImport() {
    const std::lock_guard lock(mutex_);
    if (running_++ > 0) return;
    level_ = cv::utils::logging::getLogLevel();
    cv::utils::logging::setLogLevel(std::min(level_, cv::utils::logging::LOG_LEVEL_ERROR));
  }
  ~QuietImport() {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) cv::utils::logging::setLogLevel(level_);
  }
  QuietImport(const QuietImport&) = delete;
  QuietImport& operator=(const QuietImport&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int running_ = 0;
  static inline cv::utils::logging::LogLevel level_{};
};

/// Gives the system back what reading a model took: glibc keeps freed memory of this size for the process, which would
/// stay several times as large as the net for as long as it runs.
void returnFreedMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// Index of the GPU that the options ask for, or nothing for the CPU.
std::optional<int> chosenDevice(const ReadOptions& options) {
  const DeviceWord asked = parseDevice(options.device);
  if (asked.kind == DeviceWord::Kind::kCpu) return std::nullopt;
  const std::vector<CudaDevice> devices = cudaDevices();
  if (asked.kind == DeviceWord::Kind::kAuto && devices.empty()) return std::nullopt;
  const auto no = [&](const std::string& why) { throw Error("device '" + options.device + "': " + why); };
  if (!builtWithCuda()) no("this build of libmpm_layer has no CUDA (MPM_WITH_CUDA), only the device cpu");
  if (devices.empty()) no("no CUDA device or no driver for one was found, only the device cpu");
  const int index = asked.index.value_or(devices.front().index);
  std::string names;
  for (const CudaDevice& device : devices) {
    if (device.index == index) return index;
    names += (names.empty() ? "" : ", ") + ("cuda:" + std::to_string(device.index)) + " (" + device.name + ")";
  }
  no("this machine does not have it; it has cpu, " + names);
  return std::nullopt;
}

}  // namespace

cv::dnn::Net readNet(const std::string& onnx_path, const ReadOptions& options, ModelInfo* info) {
  static std::atomic<int> sessions{0};
  registerLayers();
  const std::optional<int> device = chosenDevice(options);
  ModelInfo found;
  std::string bytes = convertModel(onnx_path, options, &found);
  if (device) bytes = onnx_graph::placedOnDevice(bytes, *device, ++sessions);
  if (info) *info = found;
  try {
    cv::dnn::Net net;
    {
      const QuietImport quiet;
      net = opencv::readOnnx(bytes);
    }
    std::string().swap(bytes);
    returnFreedMemory();
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
    return net;
  } catch (const cv::Exception& error) {
    throw Error(onnx_path + ": OpenCV " CV_VERSION " cannot run what follows the ViT: " + opencv::oneLine(error));
  }
}

void bringToHost(cv::dnn::Net& net, const std::string& name) {
  if (const cv::Ptr<MpmLayer> layer = findLayer(net, name)) layer->bringToHost();
}

}  // namespace mpm
