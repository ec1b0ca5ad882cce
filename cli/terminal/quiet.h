// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpm::cli {

/// Keeps OpenCV and FFmpeg from writing to stderr beside our one line (they would show addresses with passwords, too).
/// OPENCV_LOG_LEVEL and OPENCV_FFMPEG_LOGLEVEL in the environment bring them back.
void quietOpenCv();

}  // namespace mpm::cli
