// SPDX-License-Identifier: Apache-2.0
#include "gui/models/label_maps.h"

#include <opencv2/imgproc.hpp>

#include "monitor/statistics/view_detector.h"

namespace mpm::gui {
namespace {

constexpr int kLeastSide = 32;    // px, that edgeDirections() needs
constexpr double kStill = 0.004;  // of the width: what a motion that is sure may be wrong by

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
    for (int x = 0; x < a.cols; ++x) {
      if (one[x] != other[x]) {
        left = std::min(left, x);
        right = std::max(right, x);
      }
    }
  }
  return bottom < 0 ? cv::Rect() : cv::Rect(left, top, right - left + 1, bottom - top + 1);
}

// What a stroke changed in a part of a map. The stack does it once more when it gets it, which changes nothing.
struct Stroke : QUndoCommand {
  Stroke(const cv::Mat& map, const cv::Rect& where, const cv::Mat& map_before)
      : part(map(where)), before(map_before(where).clone()), after(part.clone()) {}
  void undo() override { before.copyTo(part); }
  void redo() override { after.copyTo(part); }

  cv::Mat part, before, after;
};

}  // namespace

QImage paintDifferences(const cv::Mat& image, const cv::Mat& one, const cv::Mat& other, QRgb color) {
  QImage picture(image.cols, image.rows, QImage::Format_RGB32);
  for (int y = 0; y < image.rows; ++y) {
    const auto row = [&](const cv::Mat& map) {
      return map.ptr(static_cast<int>(static_cast<std::int64_t>(y) * map.rows / image.rows));
    };
    const auto column = [&](const cv::Mat& map, int x) { return static_cast<std::int64_t>(x) * map.cols / image.cols; };
    const uchar *labels = row(one), *others = row(other);
    const auto* bgr = image.ptr<cv::Vec3b>(y);
    auto* out = reinterpret_cast<QRgb*>(picture.scanLine(y));
    for (int x = 0; x < image.cols; ++x) {
      const int grey = 40 + qGray(bgr[x][2], bgr[x][1], bgr[x][0]) * 5 / 8;
      out[x] = labels[column(one, x)] != others[column(other, x)] ? color : qRgb(grey, grey, grey);
    }
  }
  return picture;
}

cv::Mat movedLabels(const cv::Mat& labels, const cv::Mat& from, const cv::Mat& to, int ignore) {
  const cv::Size size = labels.size();
  if (from.size() != size || to.size() != size || std::min(size.width, size.height) < kLeastSide) return {};
  const auto motion = monitor::estimateMotion(monitor::edgeDirections(from), monitor::edgeDirections(to), {}, size);
  if (!motion || !monitor::isSmall(*motion, size) || monitor::distance(*motion, {}, size) <= kStill * size.width)
    return {};
  cv::Mat moved;
  cv::warpAffine(labels, moved, monitor::matrixOf(*motion, size), size, cv::INTER_NEAREST, cv::BORDER_CONSTANT,
                 cv::Scalar(ignore));
  return moved;
}

cv::Rect cellOf(int token, Size2 grid, cv::Size map) {
  const auto corner = [&](int x, int y) {
    return cv::Point(edge(x, grid.width, map.width), edge(y, grid.height, map.height));
  };
  const int x = token % grid.width, y = token / grid.width;
  return {corner(x, y), corner(x + 1, y + 1)};
}

cv::Mat renumbered(const cv::Mat& labels, const std::array<uchar, 256>& to) {
  cv::Mat result = labels.clone();
  for (int y = 0; y < result.rows; ++y)
    std::transform(result.ptr(y), result.ptr(y) + result.cols, result.ptr(y), [&](uchar label) { return to[label]; });
  return result;
}

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
  steps_.push(new Stroke(labels_, where, std::exchange(before_, {})));
  return true;
}

}  // namespace mpm::gui
