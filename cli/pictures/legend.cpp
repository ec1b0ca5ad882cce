// SPDX-License-Identifier: Apache-2.0
#include "cli/pictures/legend.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "cli/class_names.h"
#include "cli/pictures/lettering.h"
#include "vision/pictures.h"

namespace mpm::cli {
namespace {

constexpr double kLetters = 12, kSwatch = 16, kText = 24, kMargin = 8, kLine = 24;

}  // namespace

double legendWidth(const std::string& name) { return kText + textWidth(name, kLetters); }

void writeLegend(cv::Mat& picture, const std::string& name, const cv::Vec3b& color, double x, double y) {
  cv::rectangle(picture, at(x, y), at(x + kSwatch, y + kSwatch), color, cv::FILLED);
  cv::rectangle(picture, at(x, y), at(x + kSwatch, y + kSwatch), kInk, kSupersampling);
  write(picture, name, x + kText, y + 13, 0, kLetters);
}

cv::Mat legendPicture(const ModelInfo& model, const std::set<int>& classes) {
  const std::vector<std::string> names = classNames(model);
  const std::vector<cv::Vec3b> colors = vision::classColors(model.facts, model.classes);
  double width = 0, y = kMargin;
  for (int label : classes) width = std::max(width, legendWidth(names[label]));
  const cv::Point size = at(width + 2 * kMargin, kLine * static_cast<double>(classes.size()) + kMargin);
  cv::Mat picture(size.y, size.x, CV_8UC3, cv::Scalar::all(255));
  for (int label : classes) {
    writeLegend(picture, names[label], colors[label], kMargin, y);
    y += kLine;
  }
  return reduced(picture);
}

}  // namespace mpm::cli
