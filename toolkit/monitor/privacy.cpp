// SPDX-License-Identifier: Apache-2.0
#include "monitor/privacy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>

#include "base/visible_text.h"
#include "monitor/statistics/region_meter.h"
#include "vision/labels/classes.h"

namespace mpm::monitor {
namespace {

constexpr int kCell = 8;     // px: blur is decided for cells of this size
constexpr int kAcross = 24;  // a blurred picture has at most this many colours in its width
constexpr double kNever = -1e18;

// Indices of the classes in this model; empty where it lacks one.
std::vector<int> indicesOf(const std::vector<std::string>& classes, const ModelInfo& model) {
  const auto names = vision::classNames(model);
  std::vector<int> indices;
  for (const std::string& name : classes) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return {};
    indices.push_back(static_cast<int>(found - names.begin()));
  }
  return indices;
}

cv::Mat blurred(const cv::Mat& image) {
  cv::Mat few, result;
  const int width = std::clamp(image.cols / kCell, 1, kAcross), height = std::max(1, image.rows * width / image.cols);
  cv::resize(image, few, {width, height}, 0, 0, cv::INTER_AREA);
  cv::resize(few, result, image.size(), 0, 0, cv::INTER_LINEAR);
  return result;
}

}  // namespace

std::string PrivacyOptions::text() const {
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? " " : ", ") + visibleText(name);
    return text;
  };
  return "pictures" + (hidden.empty() ? "" : " hide" + list(vision::namesOf(hidden))) +
         (hidden.empty() || blurred.empty() ? "" : " and") + (blurred.empty() ? "" : " blur" + list(blurred));
}

Privacy::Privacy(PrivacyOptions options) : options_(std::move(options)) { vision::check(options_.hidden); }

const cv::Mat& Privacy::seen(const InferenceResult& result, cv::Size cells) {
  const cv::Mat& labels = result.estimate.labels;
  const auto indices = indicesOf(options_.blurred, *result.model);
  if (seen_.size() != cells) seen_ = cv::Mat(cells, CV_64F, cv::Scalar::all(kNever));
  const auto now = static_cast<double>(result.frame.time);
  if (labels.empty() || indices.empty()) {
    seen_.setTo(now);
    return seen_;
  }
  cv::Mat found = cv::Mat::zeros(labels.size(), CV_8U), cell;
  for (const int index : indices) found |= labels == index;
  const int margin = static_cast<int>(std::ceil(options_.margin * std::max(cells.width, cells.height)));
  // The mean of a cell would round a single pixel away.
  const int reach = std::max(1, (labels.cols + cells.width - 1) / cells.width);
  cv::dilate(found, found, cv::Mat::ones(2 * reach + 1, 2 * reach + 1, CV_8U));
  cv::resize(found, cell, cells, 0, 0, cv::INTER_NEAREST);
  cv::dilate(cell, cell, cv::getStructuringElement(cv::MORPH_ELLIPSE, {2 * margin + 1, 2 * margin + 1}));
  seen_.setTo(now, cell);
  return seen_;
}

cv::Mat Privacy::hidden(const InferenceResult& result, const ViewMotion& place) {
  cv::Mat image = result.frame.image.clone();
  if (!options_.blurred.empty()) {
    const cv::Size cells((image.cols + kCell - 1) / kCell, (image.rows + kCell - 1) / kCell);
    // By the time of the pictures, which may be hours apart or come faster than they were taken.
    const auto now = static_cast<double>(result.frame.time);
    const cv::Mat& last = seen(result, cells);
    cv::Mat where;
    cv::resize((last <= now) & (last >= now - options_.memory_s * kSecondMs), where, image.size(), 0, 0,
               cv::INTER_NEAREST);
    if (cv::countNonZero(where) > 0) blurred(image).copyTo(image, where);
  }
  for (const vision::Region& region : options_.hidden)
    if (region.validAt(result.frame.time)) image.setTo(cv::Scalar::all(0), movedMask(region, image.size(), place));
  return image;
}

}  // namespace mpm::monitor
