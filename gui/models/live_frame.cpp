// SPDX-License-Identifier: Apache-2.0
#include "gui/models/live_frame.h"

#include <opencv2/imgproc.hpp>

#include "gui/models/label_maps.h"
#include "vision/labels/classes.h"
#include "vision/pictures/pictures.h"
#include "vision/time.h"

namespace mpm::gui {
namespace {

std::vector<cv::Mat> halvings(const cv::Mat& image) {
  std::vector<cv::Mat> scales = {image};
  while (scales.back().cols > 400 && scales.size() < 4) {
    cv::Mat half;
    cv::resize(scales.back(), half, {}, 0.5, 0.5, cv::INTER_AREA);
    scales.push_back(half);
  }
  return scales;
}

cv::Point cellAt(cv::Size cells, QPointF at) {
  const auto cell = [](double share, int count) { return std::clamp(static_cast<int>(share * count), 0, count - 1); };
  return {cell(at.x(), cells.width), cell(at.y(), cells.height)};
}

// The map that is laid over the image.
cv::Mat paintedMap(const Estimate& estimate) {
  if (!estimate.depth.empty()) return vision::depthShares(estimate.depth, estimate.depth_range);
  if (estimate.task == Task::kBoxes) return {};  // a filled box would hide what is in it
  return estimate.ids.empty() ? estimate.labels : segmentClasses(estimate.ids, estimate.segments);
}

// The patches of which a part is hidden.
std::vector<int> hiddenTokens(const cv::Mat& hidden, Size2 grid) {
  std::vector<int> tokens;
  for (int token = 0; token < grid.height * grid.width && !hidden.empty(); ++token)
    if (cv::countNonZero(hidden(cellOf(token, grid, hidden.size()))) > 0) tokens.push_back(token);
  return tokens;
}

FrameComparison compare(const monitor::InferenceResult& result, const cv::Mat& image) {
  const Estimate &own = result.estimate, &other = result.compared->estimate;
  FrameComparison comparison;
  if (!own.labels.empty() && own.labels.size() == other.labels.size()) {
    comparison.picture = paintDifferences(image, own.labels, other.labels, kDifference);
    comparison.agreement = agreementPercent(own, other);
  }
  if (!own.depth.empty() && own.depth.size() == other.depth.size())
    comparison.depth_difference = vision::depthDifference(own.depth, own.depth_range, other.depth);
  return comparison;
}

}  // namespace

int LiveFrame::tokenAt(QPointF at) const {
  const Size2 grid = lookup.grid();
  const cv::Point cell = cellAt({grid.width, grid.height}, at);
  return cell.y * grid.width + cell.x;
}

std::optional<int> LiveFrame::classOfToken(int token) const {
  const cv::Mat& classes = labels();
  if (classes.empty() || token < 0 || token >= lookup.tokens()) return std::nullopt;
  const auto areas = vision::classAreas(classes(cellOf(token, lookup.grid(), classes.size())));
  if (areas.empty()) return std::nullopt;
  return std::ranges::max_element(areas, {}, &std::pair<int, double>::second)->first;
}

// Estimate::token_score is that of the best class in the middle of a patch, which need not be the class of most pixels.
std::optional<double> LiveFrame::scoreOfToken(int token) const {
  const auto label = classOfToken(token);
  const std::vector<float>& scores = result.estimate.token_score;
  if (!label || lookup.hidden(token) || token >= static_cast<int>(scores.size())) return std::nullopt;
  // The pixels that lie within half a pixel of the middle, as the edges of a cell are rounded.
  const auto [height, width] = lookup.grid();
  const double x = (token % width + 0.5) * labels().cols / width, y = (token / width + 0.5) * labels().rows / height;
  const cv::Rect middle(cv::Point(cvFloor(x - 0.5), cvFloor(y - 0.5)), cv::Point(cvCeil(x + 0.5), cvCeil(y + 0.5)));
  const bool same = cv::countNonZero(labels()(middle & cv::Rect({}, labels().size())) != *label) == 0;
  return same ? std::optional(static_cast<double>(scores[token])) : std::nullopt;
}

bool LiveFrame::hiddenAt(QPointF at) const {
  const cv::Mat& hidden = result.hidden;
  return !hidden.empty() && hidden.at<std::uint8_t>(cellAt(hidden.size(), at)) != 0;
}

std::optional<double> LiveFrame::depthAt(QPointF at) const {
  const cv::Mat& depth = result.estimate.depth;
  if (depth.empty()) return std::nullopt;
  return depth.at<float>(cellAt(depth.size(), at));
}

const Segment* LiveFrame::segmentAt(QPointF at) const {
  const int id = ids().empty() ? 0 : ids().at<std::uint16_t>(cellAt(ids().size(), at));
  const auto& segments = result.estimate.segments;
  const auto found = std::find_if(segments.begin(), segments.end(), [&](const Segment& one) { return one.id == id; });
  return found == segments.end() ? nullptr : &*found;
}

void countAges(std::vector<int>& ages, const Estimate& estimate) {
  const auto tokens = static_cast<std::size_t>(estimate.grid.height) * estimate.grid.width;
  if (!estimate.reuse) return ages.clear();
  if (estimate.reuse->key_frame || ages.size() != tokens) return ages.assign(tokens, 0);
  for (int& age : ages) ++age;
  for (const int patch : estimate.reuse->patches) ages[patch] = 0;
}

LiveFramePtr makeLiveFrame(monitor::InferenceResult result, monitor::Sample sample, std::vector<int> row_age) {
  auto frame = std::make_shared<LiveFrame>();
  frame->scales = halvings(result.frame.image);
  const Estimate& estimate = result.estimate;
  const std::vector<int> hidden = hiddenTokens(result.hidden, estimate.grid);
  frame->lookup = MergeLookup(estimate.grid, estimate.cluster_of_token, result.model->schedule(), hidden);
  frame->patch_colors = patchColors(result.frame.image, estimate.grid);
  frame->map = paintedMap(estimate);
  frame->row_age = std::move(row_age);
  if (!frame->row_age.empty())
    for (const int token : hidden) frame->row_age[token] = -1;
  frame->sample = std::move(sample);
  if (result.compared) frame->comparison = compare(result, frame->scales.back());
  frame->result = std::move(result);
  return frame;
}

LiveFramePtr makeLiveFrame(const monitor::CapturedFrame& captured) {
  auto frame = std::make_shared<LiveFrame>();
  frame->result.frame = captured;
  frame->scales = {captured.image};
  return frame;
}

LiveFramePtr makeLiveFrame(const cv::Mat& image) { return makeLiveFrame(monitor::CapturedFrame{.image = image}); }

QString takenName(const LiveFrame& frame) { return QString::fromStdString(fileTime(frame.result.frame.time)); }

}  // namespace mpm::gui
