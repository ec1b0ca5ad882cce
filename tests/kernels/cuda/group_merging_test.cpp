// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/group_merging.h"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/cuda/on_device.h"
#include "merging/reference_merge.h"
#include "support/throws_with.h"

namespace mpm::cuda {
namespace {

using mpm::test::MergedRows;
using mpm::test::Rows;
using test::normal;
using test::Packed;

class CudaGroupMerging : public test::OnDevice {
 protected:
  /// The step of the double loops for image b: its rows, what is compared, and the sizes of its clusters.
  using Expected =
      std::function<MergedRows(int b, const Rows& x, const Rows& metric, const std::vector<double>& sizes)>;

  static Rows rowsOf(const std::vector<float>& values, int begin, int end, int dim) {
    Rows rows;
    for (int i = begin; i < end; ++i) rows.emplace_back(values.begin() + i * dim, values.begin() + (i + 1) * dim);
    return rows;
  }

  /// Merges `steps` times; each step merges what the step before left, and compares rows of its own.
  void expectSteps(const MergeRule& rule, Compared compared, int patches, int special, int steps,
                   const Expected& expected) {
    const int batch = 2, dim = 21, metric_dim = 6;
    std::vector<float> x = normal(batch * (special + patches) * dim, 5, 1, 0.5f);
    TokenState state;
    state.reset(stream(), batch, patches, special);
    GroupMerge merge;
    for (int step = 0; step < steps; ++step) {
      SCOPED_TRACE(::testing::Message() << "step " << step);
      const std::vector<int> before = fetched(state.rows().offsets, batch + 1);
      const std::vector<int> sizes = fetched(state.sizes(), batch * patches);
      const std::vector<int> map = fetched(state.clusterOfPatch(), batch * patches);
      std::vector<float> metric = normal(before[batch] * metric_dim, static_cast<unsigned>(step + patches), 1, 0.5f);
      // Some rows are so long or so short that their squares leave the range of floats.
      for (int i = 0; i < before[batch] * metric_dim; ++i) {
        const int row = i / metric_dim;
        metric[i] *= row % 7 == 3 ? 1e25f : row % 7 == 5 ? 1e-25f : 1;
      }
      const Buffer<float> device_x = uploaded(stream(), x), device_metric = uploaded(stream(), metric);
      Buffer<float> merged(stream(), x.size());
      compared.metric = device_metric.data();
      compared.metric_dim = metric_dim;
      merge.run(stream(), rule, compared, device_x.data(), dim, state, merged.data());
      state.countRows();
      const std::vector<int> after = fetched(state.rows().offsets, batch + 1);
      const std::vector<float> found = fetched(merged.data(), after[batch] * dim);
      const std::vector<int> found_map = fetched(state.clusterOfPatch(), batch * patches);
      const std::vector<int> found_sizes = fetched(state.sizes(), batch * patches);
      for (int b = 0; b < batch; ++b) {
        const int live = before[b + 1] - before[b] - special, first = b * patches;
        const MergedRows wanted =
            expected(b, rowsOf(x, before[b], before[b + 1], dim), rowsOf(metric, before[b], before[b + 1], metric_dim),
                     std::vector<double>(sizes.begin() + first, sizes.begin() + first + live));
        ASSERT_EQ(after[b + 1] - after[b], static_cast<int>(wanted.rows.size()));
        for (std::size_t k = 0; k < wanted.sizes.size(); ++k) ASSERT_EQ(found_sizes[first + k], wanted.sizes[k]) << k;
        for (int i = 0; i < patches; ++i)
          ASSERT_EQ(found_map[first + i], wanted.cluster_of_row[map[first + i]]) << "patch " << i;
        for (std::size_t i = 0; i < wanted.rows.size(); ++i)
          for (int c = 0; c < dim; ++c)
            ASSERT_NEAR(static_cast<double>(found[(after[b] + i) * dim + c]), wanted.rows[i][c], 2e-6) << "row " << i;
      }
      x = found;
    }
  }
};

// Odd and even numbers of rows, more than one tile, and images that shrink to two rows.
TEST_F(CudaGroupMerging, MatchesOfEvenWithOddRows) {
  for (const unsigned schedule : test::schedules())
    for (const int patches : {1, 2, 3, 5, 64, 131})
      for (const int special : {0, 1, 2})
        for (const int count : {0, 1, 7, 1000, -1}) {
          SCOPED_TRACE(::testing::Message() << schedule << ": " << patches << " + " << special << ", count " << count);
          test::useSchedule(schedule);
          const int most = count < 0 ? patches : count;
          expectSteps({.groups = MergeGroups::kEvenOdd, .count = count, .weighted = true}, {}, patches, special, 2,
                      [&](int, const Rows& x, const Rows& metric, const std::vector<double>& sizes) {
                        return mpm::test::mergeTome(x, metric, special, sizes, most);
                      });
        }
}

TEST_F(CudaGroupMerging, MatchesAboveTheMean) {
  for (const unsigned schedule : test::schedules())
    for (const int special : {0, 1})
      for (const float deviations : {0.0f, 0.2f, 1.0f}) {
        SCOPED_TRACE(::testing::Message() << schedule << ": " << special << ", " << deviations);
        test::useSchedule(schedule);
        expectSteps(
            {.groups = MergeGroups::kEvenOdd, .deviations = deviations, .weighted = true}, {}, 80, special, 1,
            [&](int, const Rows& x, const Rows& metric, const std::vector<double>& sizes) {
              return mpm::test::mergeEvenOdd(x, metric, special, sizes, [&](std::vector<mpm::test::ScoredPair> pairs) {
                const double threshold = mpm::test::meanPlusDeviations(pairs, static_cast<double>(deviations));
                std::erase_if(pairs, [&](const auto& pair) { return pair.similarity < threshold; });
                return pairs;
              });
            });
      }
}

// Odd rows that are equal: each even row takes the first of them.
TEST_F(CudaGroupMerging, EqualMatchesTakeTheLowestRow) {
  const int patches = 140;
  std::vector<float> values;
  for (int i = 0; i < patches; ++i) {
    const bool same = i % 2 == 0 || i >= 71;
    values.insert(values.end(), {same ? 1.0f : -1.0f, same ? 2.0f : 1.0f, 3.0f});
  }
  for (const unsigned schedule : test::schedules()) {
    test::useSchedule(schedule);
    TokenState state;
    state.reset(stream(), 1, patches, 0);
    const Buffer<float> x = uploaded(stream(), values);
    Buffer<float> merged(stream(), values.size());
    GroupMerge().run(stream(), {.groups = MergeGroups::kEvenOdd}, {.metric = x.data(), .metric_dim = 3}, x.data(), 3,
                     state, merged.data());
    ASSERT_EQ(state.countRows(), std::vector<int>{patches / 2});
    const std::vector<int> map = fetched(state.clusterOfPatch(), patches);
    for (int i = 0; i < patches; ++i) ASSERT_EQ(map[i], i % 2 == 0 ? 35 : i / 2) << i;
    const std::vector<float> mean = fetched(merged.data() + 35 * 3, 3);
    EXPECT_EQ(mean, (std::vector<float>{1, 2, 3})) << "the mean of equal rows is the same row";
  }
}

TEST_F(CudaGroupMerging, Windows) {
  struct Grid {
    int height, width;
  };
  for (const unsigned schedule : test::schedules())
    for (const Grid& grid : {Grid{2, 2}, {2, 6}, {8, 10}, {6, 22}})
      for (const int special : {0, 2})
        for (const float similarity : {-1.0f, 0.1f, 0.3f, 2.0f})
          for (const int count : {-1, 3}) {
            SCOPED_TRACE(::testing::Message() << schedule << ": " << grid.height << "x" << grid.width << " + "
                                              << special << ", " << similarity << ", count " << count);
            test::useSchedule(schedule);
            const int patches = grid.height * grid.width;
            const MergeRule rule{.groups = MergeGroups::kWindows,
                                 .count = count,
                                 .similarity = similarity,
                                 .weighted = true,
                                 .grid_width = grid.width};
            expectSteps(rule, {}, patches, special, 1,
                        [&](int, const Rows& x, const Rows& metric, const std::vector<double>& sizes) {
                          // The oracle compares rows and merges them: once with the metric, for the map.
                          const MergedRows by_metric =
                              mpm::test::mergeWindows(metric, special, sizes, grid.width, similarity,
                                                      static_cast<std::size_t>(count < 0 ? patches : count));
                          std::vector<std::vector<int>> clusters(by_metric.sizes.size());
                          for (int i = 0; i < patches; ++i) clusters[by_metric.cluster_of_row[i]].push_back(i);
                          return mpm::test::averaged(x, special, sizes, clusters, true);
                        });
          }
}

// By falling score, ties to the first; a score may be lower than any similarity.
TEST_F(CudaGroupMerging, WindowsByScoresTakeTheirSharedRows) {
  const int height = 6, width = 10, patches = height * width, windows = patches / 4, batch = 2, dim = 21;
  std::vector<float> scores = normal(batch * windows, 8);
  for (float& score : scores) score = std::round(2 * score) - 40;
  const std::vector<float> shared = normal(batch * windows * dim, 9);
  const Buffer<float> device_scores = uploaded(stream(), scores), device_shared = uploaded(stream(), shared);
  for (const unsigned schedule : test::schedules())
    for (const int special : {0, 1})
      for (const int count : {0, 5, 1000}) {
        SCOPED_TRACE(::testing::Message() << schedule << ": " << special << ", count " << count);
        test::useSchedule(schedule);
        expectSteps({.groups = MergeGroups::kScoredWindows, .count = count, .grid_width = width},
                    {.scores = device_scores.data(), .shared = device_shared.data()}, patches, special, 1,
                    [&](int b, const Rows& x, const Rows&, const std::vector<double>& sizes) {
                      std::vector<mpm::test::ScoredPair> pairs;
                      for (int w = 0; w < windows; ++w) pairs.push_back({scores[b * windows + w], w, 0});
                      pairs = mpm::test::mostSimilar(pairs, static_cast<std::size_t>(count));
                      std::vector<std::vector<int>> clusters;
                      std::vector<bool> gone(patches);
                      for (const auto& pair : pairs) {
                        const int first = pair.first / (width / 2) * 2 * width + pair.first % (width / 2) * 2;
                        clusters.push_back({first, first + 1, first + width, first + width + 1});
                        for (const int i : clusters.back()) gone[i] = true;
                      }
                      for (int i = 0; i < patches; ++i)
                        if (!gone[i]) clusters.push_back({i});
                      MergedRows result = mpm::test::averaged(x, special, sizes, clusters, false);
                      for (std::size_t k = 0; k < pairs.size(); ++k) {
                        const float* const row = shared.data() + (b * windows + pairs[k].first) * dim;
                        result.rows[special + k].assign(row, row + dim);
                      }
                      return result;
                    });
      }
}

TEST_F(CudaGroupMerging, NotANumberIsAnErrorThatNamesTheImage) {
  const int patches = 16, batch = 3, dim = 5;
  std::vector<float> good = normal(batch * patches * dim, 1), bad = good, scores = normal(batch * patches / 4, 2);
  bad[(patches + 3) * dim + 2] = std::numeric_limits<float>::quiet_NaN();
  scores[patches / 4 + 1] = std::numeric_limits<float>::infinity();
  const Buffer<float> x = uploaded(stream(), good), device_bad = uploaded(stream(), bad),
                      device_scores = uploaded(stream(), scores);
  Buffer<float> merged(stream(), good.size());
  GroupMerge merge;
  for (const MergeGroups groups : {MergeGroups::kEvenOdd, MergeGroups::kWindows, MergeGroups::kScoredWindows}) {
    TokenState state;
    state.reset(stream(), batch, patches, 0);
    const MergeRule rule{.groups = groups, .grid_width = 4};
    merge.run(stream(), rule, {device_bad.data(), dim, device_scores.data(), x.data()}, x.data(), dim, state,
              merged.data());
    EXPECT_MPM_ERROR(state.countRows(), "image 1");
  }
}

TEST_F(CudaGroupMerging, WindowsNeedTheFullGrid) {
  const Buffer<float> x = uploaded(stream(), normal(16 * 3, 1));
  Buffer<float> merged(stream(), 16 * 3);
  TokenState state;
  state.reset(stream(), 1, 16, 0);
  GroupMerge merge;
  const Compared compared{.metric = x.data(), .metric_dim = 3};
  merge.run(stream(), {.groups = MergeGroups::kEvenOdd, .count = 2}, compared, x.data(), 3, state, merged.data());
  state.countRows();
  EXPECT_MPM_ERROR(merge.run(stream(), {.groups = MergeGroups::kWindows, .grid_width = 4}, compared, x.data(), 3, state,
                             merged.data()),
                   "windows need the full grid");
}

}  // namespace
}  // namespace mpm::cuda
