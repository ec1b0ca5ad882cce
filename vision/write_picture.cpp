// SPDX-License-Identifier: Apache-2.0
#include <opencv2/imgcodecs.hpp>

#include "mpm/error.hpp"
#include "mpm/pictures.hpp"
#include "mpm/whole_file.hpp"

namespace mpm {

void writePicture(const std::string& path, const cv::Mat& picture) {
  std::vector<unsigned char> bytes;
  try {
    if (!cv::imencode(".png", picture, bytes)) bytes.clear();
  } catch (const cv::Exception&) {
    bytes.clear();
  }
  if (bytes.empty()) throw Error("cannot write '" + path + "': the picture does not encode as PNG");
  writeWholeFile(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace mpm
