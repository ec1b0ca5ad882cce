// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <opencv2/core.hpp>
#include <string>

namespace mpm::vision {

/// The pixels in a regular file, as cv::imread() gives them with these flags. Throws mpm::Error in one line that names
/// the file and says why it cannot be read; the decoders write nothing to the terminal.
cv::Mat readPictureFile(const std::string& path, int flags);

/// Tells pictures of one name apart: a hash of the size of the file and of three parts of 16 KiB, so that an archive of
/// a million pictures is not read as a whole. 0: the file cannot be read.
std::int64_t pictureDigest(const std::string& path);

}  // namespace mpm::vision
