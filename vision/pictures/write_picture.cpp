// SPDX-License-Identifier: Apache-2.0
#include <opencv2/imgcodecs.hpp>

#include "base/atomic_file.h"
#include "mpm/error.hpp"
#include "vision/pictures/pictures.h"

namespace mpm::vision {

void writePicture(const std::string& path, const cv::Mat& picture) {
  std::vector<unsigned char> bytes;
  try {
    if (!cv::imencode(".png", picture, bytes)) bytes.clear();
  } catch (const cv::Exception&) {
    bytes.clear();
  }
  if (bytes.empty()) throw Error("cannot write '" + path + "': the picture does not encode as PNG");
  writeFileAtomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace mpm::vision
