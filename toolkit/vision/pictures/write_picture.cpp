// SPDX-License-Identifier: Apache-2.0
#include <opencv2/imgcodecs.hpp>

#include "base/atomic_file.h"
#include "mpm/error.hpp"
#include "vision/pictures/pictures.h"

namespace mpm::vision {

void writePicture(const std::string& path, const cv::Mat& picture) {
  std::vector<unsigned char> bytes;
  const bool jpeg = path.ends_with(".jpg");
  try {
    if (!cv::imencode(jpeg ? ".jpg" : ".png", picture, bytes)) bytes.clear();
  } catch (const cv::Exception&) {
    bytes.clear();
  }
  if (bytes.empty())
    throw Error("cannot write '" + path + "': the picture does not encode as " + (jpeg ? "JPEG" : "PNG"));
  writeFileAtomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace mpm::vision
