// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>
#include <opencv2/core.hpp>
#include <span>

#include "mpm/options.hpp"

namespace mpm::gui {

/// Which tokens merged with which, in O(1) per question while the mouse moves. Step 0 is the patch grid before any
/// merging, step k the clusters after insertion k. Of a hidden token nothing is said: it is in no cluster, cluster()
/// is -1 and size() 0.
class MergeLookup {
 public:
  MergeLookup() = default;
  /// `cluster_of_token`: the composed maps of a RunReport, one per insertion of `schedule`. Throws mpm::Error when
  /// they do not fit `grid` or `schedule`. `hidden`: tokens of `grid`.
  MergeLookup(Size2 grid, const std::vector<std::vector<int>>& cluster_of_token, const Schedule& schedule,
              const std::vector<int>& hidden = {});

  Size2 grid() const { return grid_; }
  int tokens() const { return grid_.height * grid_.width; }
  int steps() const { return static_cast<int>(steps_.size()); }  ///< insertions + 1, 0 when empty
  int clusters(int step) const { return static_cast<int>(steps_[step].first_member.size()) - 1; }
  /// The block that the insertion which made `step` stands before; `step` >= 1.
  int block(int step) const { return schedule_[step - 1]; }

  bool hidden(int token) const { return cluster(0, token) < 0; }
  int cluster(int step, int token) const { return steps_[step].cluster_of_token[token]; }
  std::span<const int> members(int step, int cluster) const {
    if (cluster < 0) return {};
    const Step& s = steps_[step];
    return {s.member.data() + s.first_member[cluster], s.member.data() + s.first_member[cluster + 1]};
  }
  int size(int step, int token) const { return static_cast<int>(members(step, cluster(step, token)).size()); }

  /// The first step, up to `step`, at which `token` shared its cluster with another; 0: never.
  int mergedAt(int step, int token) const { return size(step, token) <= 1 ? 0 : merged_at_[token]; }

 private:
  struct Step {
    std::vector<int> cluster_of_token;
    // Members of cluster c: member[first_member[c] .. first_member[c + 1]). A vector for each cluster would take
    // milliseconds of each frame.
    std::vector<int> first_member, member;
  };
  Size2 grid_;
  Schedule schedule_;
  std::vector<Step> steps_;
  std::vector<int> merged_at_;
};

enum class MergeColoring { kMean, kSize, kInsertion };

/// Mean colour of every patch of `image` (BGR), raster order.
std::vector<QRgb> patchColors(const cv::Mat& image, Size2 grid);

/// The fill of each patch in the merge map at `step`, black where it is hidden; `patch_colors` from patchColors().
std::vector<QRgb> mergeFill(const MergeLookup& lookup, int step, MergeColoring coloring,
                            const std::vector<QRgb>& patch_colors);

/// A step of the colour-blind-safe ramp for cluster sizes: 1, 2, 3-4, 5-8, more.
inline constexpr int kSizeBins = 5;
int sizeBin(int size);
QRgb sizeColor(int bin);
/// Colour of the insertion that merged a token; step 0: never merged.
QRgb insertionColor(int step);

/// One side of a patch, as a line between two corners of the grid.
struct GridLine {
  int x1, y1, x2, y2;
  friend bool operator==(const GridLine&, const GridLine&) = default;
};
/// The sides that lie between two clusters, each once; around hidden patches, none between them.
std::vector<GridLine> mergeBorders(const MergeLookup& lookup, int step);
/// The sides of the patches of `cluster` that face another cluster or the edge.
std::vector<GridLine> clusterOutline(const MergeLookup& lookup, int step, int cluster);

}  // namespace mpm::gui
