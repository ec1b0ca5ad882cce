// SPDX-License-Identifier: Apache-2.0
#include "gui/models/label_changes.h"

#include <algorithm>
#include <map>

namespace mpm::gui {

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

}  // namespace mpm::gui
