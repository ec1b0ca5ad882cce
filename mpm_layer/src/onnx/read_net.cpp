// SPDX-License-Identifier: Apache-2.0
#include "mpm/read_net.hpp"

#include <algorithm>
#include <opencv2/core/utils/logger.hpp>

#include "layers/opencv_adapter.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"

namespace mpm {
namespace {

/// OpenCV 4.6 warns once per node of a domain it does not know, although the layer is found. The caller's level is
/// restored whatever happens.
class QuietImport {
 public:
  QuietImport() : level_(cv::utils::logging::getLogLevel()) {
    cv::utils::logging::setLogLevel(std::min(level_, cv::utils::logging::LOG_LEVEL_ERROR));
  }
  ~QuietImport() { cv::utils::logging::setLogLevel(level_); }
  QuietImport(const QuietImport&) = delete;
  QuietImport& operator=(const QuietImport&) = delete;

 private:
  cv::utils::logging::LogLevel level_;
};

}  // namespace

cv::dnn::Net readNet(const std::string& onnx_path, const ReadOptions& options, ModelInfo* info) {
  registerLayers();
  ModelInfo found;
  const std::string bytes = convertModel(onnx_path, options, &found);
  if (info) *info = found;
  try {
    const QuietImport quiet;
    cv::dnn::Net net = opencv::readOnnx(bytes);
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
    return net;
  } catch (const cv::Exception& error) {
    throw Error(onnx_path + ": OpenCV " CV_VERSION " cannot run what follows the ViT: " + error.err);
  }
}

}  // namespace mpm
