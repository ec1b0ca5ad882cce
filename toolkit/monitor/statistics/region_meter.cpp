// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/region_meter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <opencv2/imgproc.hpp>

#include "evaluation/states.h"
#include "monitor/statistics/view_detector.h"
#include "mpm/error.hpp"
#include "vision/labels/classes.h"

namespace mpm::monitor {
namespace {

// 32 bits hold the sum of the squares of this many pixels.
constexpr std::ptrdiff_t kLongestRun = 65536;

constexpr double kFollow = 0.5;  // px that a corner of the picture moves before the regions follow

struct Sums {
  std::array<std::uint64_t, 3> values{}, squares{};  // B, G, R

  void add(const uchar* pixel, int pixels) {
    std::array<std::uint32_t, 3> v{}, s{};
    for (int i = 0; i < pixels; ++i, pixel += 3) {
      for (std::size_t c = 0; c < 3; ++c) {
        const std::uint32_t value = pixel[c];
        v[c] += value;
        s[c] += value * value;
      }
    }
    for (std::size_t c = 0; c < 3; ++c) {
      values[c] += v[c];
      squares[c] += s[c];
    }
  }
};

// Labels come in long runs: counting each pixel would wait for the count before it.
void addLabels(const uchar* label, int pixels, std::array<std::int64_t, 256>& counts) {
  for (int i = 0; i < pixels;) {
    int end = i + 1;
    while (end < pixels && label[end] == label[i]) ++end;
    counts[label[i]] += end - i;
    i = end;
  }
}

// For each patch, one over the size of its cluster; empty without merging.
std::vector<double> sharesOf(const RunReport& report) {
  if (report.cluster_of_token.empty()) return {};
  const std::vector<int>& clusters = report.cluster_of_token.back();
  std::vector<double> sizes, share;
  for (const int cluster : clusters) {
    sizes.resize(std::max(sizes.size(), static_cast<std::size_t>(cluster) + 1));
    ++sizes[static_cast<std::size_t>(cluster)];
  }
  for (const int cluster : clusters) share.push_back(1 / sizes[static_cast<std::size_t>(cluster)]);
  return share;
}

}  // namespace

bool followsView(const ViewMotion& before, const ViewMotion& moved, cv::Size picture) {
  return distance(moved, before, picture) > kFollow;
}

cv::Mat movedMask(const vision::Region& region, cv::Size picture, const ViewMotion& moved) {
  cv::Mat mask = vision::maskOf(region, picture);
  if (followsView({}, moved, picture)) cv::warpAffine(mask, mask, matrixOf(moved, picture), picture, cv::INTER_NEAREST);
  return mask;
}

cv::Mat coveringMask(const vision::Region& region, cv::Size picture, const ViewMotion& moved) {
  return movedMask(region, picture, moved) | vision::maskOf(region, picture);
}

RegionMeter::RegionMeter(std::vector<vision::Region> regions) : regions_(std::move(regions)) {
  vision::check(regions_);
}

void RegionMeter::measure(Sample& sample, const FrameFacts& frame, const cv::Mat& image, const cv::Mat& labels,
                          const RunReport& report, const std::function<cv::Mat(const cv::Mat& cut_out)>& look) {
  std::optional<Error> problem;
  try {
    prepare(image.size(), report.grid, sample.time, sample.view_offset);
  } catch (const Error& error) {
    problem = error;
  }
  const bool flagged = frame.quality && frame.quality->flags != 0;
  if (look && !flagged) lookCloser(image, sample.time, look);  // what it shows would count in good samples later
  sample.regions = {measureWhole(frame, image, labels)};
  const std::vector<double> share = layout_.parts.empty() ? std::vector<double>() : sharesOf(report);
  for (const MeasuredRegion& part : layout_.parts) {
    Sums sums;
    std::array<std::int64_t, 256> counts{};
    RegionInput measured;
    const auto closer = closer_.find(part.index);
    const bool is_closer = closer != closer_.end() && closer->second.holds(part);
    const cv::Mat& seen = is_closer ? closer->second.labels : labels;
    const cv::Point origin = is_closer ? closer->second.part.tl() : cv::Point();
    for (const Run& run : part.runs) {
      const int length = run.end - run.begin;
      measured.pixels += length;
      sums.add(image.ptr(run.y) + 3 * static_cast<std::ptrdiff_t>(run.begin), length);
      if (!seen.empty()) addLabels(seen.ptr(run.y - origin.y) + run.begin - origin.x, length, counts);
    }
    const auto n = static_cast<double>(measured.pixels);
    for (std::size_t c = 0; c < 3; ++c) {
      const double mean = measured.mean[c] = static_cast<double>(sums.values[2 - c]) / n;
      measured.deviation[c] = std::sqrt(std::max(0.0, static_cast<double>(sums.squares[2 - c]) / n - mean * mean));
    }
    for (const auto& [patch, inside] : part.patches)
      measured.tokens = measured.tokens.value_or(0) + inside * (share.empty() ? 1 : share[patch]);
    RegionSample& region = sample.regions.emplace_back(evaluate(measured));
    region.region = static_cast<std::int64_t>(part.index) + 1;
    region.name = regions_[part.index].name;
    for (std::size_t label = 0; label < counts.size(); ++label) {
      if (counts[label] > 0)
        region.areas.emplace_back(static_cast<int>(label), keptShare(static_cast<double>(counts[label]) / n));
    }
  }
  if (problem) throw *problem;
}

// A region that has left what was seen of it is looked at before its time.
void RegionMeter::lookCloser(const cv::Mat& image, UnixMs time,
                             const std::function<cv::Mat(const cv::Mat& cut_out)>& look) {
  for (const MeasuredRegion& part : layout_.parts) {
    if (part.cut_out.empty()) continue;
    const double every_s = *evaluation::cutOutSeconds({regions_[part.index]});
    Closer& closer = closer_.try_emplace(part.index, Closer{vision::Due(every_s)}).first->second;
    if (!closer.due.at(time) && (closer.part.empty() || closer.holds(part))) continue;
    closer.due.take(time);
    closer.labels = look(image(part.cut_out).clone());
    closer.part = closer.labels.size() == part.cut_out.size() ? part.cut_out : cv::Rect();
  }
}

RegionSample RegionMeter::measureWhole(const FrameFacts& frame, const cv::Mat& image, const cv::Mat& labels) const {
  cv::Scalar mean, deviation;
  cv::meanStdDev(image, mean, deviation, layout_.counted);
  RegionInput measured{
      .mean = {mean[2], mean[1], mean[0]}, .deviation = {deviation[2], deviation[1], deviation[0]}, .frame = &frame};
  measured.pixels =
      layout_.counted.empty() ? static_cast<std::int64_t>(image.total()) : cv::countNonZero(layout_.counted);
  if (!frame.token_counts.empty()) measured.tokens = frame.token_counts.back();
  RegionSample whole = evaluate(measured);
  whole.areas = vision::classAreas(labels, layout_.counted);
  for (auto& [label, area] : whole.areas) area = keptShare(area);
  return whole;
}

void RegionMeter::prepare(cv::Size picture, Size2 grid, UnixMs time, const ViewMotion& moved) {
  if (picture == layout_.picture && grid == layout_.grid && time >= layout_.from && time < layout_.to &&
      !followsView(layout_.moved, moved, picture))
    return;
  if (picture != layout_.picture) lookAgain();
  layout_ = {.picture = picture,
             .grid = grid,
             .from = std::numeric_limits<UnixMs>::min(),
             .to = std::numeric_limits<UnixMs>::max(),
             .moved = moved};
  for (const vision::Region& region : regions_) {
    for (const auto& change : {region.from, region.to}) {
      if (change) {
        (*change <= time ? layout_.from : layout_.to) =
            *change <= time ? std::max(layout_.from, *change) : std::min(layout_.to, *change);
      }
    }
  }
  cv::Mat counted;
  for (const vision::Region& region : regions_) {
    if (region.ignore && region.validAt(time)) {
      if (counted.empty()) counted = cv::Mat(picture, CV_8UC1, cv::Scalar(255));
      counted.setTo(0, coveringMask(region, picture, moved));
    }
  }
  std::vector<MeasuredRegion> parts;
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    if (regions_[i].ignore || !regions_[i].validAt(time)) continue;
    cv::Mat mask = movedMask(regions_[i], picture, moved);
    if (!counted.empty()) mask &= counted;
    MeasuredRegion part{.index = i, .runs = {}, .patches = {}, .bounds = {}, .cut_out = {}};
    for (int y = 0; y < mask.rows; ++y) {
      const uchar *const row = mask.ptr(y), *const end = row + mask.cols;
      for (const uchar* at = std::find(row, end, 255); at != end;) {
        const uchar* const stop = std::find(at, at + std::min(end - at, kLongestRun), 0);
        part.runs.push_back({y, static_cast<int>(at - row), static_cast<int>(stop - row)});
        at = std::find(stop, end, 255);
      }
    }
    if (part.runs.empty()) continue;
    part.bounds = cv::boundingRect(mask);
    if (grid.height > 0 && grid.width > 0) {
      cv::Mat share;
      const auto maskOfIt = [&](const vision::Region&) { return mask; };
      if (evaluation::cutOutSeconds({regions_[i]}))
        part.cut_out = evaluation::stateView({regions_[i]}, picture, grid, time, maskOfIt).part;
      mask.convertTo(mask, CV_32F, 1.0 / 255);
      cv::resize(mask, share, {grid.width, grid.height}, 0, 0, cv::INTER_AREA);
      for (std::size_t p = 0; p < share.total(); ++p)
        if (const float inside = share.ptr<float>()[p]; inside > 0) part.patches.emplace_back(p, inside);
    }
    parts.push_back(std::move(part));
  }
  layout_.counted = counted;
  layout_.parts = std::move(parts);
}

}  // namespace mpm::monitor
