// SPDX-License-Identifier: Apache-2.0
#include "net/reuse_gate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mpm {
namespace {

constexpr int kCells = 4;                             // of a patch, each way
constexpr int kValues = kCells * kCells * 3;          // of a patch
constexpr double kMostNoise = 16;                     // grey levels: by night, a noisy camera has 13
constexpr double kLeastOffset = 2, kMostOffset = 30;  // grey levels

// Mean colours of the cells of one patch. Where a patch reaches over the border, its cells end there.
void cellsOf(const cv::Mat& picture, const PatchPlaces& places, int patch, float* values) {
  const int top = patch / places.grid_w * places.stride_h - places.pad_h,
            left = patch % places.grid_w * places.stride_w - places.pad_w;
  const auto edge = [](int first, int cell, int length, int limit) {
    return std::clamp(first + cell * length / kCells, 0, limit);
  };
  for (int cy = 0; cy < kCells; ++cy) {
    const int y0 = edge(top, cy, places.kernel_h, picture.rows), y1 = edge(top, cy + 1, places.kernel_h, picture.rows);
    for (int cx = 0; cx < kCells; ++cx, values += 3) {
      const int x0 = edge(left, cx, places.kernel_w, picture.cols),
                x1 = edge(left, cx + 1, places.kernel_w, picture.cols);
      int sums[3] = {0, 0, 0};
      for (int y = y0; y < y1; ++y) {
        const std::uint8_t* const row = picture.ptr<std::uint8_t>(y);
        for (int x = 3 * x0; x < 3 * x1; x += 3)
          for (int c = 0; c < 3; ++c) sums[c] += row[x + c];
      }
      const int pixels = std::max(1, (y1 - y0) * (x1 - x0));
      for (int c = 0; c < 3; ++c) values[c] = static_cast<float>(sums[c]) / static_cast<float>(pixels);
    }
  }
}

// Takes the cells as vectors from middle grey. Returns {length of the difference, cosine similarity}.
std::pair<double, double> asVectors(const float* a, const float* b) {
  constexpr double kMiddle = 127.5;
  double squares = 0, product = 0, of_a = 0, of_b = 0;
  for (int i = 0; i < kValues; ++i) {
    const double x = static_cast<double>(a[i]) - kMiddle, y = static_cast<double>(b[i]) - kMiddle;
    squares += (x - y) * (x - y);
    product += x * y;
    of_a += x * x;
    of_b += y * y;
  }
  return {std::sqrt(squares), squares == 0 ? 1 : product / std::sqrt(std::max(of_a * of_b, 1e-12))};
}

float difference(const float* a, const float* b) {
  float most = 0;
  for (int i = 0; i < kValues; ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace

std::vector<int> ReuseGate::changedPatches() const {
  const int patches = places_.grid_h * places_.grid_w;
  if (options_.budget) return mostChanged(static_cast<int>(std::lround(*options_.budget * patches)));
  std::vector<int> changed;
  for (int i = 0; i < patches; ++i) {
    const float *now = now_.data() + i * kValues, *computed = reference_.data() + i * kValues;
    if (options_.cosine ? asVectors(now, computed).second < *options_.cosine
                        : static_cast<double>(difference(now, computed)) > threshold())
      changed.push_back(i);
  }
  return changed;
}

std::vector<int> ReuseGate::mostChanged(int count) const {
  std::vector<double> moved(static_cast<std::size_t>(places_.grid_h * places_.grid_w));
  for (std::size_t i = 0; i < moved.size(); ++i)
    moved[i] = asVectors(now_.data() + i * kValues, reference_.data() + i * kValues).first;
  std::vector<int> order(moved.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return moved[a] > moved[b]; });
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

ReuseGate::Frame ReuseGate::look(const cv::Mat& picture, double seconds, const Parallel& parallel,
                                 const std::optional<std::vector<int>>& given) {
  const int patches = places_.grid_h * places_.grid_w;
  const auto at = [](std::vector<float>& cells, int patch) { return cells.data() + patch * kValues; };
  before_.swap(now_);
  now_.resize(static_cast<std::size_t>(patches) * kValues);
  parallel.run(places_.grid_h, [&](int row) {
    for (int patch = row * places_.grid_w; patch < (row + 1) * places_.grid_w; ++patch)
      cellsOf(picture, places_, patch, at(now_, patch));
  });
  Frame frame;
  frame.key = reference_.empty();
  if (!frame.key) {
    std::vector<float> moved(patches);
    for (int i = 0; i < patches; ++i) moved[i] = difference(at(now_, i), at(before_, i));
    const auto quartile = moved.begin() + patches / 4;
    std::nth_element(moved.begin(), quartile, moved.end());
    // A change of light moves all patches, and a repeated frame none: neither is the noise of a camera.
    if (const double seen = std::min(static_cast<double>(*quartile), kMostNoise); seen != 0)
      noise_ = noise_ < 0 ? seen : 0.7 * noise_ + 0.3 * seen;
    frame.changed = given ? *given : changedPatches();
    frame.key = !given && !options_.budget && static_cast<double>(frame.changed.size()) > options_.flush * patches;
    const bool clock_went_back = seconds < last_key_;
    frame.due = !frame.key && (clock_went_back || seconds - last_key_ >= options_.refresh);
  }
  if (frame.key || frame.due) {
    reference_ = now_;
    last_key_ = seconds;
  } else {
    for (const int i : frame.changed) std::copy_n(at(now_, i), kValues, at(reference_, i));
  }
  if (!frame.key) return frame;
  frame.changed.resize(patches);
  std::iota(frame.changed.begin(), frame.changed.end(), 0);
  return frame;
}

void ReuseGate::reset() {
  reference_.clear();
  offset_ = kOffset;
  noise_ = -1;
}

void ReuseGate::compared(double agreement) {
  if (!options_.agreement) return;
  if (agreement < *options_.agreement)
    offset_ *= 0.8;
  else if (agreement > (*options_.agreement + 100) / 2)  // well above
    offset_ *= 1.1;
  offset_ = std::clamp(offset_, kLeastOffset, kMostOffset);
}

}  // namespace mpm
