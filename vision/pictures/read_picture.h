// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>

namespace mpm::vision {

/// The pixels in a regular file, as cv::imread() gives them with these flags. Throws mpm::Error in one line that names
/// the file and says why it cannot be read: what is damaged does not reach libpng, which would write to the terminal.
cv::Mat readPictureFile(const std::string& path, int flags);

}  // namespace mpm::vision
