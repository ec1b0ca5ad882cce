// SPDX-License-Identifier: Apache-2.0
#include "cli/pictures/contact_sheet.h"

#include <algorithm>
#include <numeric>
#include <opencv2/imgproc.hpp>

#include "program/terminal/output.h"
#include "vision/labels/classes.h"
#include "vision/pictures/lettering.h"
#include "vision/pictures/pictures.h"

namespace mpm::cli {

using namespace program;

namespace {

using vision::at, vision::kInk, vision::kSupersampling, vision::reduced, vision::textWidth, vision::write;

constexpr int kWidth = 480, kGap = 8, kTitle = 40, kCaption = 34, kLegendHeight = 32;
constexpr double kLetters = 12, kSwatch = 16, kText = 24, kMargin = 8, kLine = 24;

double legendWidth(const std::string& name) { return kText + textWidth(name, kLetters); }

void writeLegend(cv::Mat& picture, const std::string& name, const cv::Vec3b& color, double x, double y) {
  cv::rectangle(picture, at(x, y), at(x + kSwatch, y + kSwatch), color, cv::FILLED);
  cv::rectangle(picture, at(x, y), at(x + kSwatch, y + kSwatch), kInk, kSupersampling);
  write(picture, name, x + kText, y + 13, 0, kLetters);
}

}  // namespace

cv::Mat legendPicture(const ModelInfo& model, const std::set<int>& classes) {
  const std::vector<std::string> names = vision::classNames(model);
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

void ContactSheet::add(const std::string& title, const cv::Mat& image, const RunReport& result, const cv::Mat& labels) {
  // Drawn at the size of the sheet, so that the borders of the clusters stay sharp.
  const cv::Size size(kWidth, image.rows * kWidth / image.cols);
  cv::Mat small;
  cv::resize(image, small, size, 0, 0, cv::INTER_AREA);
  Column column{title, "tokens " + tokensText(result.tokens), {small}};
  if (!labels.empty()) {
    cv::Mat small_labels;
    cv::resize(labels, small_labels, size, 0, 0, cv::INTER_NEAREST);
    column.pictures.push_back(
        vision::overlayPicture(small, small_labels, vision::classColors(model_.facts, model_.classes), 0.6));
    for (const auto& [label, area] : vision::classAreas(small_labels)) areas_[label] += area;
  }
  if (!result.cluster_of_token.empty()) column.pictures.push_back(vision::mergePicture(small, result));
  columns_.push_back(std::move(column));
}

cv::Mat ContactSheet::picture() const {
  const int columns = static_cast<int>(columns_.size());
  int height = 0;
  for (const Column& column : columns_) {
    int own = kTitle + kCaption;
    for (const cv::Mat& picture : column.pictures) own += picture.rows + kGap;
    height = std::max(height, own);
  }
  cv::Mat sheet((height + kLegendHeight) * kSupersampling, (columns * (kWidth + kGap) + kGap) * kSupersampling, CV_8UC3,
                cv::Scalar::all(255));
  std::vector<std::pair<cv::Rect, const cv::Mat*>> places;
  for (int i = 0; i < columns; ++i) {
    const int x = kGap + i * (kWidth + kGap);
    int y = kTitle;
    write(sheet, columns_[i].title, x, y - 14, 0, 14);
    for (const cv::Mat& picture : columns_[i].pictures) {
      places.emplace_back(cv::Rect(x, y, picture.cols, picture.rows), &picture);
      y += picture.rows + kGap;
    }
    write(sheet, columns_[i].caption, x, y + 12, 0, 12);
  }

  std::vector<int> classes(areas_.size());
  std::iota(classes.begin(), classes.end(), 0);
  std::ranges::stable_sort(classes, [this](int a, int b) { return areas_[a] > areas_[b]; });
  const std::vector<std::string> names = vision::classNames(model_);
  const std::vector<cv::Vec3b> colors = vision::classColors(model_.facts, model_.classes);
  double x = kGap;
  for (int label : classes) {
    if (areas_[label] == 0 || x + legendWidth(names[label]) > columns * (kWidth + kGap)) break;
    writeLegend(sheet, names[label], colors[label], x, height);
    x += legendWidth(names[label]) + 24;
  }
  sheet = reduced(sheet);
  for (const auto& [place, picture] : places) picture->copyTo(sheet(place));
  return sheet;
}

}  // namespace mpm::cli
