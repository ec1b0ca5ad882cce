// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QRgb>
#include <QVector>
#include <opencv2/core.hpp>
#include <vector>

#include "gui/models/merge_lookup.h"

namespace mpm::gui {

enum class MergeColoring { kMean, kSize, kInsertion };

/// Mean colour of every patch of `image` (BGR), raster order.
std::vector<QRgb> patchColors(const cv::Mat& image, Size2 grid);

/// What each patch is filled with in the merge map at `step`. `patch_colors` as patchColors() gives them.
std::vector<QRgb> mergeFill(const MergeLookup& lookup, int step, MergeColoring coloring,
                            const std::vector<QRgb>& patch_colors);

/// A step of the colour-blind-safe ramp for cluster sizes: 1, 2, 3-4, 5-8, more.
inline constexpr int kSizeBins = 5;
int sizeBin(int size);
QRgb sizeColor(int bin);
/// Colour of the insertion that made a token part of a pair; step 0: never merged.
QRgb insertionColor(int step);

/// One side of a patch that lies between two clusters: the right side of `token`, or its lower one.
struct MergeBorder {
  int token;
  bool right;
  friend bool operator==(const MergeBorder&, const MergeBorder&) = default;
};
std::vector<MergeBorder> mergeBorders(const MergeLookup& lookup, int step);

/// Sides of `cluster`'s patches that face another cluster, as lines between corners of the grid.
struct GridLine {
  int x1, y1, x2, y2;
  friend bool operator==(const GridLine&, const GridLine&) = default;
};
std::vector<GridLine> clusterOutline(const MergeLookup& lookup, int step, int cluster);

}  // namespace mpm::gui
