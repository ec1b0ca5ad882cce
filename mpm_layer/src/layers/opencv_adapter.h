// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/core/version.hpp>
#include <opencv2/dnn.hpp>
#include <opencv2/dnn/layer.details.hpp>
#include <sstream>
#include <string>
#include <vector>

#if CV_VERSION_MAJOR >= 5
// cv::dnn::Layer of OpenCV 5 has members `inputs` and `outputs`, the names of our parameters.
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/// All differences between OpenCV 4.6 and 5.0 that matter to layers.
namespace mpm::opencv {

/// True when the new engine of OpenCV 5 may run nodes. It knows a custom operator by its bare name and passes constants
/// as inputs.
inline constexpr bool kHasNewEngine = CV_VERSION_MAJOR >= 5;

/// A vector in 4.x, a class with explicit constructors in 5.0.
#if CV_VERSION_MAJOR >= 5
using MatShape = cv::MatShape;
#else
using MatShape = cv::dnn::MatShape;
#endif

/// The message of an error in one line. OpenCV writes comparisons on several lines.
inline std::string oneLine(const cv::Exception& error) {
  std::istringstream words(error.err);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// Throws what the layer says of the shapes that reach it from an input of this shape.
inline void inferShapes(const cv::dnn::Net& net, const std::vector<int>& input, int layer) {
  std::vector<MatShape> inputs, outputs;
#if CV_VERSION_MAJOR >= 5
  net.getLayerShapes(MatShape(input), CV_32F, layer, inputs, outputs);
#else
  net.getLayerShapes(input, layer, inputs, outputs);
#endif
}

/// Notices an input of the net that setInput() does not write any more. After a blob of the same shape and another
/// type, OpenCV 4 copies this and all that follow into other memory than the layers read, and says nothing. The memory
/// that they read has one owner less then.
class LeftBehind {
 public:
  /// `input`: as the layer is given it, each time.
  bool is([[maybe_unused]] const cv::Mat& input) {
#if CV_VERSION_MAJOR < 5
    const int owners = input.u != nullptr ? input.u->refcount : 0;
    if (input.data == data_) return owners < owners_;
    data_ = input.data;
    owners_ = owners;
#endif
    return false;
  }

 private:
  const void* data_ = nullptr;
  int owners_ = 0;
};

/// Silences OpenCV's log while it lives: 4.6 warns once per node of an unknown domain although the layer is found, 5.0
/// of any target, and both write several lines about an exception that its receiver words better. The log level belongs
/// to the whole process and threads overlap: the first one lowers it, the last one restores it.
class QuietLog {
 public:
  QuietLog() {
    const std::lock_guard lock(mutex_);
    if (running_++ == 0) level_ = cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  }
  ~QuietLog() {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) cv::utils::logging::setLogLevel(level_);
  }
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int running_ = 0;
  static inline cv::utils::logging::LogLevel level_{};
};

}  // namespace mpm::opencv

namespace mpm {

/// The message of an error of OpenCV in one line, without the places in its sources.
std::string withoutPlaces(const cv::Exception& error);

/// The message of an error of net.forward() for an input of this shape: what our own layer said, or "OpenCV VERSION
/// cannot run it: node 'NAME' (TYPE): WHY". OpenCV's own layers name nothing, so the node is found by trying.
std::string forwardError(cv::dnn::Net& net, const std::vector<int>& input, const cv::Exception& error);

}  // namespace mpm
