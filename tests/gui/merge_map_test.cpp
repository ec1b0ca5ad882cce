// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "gui/models/merge_map.h"
#include "gui/models/viewport.h"
#include "mpm/error.hpp"
#include "support/matchers.h"

namespace mpm::gui {
namespace {

using ::testing::UnorderedElementsAreArray;

// 2 x 3 patches; first 0+1 and 3+5 merge, then those two clusters.
MergeLookup small() { return {{2, 3}, {{0, 0, 1, 2, 3, 2}, {0, 0, 1, 0, 2, 0}}, {2, 5}}; }

TEST(MergeLookup, KnowsMembersSizesAndBlocks) {
  const MergeLookup lookup = small();
  EXPECT_EQ(lookup.steps(), 3);
  EXPECT_EQ(lookup.clusters(0), 6);
  EXPECT_EQ(lookup.clusters(1), 4);
  EXPECT_EQ(lookup.clusters(2), 3);
  EXPECT_EQ(lookup.block(1), 2);
  EXPECT_EQ(lookup.block(2), 5);
  EXPECT_THAT(lookup.members(1, 2), ElementsAre(3, 5));
  EXPECT_THAT(lookup.members(2, 0), ElementsAre(0, 1, 3, 5));
  EXPECT_EQ(lookup.size(2, 5), 4);
  EXPECT_EQ(lookup.size(0, 5), 1);
  EXPECT_EQ(lookup.mergedAt(2, 5), 1);
  EXPECT_EQ(lookup.mergedAt(0, 5), 0);
  EXPECT_EQ(lookup.mergedAt(2, 2), 0);
}

TEST(MergeLookup, RefusesMapsThatDoNotFit) {
  EXPECT_THROW(MergeLookup({2, 3}, {{0, 0, 1}}, {2}), Error);
  EXPECT_THROW(MergeLookup({2, 3}, {{0, 0, 1, 2, 3, 2}}, {2, 5}), Error);
  EXPECT_THROW(MergeLookup({2, 3}, {{0, 0, 1, 2, 3, -1}}, {2}), Error);
  EXPECT_THROW(MergeLookup({2, 3}, {{0, 0, 1, 2, 3, 6}}, {2}), Error);
}

TEST(MergeColors, ClustersGetTheMeanOfTheirPixels) {
  cv::Mat image(4, 6, CV_8UC3);
  for (int token = 0; token < 6; ++token)
    image(cv::Rect(token % 3 * 2, token / 3 * 2, 2, 2)).setTo(cv::Scalar(10 * token, 20 * token, 40 * token));
  const auto patches = patchColors(image, {2, 3});
  EXPECT_EQ(patches[2], qRgb(80, 40, 20));
  EXPECT_THAT(
      mergeFill(small(), 1, MergeColoring::kMean, patches),
      ElementsAre(qRgb(20, 10, 5), qRgb(20, 10, 5), patches[2], qRgb(160, 80, 40), patches[4], qRgb(160, 80, 40)));
}

TEST(MergeColors, SizesAndInsertionsHaveColoursOfTheirOwn) {
  const auto patches = std::vector<QRgb>(6, qRgb(1, 2, 3));
  const auto sizes = mergeFill(small(), 2, MergeColoring::kSize, patches);
  EXPECT_EQ(std::pair(sizes[0], sizes[2]), std::pair(sizeColor(2), sizeColor(0)));
  const auto insertions = mergeFill(small(), 2, MergeColoring::kInsertion, patches);
  EXPECT_EQ(std::pair(insertions[0], insertions[2]), std::pair(insertionColor(1), insertionColor(0)));
  for (int step = 0; step < 9; ++step) EXPECT_NE(insertionColor(step), insertionColor(step + 1)) << step;
  for (int bin = 1; bin < kSizeBins; ++bin) EXPECT_GT(qGray(sizeColor(bin)), qGray(sizeColor(bin - 1)) + 10);
}

TEST(MergeColors, BordersLieBetweenClustersOnly) {
  const auto borders = mergeBorders(small(), 1);
  EXPECT_EQ(std::count(borders.begin(), borders.end(), GridLine{1, 0, 1, 1}), 0);
  EXPECT_EQ(std::count(borders.begin(), borders.end(), GridLine{2, 0, 2, 1}), 1);
  EXPECT_EQ(std::count(borders.begin(), borders.end(), GridLine{0, 1, 1, 1}), 1);
  EXPECT_EQ(mergeBorders(small(), 0).size(), 4U + 3U);  // every inner side of a 2 x 3 grid
}

TEST(MergeColors, OutlineOfAClusterSurroundsEachOfItsPieces) {
  EXPECT_EQ(clusterOutline(small(), 1, 0).size(), 6U);  // two patches side by side
  EXPECT_EQ(clusterOutline(small(), 1, 2).size(), 8U);  // two apart
  EXPECT_THAT(clusterOutline(small(), 0, 4), UnorderedElementsAreArray({GridLine{1, 1, 2, 1}, GridLine{1, 2, 2, 2},
                                                                        GridLine{1, 1, 1, 2}, GridLine{2, 1, 2, 2}}));
}

TEST(MergeLookup, SaysNothingOfHiddenPatches) {
  const MergeLookup lookup({2, 3}, {{0, 0, 1, 2, 3, 2}, {0, 0, 1, 0, 2, 0}}, {2, 5}, {3, 4});
  EXPECT_TRUE(lookup.hidden(3) && lookup.hidden(4));
  EXPECT_FALSE(lookup.hidden(5));
  EXPECT_EQ(lookup.clusters(1), 4) << "as many tokens as the model has";
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(lookup.cluster(step, 3), -1);
    EXPECT_EQ(lookup.size(step, 3), 0);
    EXPECT_EQ(lookup.mergedAt(step, 3), 0);
  }
  EXPECT_THAT(lookup.members(1, 2), ElementsAre(5));
  EXPECT_EQ(lookup.mergedAt(1, 5), 0);
  EXPECT_EQ(lookup.mergedAt(2, 5), 2);
  const auto borders = mergeBorders(lookup, 1);
  EXPECT_EQ(std::count(borders.begin(), borders.end(), GridLine{1, 1, 1, 2}), 0) << "between two of them";
  EXPECT_EQ(std::count(borders.begin(), borders.end(), GridLine{0, 1, 1, 1}), 1) << "around them";
  for (const auto coloring : {MergeColoring::kMean, MergeColoring::kSize, MergeColoring::kInsertion}) {
    const auto fill = mergeFill(lookup, 2, coloring, std::vector<QRgb>(6, qRgb(1, 2, 3)));
    EXPECT_EQ(fill[3], qRgb(0, 0, 0));
    EXPECT_NE(fill[5], qRgb(0, 0, 0));
  }
}

TEST(PatchSelection, MouseKeysAndPin) {
  PatchSelection selection;
  int changes = 0;
  QObject::connect(&selection, &PatchSelection::changed, [&] { ++changes; });
  selection.point(7, QPointF(0.1, 0.2));
  selection.point(7, QPointF(0.1, 0.2));
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(selection.token(), 7);
  selection.togglePin(7);
  selection.point(3, std::nullopt);
  EXPECT_EQ(selection.token(), 7) << "a pinned patch stays";
  selection.togglePin(7);
  EXPECT_EQ(selection.token(), 3);
  selection.move(1, 0, 5, 4);
  EXPECT_EQ(selection.token(), 4);
  selection.move(1, 0, 5, 4);
  EXPECT_EQ(selection.token(), 4) << "stops at the edge";
  for (int i = 0; i < 9; ++i) selection.move(0, 1, 5, 8);
  EXPECT_EQ(selection.token(), 39);
  selection.limit(39);
  EXPECT_EQ(selection.token(), std::nullopt);
}

}  // namespace
}  // namespace mpm::gui
