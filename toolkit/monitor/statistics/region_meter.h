// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <opencv2/core.hpp>
#include <utility>
#include <vector>

#include "monitor/store/sample.h"
#include "mpm/run_report.hpp"
#include "vision/regions/region.h"
#include "vision/times/due.h"

namespace mpm::monitor {

/// Whether the view has moved far enough for regions to follow: half a pixel at a corner of the picture.
bool followsView(const ViewMotion& before, const ViewMotion& moved, cv::Size picture);
/// maskOf() of a region that follows the view.
cv::Mat movedMask(const vision::Region& region, cv::Size picture, const ViewMotion& moved);
/// Like movedMask(), plus the region's original place: a text burnt into the picture does not move with the view. For a
/// region that must not count or must not be seen.
cv::Mat coveringMask(const vision::Region& region, cv::Size picture, const ViewMotion& moved);

/// Measures the regions of pictures. Where they lie is worked out anew only when the size of the pictures changes, a
/// region begins or ends, or the view has moved by half a pixel. Not thread-safe.
class RegionMeter {
 public:
  /// Throws mpm::Error as vision::check().
  explicit RegionMeter(std::vector<vision::Region> regions = {});

  /// Sample::regions: the whole picture without what is ignored, then each region that is valid at the time of
  /// `sample`, is not ignored and has a pixel that counts, where `sample.view_offset` moved it. `image`: CV_8UC3;
  /// `labels`: CV_8U of its size, or empty. `look`: the labels of a cut-out of it, or empty; the areas of a region with
  /// "resolution": "camera" are of the last look, and a flagged picture is not looked at. Throws mpm::Error, once for a
  /// size of pictures, where maskOf() does; then and for this size only the whole picture is measured.
  void measure(Sample& sample, const FrameFacts& frame, const cv::Mat& image, const cv::Mat& labels,
               const RunReport& report, const std::function<cv::Mat(const cv::Mat& cut_out)>& look = {});
  /// Forgets what was seen in cut-outs, as another model makes the labels from now on.
  void lookAgain() { closer_.clear(); }

 private:
  struct Run {  // pixels of a row that are next to each other
    int y, begin, end;
  };
  struct MeasuredRegion {
    std::size_t index;
    std::vector<Run> runs;
    std::vector<std::pair<std::size_t, double>> patches;  // that it touches; its share of each
    cv::Rect bounds, cut_out;                             // of its pixels; around it, empty where none is looked at
  };
  // What was seen of a region in a cut-out. It holds until the next one is due.
  struct Closer {
    vision::Due due;
    cv::Rect part{};  // empty: nothing was seen
    cv::Mat labels{};
    bool holds(const MeasuredRegion& region) const {
      return !region.cut_out.empty() && (part & region.bounds) == region.bounds;
    }
  };
  struct Layout {
    cv::Size picture{};
    Size2 grid{};
    UnixMs from = 0, to = 0;  // [from, to)
    ViewMotion moved{};
    std::vector<MeasuredRegion> parts{};
    cv::Mat counted{};
  };

  void lookCloser(const cv::Mat& image, UnixMs time, const std::function<cv::Mat(const cv::Mat& cut_out)>& look);
  RegionSample measureWhole(const FrameFacts& frame, const cv::Mat& image, const cv::Mat& labels) const;
  void prepare(cv::Size picture, Size2 grid, UnixMs time, const ViewMotion& moved);

  std::vector<vision::Region> regions_;
  Layout layout_;
  std::map<std::size_t, Closer> closer_;  // by the indices of regions
};

}  // namespace mpm::monitor
