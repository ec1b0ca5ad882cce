// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>
#include <opencv2/core.hpp>

#include "gui/models/merge_lookup.h"

namespace mpm::gui {

enum class MergeColoring { kMean, kSize, kInsertion };

/// Mean colour of every patch of `image` (BGR), raster order.
std::vector<QRgb> patchColors(const cv::Mat& image, Size2 grid);

/// The fill of each patch in the merge map at `step`; `patch_colors` from patchColors().
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
/// The sides that lie between two clusters, each once.
std::vector<GridLine> mergeBorders(const MergeLookup& lookup, int step);
/// The sides of the patches of `cluster` that face another cluster or the edge.
std::vector<GridLine> clusterOutline(const MergeLookup& lookup, int step, int cluster);

}  // namespace mpm::gui
