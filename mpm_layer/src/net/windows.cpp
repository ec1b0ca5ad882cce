// SPDX-License-Identifier: Apache-2.0
#include "net/windows.h"

#include <algorithm>

#include "kernels/resample.h"

namespace mpm {
namespace {

void addScaled(float scale, const float* from, int count, float* to) {
  for (int i = 0; i < count; ++i) to[i] += scale * from[i];
}

// Rows of the averaged logits, {image.width, classes}, one at a time.
class AveragedRows {
 public:
  explicit AveragedRows(const WindowScores& windows)
      : windows_(windows),
        classes_(windows.scores.front().size[1]),
        rows_(bilinearAxis(windows.grid.height, windows.window.height)),
        columns_(bilinearAxis(windows.grid.width, windows.window.width)),
        columns_covering_(windows.image.width) {
    for (int start : windows.columns)
      for (int x = 0; x < windows.window.width; ++x) ++columns_covering_[start + x];
  }

  int classes() const { return classes_; }

  // Adds scale * (row y) to `logits`. `line` {grid.width, classes} is scratch.
  void add(int y, float scale, std::vector<float>& line, float* logits) const {
    const auto covers = [&](int start) { return y >= start && y < start + windows_.window.height; };
    const auto rows_covering = std::count_if(windows_.rows.begin(), windows_.rows.end(), covers);
    const int grid_width = windows_.grid.width;
    for (std::size_t i = 0; i < windows_.rows.size(); ++i) {
      if (!covers(windows_.rows[i])) continue;
      const int row = y - windows_.rows[i];
      for (std::size_t j = 0; j < windows_.columns.size(); ++j) {
        const cv::Mat& scores = windows_.scores[i * windows_.columns.size() + j];
        line.assign(static_cast<std::size_t>(grid_width) * classes_, 0.0f);
        for (int t = 0; t < rows_.taps; ++t) {
          addScaled(rows_.weightsOf(row)[t], scores.ptr<float>((rows_.first[row] + t) * grid_width),
                    grid_width * classes_, line.data());
        }
        for (int x = 0; x < windows_.window.width; ++x) {
          const int at = windows_.columns[j] + x;
          const float share = scale / static_cast<float>(rows_covering * columns_covering_[at]);
          for (int t = 0; t < columns_.taps; ++t) {
            addScaled(share * columns_.weightsOf(x)[t],
                      line.data() + static_cast<std::size_t>(columns_.first[x] + t) * classes_, classes_,
                      logits + static_cast<std::size_t>(at) * classes_);
          }
        }
      }
    }
  }

 private:
  const WindowScores& windows_;
  int classes_;
  AxisResampling rows_, columns_;
  std::vector<int> columns_covering_;  // windows over each column of pixels
};

// Calls `take` with each pixel of a picture of this size and its logits {classes}, row by row in parallel.
template <class Take>
void forEachPixel(const WindowScores& windows, cv::Size size, const Parallel& parallel, const Take& take) {
  const AveragedRows averaged(windows);
  const AxisResampling rows = bilinearAxis(windows.image.height, size.height);
  const AxisResampling columns = bilinearAxis(windows.image.width, size.width);
  const int classes = averaged.classes();
  parallel.run(size.height, [&](int y) {
    thread_local std::vector<float> line, logits, pixel;
    logits.assign(static_cast<std::size_t>(windows.image.width) * classes, 0.0f);
    for (int t = 0; t < rows.taps; ++t) {
      const float weight = rows.weightsOf(y)[t];
      if (weight != 0) averaged.add(rows.first[y] + t, weight, line, logits.data());
    }
    for (int x = 0; x < size.width; ++x) {
      pixel.assign(classes, 0.0f);
      for (int t = 0; t < columns.taps; ++t) {
        addScaled(columns.weightsOf(x)[t], logits.data() + static_cast<std::size_t>(columns.first[x] + t) * classes,
                  classes, pixel.data());
      }
      take(y, x, pixel);
    }
  });
}

}  // namespace

std::vector<int> windowStarts(int length, int window, int stride) {
  std::vector<int> starts = {0};
  while (starts.back() + window < length) starts.push_back(std::min(starts.back() + stride, length - window));
  return starts;
}

void labelWindows(const WindowScores& windows, cv::Mat& labels, const Parallel& parallel) {
  forEachPixel(windows, labels.size(), parallel, [&](int y, int x, const std::vector<float>& pixel) {
    labels.at<unsigned char>(y, x) =
        static_cast<unsigned char>(std::max_element(pixel.begin(), pixel.end()) - pixel.begin());
  });
}

void resizeWindows(const WindowScores& windows, cv::Size size, float* logits, const Parallel& parallel) {
  forEachPixel(windows, size, parallel, [&](int y, int x, const std::vector<float>& pixel) {
    for (std::size_t c = 0; c < pixel.size(); ++c) logits[(c * size.height + y) * size.width + x] = pixel[c];
  });
}

}  // namespace mpm
