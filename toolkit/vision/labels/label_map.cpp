// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/label_map.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>

#include "mpm/error.hpp"
#include "vision/pictures/read_picture.h"

namespace mpm::vision {
namespace fs = std::filesystem;

namespace {

// OpenCV gives the colours of a palette, never the indices.
bool hasPalette(const std::string& path) {
  char header[26];  // of a PNG: its signature, then length, name, width, height, depth and kind of colours
  std::ifstream file(path, std::ios::binary);
  return file.read(header, sizeof header) && std::string(header + 12, 4) == "IHDR" && header[25] == 3;
}

}  // namespace

cv::Mat readLabelMap(const std::string& path) {
  const cv::Mat labels = readPictureFile(path, cv::IMREAD_UNCHANGED);
  if (labels.type() != CV_8UC1 && hasPalette(path))
    throw Error("label map '" + path + "' has a palette: write the class indices as grey values, without one");
  if (labels.type() != CV_8UC1)
    throw Error("label map '" + path + "' must have one channel of 8 bits, the class index of each pixel");
  return labels;
}

std::map<std::string, std::string> labelMapFiles(const std::string& folder) {
  std::map<std::string, std::string> labels;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string extension = boost::algorithm::to_lower_copy(path.extension().string());
    if (extension != ".png" && extension != ".bmp" && extension != ".tif") continue;
    const auto [other, fresh] = labels.emplace(path.stem().string(), path.string());
    if (!fresh)
      throw Error("two label maps for '" + other->first + "': '" + std::min(other->second, path.string()) + "' and '" +
                  std::max(other->second, path.string()) + "'");
  }
  if (error) throw Error("cannot read the folder of labels '" + folder + "': " + error.message());
  return labels;
}

LabelMeaning::LabelMeaning(const std::vector<int>& ignored, int offset, int classes, int void_label)
    : offset_(offset), classes_(classes), void_(void_label < 0 ? 255 : void_label) {
  for (int label = 0; label < 256; ++label) {
    const bool is_ignored = std::ranges::find(ignored, label) != ignored.end();
    class_of_[label] = is_ignored ? kVoid : std::max(label + offset, kVoid);
  }
  if (void_label < 0) chooseVoidLabel();
}

LabelMeaning::LabelMeaning(const std::array<int, 256>& class_of_label, int classes)
    : offset_(0), classes_(classes), void_(255), class_of_(class_of_label) {
  chooseVoidLabel();
}

void LabelMeaning::chooseVoidLabel() {
  while (void_ >= 0 && std::ranges::find(class_of_, void_) != class_of_.end()) --void_;
}

cv::Mat LabelMeaning::applied(const cv::Mat& labels) const {
  std::array<bool, 256> occurs{};
  for (int y = 0; y < labels.rows; ++y)
    for (int x = 0; x < labels.cols; ++x) occurs[labels.ptr<unsigned char>(y)[x]] = true;
  cv::Mat table(1, 256, CV_8U, cv::Scalar(0)), classes;
  for (int label = 0; label < 256; ++label) {
    const int value = class_of_[label];
    if (value >= classes_ && occurs[label])
      throw Error("the label map holds the label " + std::to_string(label) +
                  (offset_ == 0 ? "" : ", with the offset " + std::to_string(value)) +
                  ", which is neither one of the " + std::to_string(classes_) + " classes nor ignored");
    table.at<unsigned char>(label) = static_cast<unsigned char>(value == kVoid ? void_ : value);
  }
  cv::LUT(labels, table, classes);
  return classes;
}

}  // namespace mpm::vision
