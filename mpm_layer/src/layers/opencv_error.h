// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/dnn.hpp>
#include <string>

namespace mpm {

namespace opencv {

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

}  // namespace opencv

/// The message of an error of OpenCV in one line, without the places in its sources.
std::string withoutPlaces(const cv::Exception& error);

/// The message of an error of net.forward() for an input of this shape. Where OpenCV's own layer failed, which names
/// nothing, the node is found by trying: "node 'NAME' (TYPE): WHY".
std::string forwardError(cv::dnn::Net& net, const std::vector<int>& input, const cv::Exception& error);

}  // namespace mpm
