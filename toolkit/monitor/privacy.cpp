// SPDX-License-Identifier: Apache-2.0
#include "monitor/privacy.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "base/hash.h"
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

// Says nothing of the pixels of a mask: a segment keeps its other pixels, its box does not reach further than the
// pixels that are seen, and a segment that lies under the mask is not reported.
void hideIn(Estimate& estimate, const cv::Mat& mask) {
  for (const auto& [map, nothing] : {std::pair(&estimate.labels, double{kHiddenLabel}),
                                     {&estimate.ids, 0.0},
                                     {&estimate.depth, double{estimate.depth_range.min}}})
    if (map->size() == mask.size()) *map = map->clone().setTo(nothing, mask);
  if (estimate.ids.size() != mask.size()) return;
  std::vector<Segment> seen;
  for (Segment segment : estimate.segments) {
    const bool had_pixels = segment.area > 0;
    segment.area = cv::countNonZero(estimate.ids == segment.id);
    if (segment.box) {
      const cv::Rect2d& box = *segment.box;
      const cv::Rect place =
          cv::Rect(cv::Point(cvFloor(box.x), cvFloor(box.y)), cv::Point(cvCeil(box.br().x), cvCeil(box.br().y))) &
          cv::Rect({}, mask.size());
      const cv::Rect open = place.empty() ? place : cv::boundingRect(mask(place) == 0);
      if (open.empty() && !place.empty()) {  // a box beside the picture is not hidden
        estimate.ids.setTo(0, estimate.ids == segment.id);
        continue;
      }
      if (open.size() != place.size()) segment.box = box & cv::Rect2d(open + place.tl());
    } else if (had_pixels && segment.area == 0) {
      continue;
    }
    seen.push_back(segment);
  }
  estimate.segments = seen;
}

}  // namespace

void PrivacyOptions::add(const PrivacyOptions& other) {
  for (const vision::Region& region : other.hidden) {
    if (std::ranges::find(hidden, region) == hidden.end()) hidden.push_back(region);
  }
  for (const std::string& name : other.blurred)
    if (std::ranges::count(blurred, name) == 0) blurred.push_back(name);
}

std::string PrivacyOptions::text() const {
  std::string text;
  for (const std::string& name : vision::namesOf(hidden)) text += (text.empty() ? " hide " : ", ") + visibleText(name);
  const std::string blur = text.empty() ? " blur " : " and blur ";
  for (const std::string& name : blurred)
    text += (&name == &blurred.front() ? blur : ", ") + (name == "*" ? "everything" : visibleText(name));
  return "pictures" + text;
}

std::string PrivacyOptions::regionsDigest() const {
  std::string text;
  for (const vision::Region& region : hidden) text += toLine(vision::toJson(region));
  return std::to_string(hashBytes(text));
}

std::string PrivacyOptions::json() const {
  if (!on()) return "";
  Json json = {{"hide", Json::array()}, {"blur", blurred}};
  for (const vision::Region& region : hidden) json["hide"].push_back(vision::toJson(region));
  return toLine(json);
}

PrivacyOptions readPrivacy(const std::string& text) {
  PrivacyOptions options;
  if (text.empty()) return options;
  const JsonValue json(text, "what is hidden");
  for (const JsonValue& region : json.at("hide").list()) options.hidden.push_back(vision::regionFromJson(region, ""));
  for (const JsonValue& name : json.at("blur").list()) options.blurred.push_back(name.text());
  return options;
}

PrivacyOptions PrivacyChoice::over(const PrivacyOptions& stored) const {
  PrivacyOptions options = stored;
  options.hidden = hidden.value_or(stored.hidden);
  options.blurred = blurred.value_or(stored.blurred);
  return options;
}

cv::Mat hiddenPicture(const cv::Mat& picture, cv::Size frame, UnixMs time, const ViewMotion& offset,
                      const PrivacyOptions& hidden) {
  cv::Mat result = hidden.blurred.empty() ? picture.clone() : blurred(picture);
  cv::Mat shown = result(cv::Rect({}, frame) & cv::Rect({}, result.size()));
  for (const vision::Region& region : hidden.hidden) {
    try {
      if (region.validAt(time))
        shown.setTo(cv::Scalar::all(0), coveringMask(region, frame, offset)(cv::Rect({}, shown.size())));
    } catch (const Error&) {  // a mask of another size: which part it is cannot be told
      blurred(result).copyTo(result);
    }
  }
  return result;
}

Privacy::Privacy(PrivacyOptions options)
    : given_(std::make_shared<const PrivacyOptions>(std::move(options))), options_(*given_) {
  vision::check(options_.hidden);
}

// 255 where one of the classes is, or was a moment ago.
cv::Mat Privacy::where(const cv::Mat& labels, const std::vector<int>& classes, cv::Size picture, double now) {
  const cv::Size cells((picture.width + kCell - 1) / kCell, (picture.height + kCell - 1) / kCell);
  if (seen_.size() != cells) seen_ = cv::Mat(cells, CV_64F, cv::Scalar::all(kNever));
  cv::Mat found = cv::Mat::zeros(labels.size(), CV_8U), cell, result;
  for (const int index : classes) found |= labels == index;
  const int margin = static_cast<int>(std::ceil(options_.margin * std::max(cells.width, cells.height)));
  // The mean of a cell would round a single pixel away.
  const int reach = std::max(1, (labels.cols + cells.width - 1) / cells.width);
  cv::dilate(found, found, cv::Mat::ones(2 * reach + 1, 2 * reach + 1, CV_8U));
  cv::resize(found, cell, cells, 0, 0, cv::INTER_NEAREST);
  cv::dilate(cell, cell, cv::getStructuringElement(cv::MORPH_ELLIPSE, {2 * margin + 1, 2 * margin + 1}));
  seen_.setTo(now, cell);
  cv::resize((seen_ <= now) & (seen_ >= now - options_.memory_s * kSecondMs), result, picture, 0, 0, cv::INTER_NEAREST);
  return result;
}

Privacy::Parts Privacy::partsOf(const InferenceResult& result, const ViewMotion& offset) {
  Parts parts;
  const cv::Size size = result.frame.image.size();
  const cv::Mat& labels = result.estimate.labels;
  if (!options_.blurred.empty()) {
    const auto classes = labels.empty() ? std::vector<int>() : indicesOf(options_.blurred, *result.model);
    // By the time of the pictures, which may be hours apart or come faster than they were taken.
    if (!classes.empty()) parts.blurred = where(labels, classes, size, static_cast<double>(result.frame.time));
    parts.whole = classes.empty();
  }
  for (const vision::Region& region : options_.hidden) {
    try {
      if (!region.validAt(result.frame.time)) continue;
      const cv::Mat mask = coveringMask(region, size, offset);
      parts.black = parts.black.empty() ? mask : parts.black | mask;
    } catch (const Error& error) {
      parts.whole = true;
      parts.problem = std::string("whole pictures are blurred: ") + error.what();
    }
  }
  return parts;
}

cv::Mat Privacy::hiddenIn(const InferenceResult& result, const ViewMotion& offset) {
  const Parts parts = partsOf(result, offset);
  cv::Mat hidden(result.frame.image.size(), CV_8U, cv::Scalar::all(parts.whole ? 255 : 0));
  for (const cv::Mat& part : {parts.black, parts.blurred})
    if (!part.empty()) hidden |= part;
  return hidden;
}

void Privacy::hide(InferenceResult& result, const ViewMotion& offset,
                   const std::function<void(const std::string&)>& report) {
  const Parts parts = partsOf(result, offset);
  Estimate& estimate = result.estimate;
  cv::Mat image = parts.whole ? blurred(result.frame.image) : result.frame.image.clone();
  if (parts.whole) estimate.depth.release();
  if (!parts.whole && !parts.blurred.empty() && cv::countNonZero(parts.blurred) > 0)
    blurred(image).copyTo(image, parts.blurred);
  if (!parts.black.empty()) {
    image.setTo(cv::Scalar::all(0), parts.black);
    hideIn(estimate, parts.black);
    if (result.compared) hideIn(result.compared->estimate, parts.black);
  }
  if (parts.whole && result.compared) result.compared->estimate.depth.release();
  if (!parts.problem.empty() && report && !std::exchange(told_, true)) report(parts.problem);
  result.frame.image = image;
  result.hidden = parts.black;
  result.hidden_by = given_;
}

}  // namespace mpm::monitor
