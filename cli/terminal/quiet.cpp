// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/quiet.h"

#include <cstdlib>
#include <opencv2/core/utils/logger.hpp>

namespace mpm::cli {

void quietOpenCv() {
  if (!std::getenv("OPENCV_LOG_LEVEL")) cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  ::setenv("OPENCV_FFMPEG_LOGLEVEL", "-8", 0);  // AV_LOG_QUIET
}

}  // namespace mpm::cli
