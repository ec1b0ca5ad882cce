// SPDX-License-Identifier: Apache-2.0
#include "gui/models/label_editor.h"

#include <opencv2/imgproc.hpp>

#include "gui/models/label_maps.h"

namespace mpm::gui {
namespace {

cv::Point pixelAt(QPointF point) {
  return {static_cast<int>(std::floor(point.x())), static_cast<int>(std::floor(point.y()))};
}

int edge(int cell, int cells, int pixels) { return static_cast<int>(static_cast<std::int64_t>(cell) * pixels / cells); }

// Where two maps of one size differ.
cv::Rect difference(const cv::Mat& a, const cv::Mat& b) {
  int left = a.cols, right = -1, top = a.rows, bottom = -1;
  for (int y = 0; y < a.rows; ++y) {
    const uchar *one = a.ptr(y), *other = b.ptr(y);
    if (std::equal(one, one + a.cols, other)) continue;
    top = std::min(top, y);
    bottom = y;
    for (int x = 0; x < a.cols; ++x)
      if (one[x] != other[x]) {
        left = std::min(left, x);
        right = std::max(right, x);
      }
  }
  return bottom < 0 ? cv::Rect() : cv::Rect(left, top, right - left + 1, bottom - top + 1);
}

}  // namespace

void LabelEditor::brush(QPointF from, QPointF to, double diameter, int label) {
  const cv::Scalar color(label);
  cv::line(labels_, pixelAt(from), pixelAt(to), color, std::max(1, static_cast<int>(std::lround(diameter))));
}

void LabelEditor::polygon(const QPolygonF& corners, int label) {
  std::vector<cv::Point> points;
  for (const QPointF& corner : corners) points.push_back(pixelAt(corner));
  if (points.size() > 2) cv::fillPoly(labels_, std::vector<std::vector<cv::Point>>{points}, cv::Scalar(label));
}

void LabelEditor::cells(Size2 grid, std::span<const int> tokens, int label) {
  for (const int token : tokens) labels_(cellOf(token, grid, labels_.size())).setTo(label);
}

void LabelEditor::region(const cv::Mat& map, QPointF at) {
  const cv::Point here = pixelAt(at);
  if (map.empty() || !cv::Rect({}, labels_.size()).contains(here)) return;
  const cv::Point seed(edge(here.x, labels_.cols, map.cols), edge(here.y, labels_.rows, map.rows));
  const uchar label = map.at<uchar>(seed);
  if (label == ignore_) return;
  cv::Mat filled(map.rows + 2, map.cols + 2, CV_8U, cv::Scalar(0));
  cv::Mat image = map;  // kMaskOnly: it is not written to
  cv::floodFill(image, filled, seed, {}, nullptr, {}, {}, 4 | cv::FLOODFILL_MASK_ONLY | (1 << 8));
  for (int y = 0; y < labels_.rows; ++y) {
    const uchar* inside = filled.ptr(edge(y, labels_.rows, map.rows) + 1) + 1;
    uchar* row = labels_.ptr(y);
    for (int x = 0; x < labels_.cols; ++x)
      if (inside[edge(x, labels_.cols, map.cols)] != 0) row[x] = label;
  }
}

bool LabelEditor::end() {
  const cv::Rect where = difference(before_, labels_);
  if (where.empty()) return false;
  steps_.resize(done_);
  steps_.push_back({where, before_(where).clone(), labels_(where).clone()});
  if (steps_.size() > kMaxSteps) steps_.erase(steps_.begin());
  done_ = steps_.size();
  before_.release();
  return true;
}

void LabelEditor::undo() {
  if (!canUndo()) return;
  const Step& step = steps_[--done_];
  step.before.copyTo(labels_(step.where));
}

void LabelEditor::redo() {
  if (!canRedo()) return;
  const Step& step = steps_[done_++];
  step.after.copyTo(labels_(step.where));
}

}  // namespace mpm::gui
