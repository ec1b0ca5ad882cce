// SPDX-License-Identifier: Apache-2.0
#include "gui/models/label_maps.h"

#include <opencv2/imgproc.hpp>

#include "monitor/statistics/view_watch.h"

namespace mpm::gui {
namespace {

constexpr int kLeastSide = 32;    // px, that edgeDirections() needs
constexpr double kStill = 0.004;  // of the width: what a motion that is sure may be wrong by

}  // namespace

LabelChanges labelChanges(const cv::Mat& image, const cv::Mat& before, const cv::Mat& after,
                          const std::vector<QRgb>& colors) {
  LabelChanges result;
  result.picture = QImage(image.cols, image.rows, QImage::Format_RGB32);
  std::map<std::pair<int, int>, int> pixels;
  int changed = 0;
  for (int y = 0; y < image.rows; ++y) {
    const auto row = [&](const cv::Mat& map) {
      return map.ptr(static_cast<int>(static_cast<std::int64_t>(y) * map.rows / image.rows));
    };
    const auto column = [&](const cv::Mat& map, int x) { return static_cast<std::int64_t>(x) * map.cols / image.cols; };
    const uchar *old = row(before), *now = row(after);
    const auto* bgr = image.ptr<cv::Vec3b>(y);
    auto* out = reinterpret_cast<QRgb*>(result.picture.scanLine(y));
    for (int x = 0; x < image.cols; ++x) {
      const int from = old[column(before, x)], to = now[column(after, x)];
      if (from != to) {
        ++changed;
        ++pixels[{from, to}];
        out[x] = colors[static_cast<std::size_t>(to)];
      } else {
        const int grey = 40 + qGray(bgr[x][2], bgr[x][1], bgr[x][0]) * 5 / 8;
        out[x] = qRgb(grey, grey, grey);
      }
    }
  }
  for (const auto& [pair, count] : pixels) result.changes.push_back({pair.first, pair.second, count});
  std::ranges::stable_sort(result.changes, std::greater(), &LabelChanges::Change::pixels);
  result.share = image.empty() ? 0 : changed / static_cast<double>(image.total());
  return result;
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
    const auto edge = [](std::int64_t cell, int cells, int pixels) { return static_cast<int>(cell * pixels / cells); };
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

}  // namespace mpm::gui
