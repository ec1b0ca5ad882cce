// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/merging.h"

#include <cmath>

#include "kernels/cuda/on_device.h"
#include "support/throws_with.h"

namespace mpm::cuda {
namespace {

using test::Packed;

// One image on the host: the rule of the paper in plain loops, for best neighbours that are given.
struct HostImage {
  std::vector<std::vector<float>> rows;  // special rows in front
  std::vector<int> map, sizes;

  void merge(const std::vector<int>& best, int special) {
    const int n = static_cast<int>(best.size());
    std::vector<int> cluster(best.size());
    std::vector<std::vector<float>> merged(rows.begin(), rows.begin() + special);
    std::vector<int> merged_sizes;
    for (int i = 0; i < n; ++i) {
      const int j = best[i];
      const bool mutual = j != i && best[j] == i;
      const std::vector<float>& row = rows[special + i];
      if (mutual && j < i) {
        cluster[i] = cluster[j];
        std::vector<float>& mean = merged[special + cluster[i]];
        for (std::size_t c = 0; c < row.size(); ++c) mean[c] = 0.5f * mean[c] + 0.5f * row[c];
        merged_sizes[cluster[i]] += sizes[i];
      } else {
        cluster[i] = static_cast<int>(merged_sizes.size());
        merged.push_back(row);
        merged_sizes.push_back(sizes[i]);
      }
    }
    for (int& id : map) id = cluster[id];
    rows = merged;
    sizes = merged_sizes;
  }
};

class CudaMerging : public test::OnDevice {};

TEST_F(CudaMerging, TwoMergesAndTheWayBack) {
  const int batch = 3, patches = 280, dim = 21;
  for (const unsigned schedule : test::schedules())
    for (const int special : {0, 2}) {
      SCOPED_TRACE(::testing::Message() << "schedule " << schedule << ", special " << special);
      test::useSchedule(schedule);
      const int rows = patches + special;
      const std::vector<float> values = test::normal(batch * rows * dim, 5);
      std::vector<HostImage> host(batch);
      for (int b = 0; b < batch; ++b) {
        HostImage& image = host[b];
        for (int i = 0; i < rows; ++i)
          image.rows.emplace_back(values.begin() + (b * rows + i) * dim, values.begin() + (b * rows + i + 1) * dim);
        image.map.resize(patches);
        std::iota(image.map.begin(), image.map.end(), 0);
        image.sizes.assign(patches, 1);
      }

      TokenState state;
      state.reset(stream(), batch, patches, special);
      MutualPairMerge merge;
      Buffer<float> tokens[2] = {uploaded(stream(), values), Buffer<float>(stream(), values.size())};
      for (int k = 0; k < 2; ++k) {
        const Ragged before = state.rows();
        const float* x = tokens[k % 2].data();
        const int* best = merge.findPairs(stream(), x, dim, state);
        const std::vector<int> all_best = fetched(best, before.total);
        const std::vector<int> offsets = fetched(before.offsets, batch + 1);
        merge.mergePairs(stream(), x, dim, best, state, tokens[1 - k % 2].data());
        const std::vector<int>& live = state.countRows();
        for (int b = 0; b < batch; ++b) {
          host[b].merge({all_best.begin() + offsets[b] + special, all_best.begin() + offsets[b + 1]}, special);
          ASSERT_EQ(live[b], static_cast<int>(host[b].sizes.size()));
          ASSERT_LT(live[b], offsets[b + 1] - offsets[b] - special);
        }
        const std::vector<int> after = fetched(state.rows().offsets, batch + 1);
        const std::vector<float> merged = fetched(tokens[1 - k % 2].data(), after[batch] * dim);
        const std::vector<int> map = fetched(state.clusterOfPatch(), batch * patches);
        const std::vector<int> sizes = fetched(state.sizes(), batch * patches);
        std::vector<float> expected;
        for (int b = 0; b < batch; ++b) {
          const HostImage& image = host[b];
          for (const auto& row : image.rows) expected.insert(expected.end(), row.begin(), row.end());
          ASSERT_EQ(std::vector<int>(map.begin() + b * patches, map.begin() + (b + 1) * patches), image.map);
          ASSERT_EQ(std::vector<int>(sizes.begin() + b * patches,
                                     sizes.begin() + b * patches + static_cast<int>(image.sizes.size())),
                    image.sizes);
        }
        ASSERT_EQ(merged, expected);
        ASSERT_EQ(state.rows().total, after[batch]);
      }

      Buffer<float> bias(stream(), state.rows().total);
      state.keyBias(stream(), true, bias.data());
      const std::vector<float> logs = fetched(bias.data(), state.rows().total);
      std::size_t next = 0;
      for (const HostImage& image : host) {
        for (int i = 0; i < special; ++i) ASSERT_EQ(logs[next++], 0.0f);
        for (const int size : image.sizes)
          ASSERT_LE(std::abs(logs[next++] - std::log(static_cast<float>(size))), 1e-6f);
      }

      for (const bool keep : {true, false}) {
        const int kept = keep ? special : 0;
        Buffer<float> restored(stream(), batch * (kept + patches) * dim);
        restoreRows(stream(), tokens[0].data(), dim, state, keep, restored.data());
        std::vector<float> expected;
        for (const HostImage& image : host) {
          for (int i = 0; i < kept; ++i) expected.insert(expected.end(), image.rows[i].begin(), image.rows[i].end());
          for (const int id : image.map)
            expected.insert(expected.end(), image.rows[special + id].begin(), image.rows[special + id].end());
        }
        EXPECT_EQ(fetched(restored.data(), expected.size()), expected);
      }
    }
}

// The most similar pairs only, by number and by similarity, and means by size: in plain loops.
TEST_F(CudaMerging, ChosenPairs) {
  const int batch = 2, patches = 150, special = 1, dim = 13, rows = special + patches;
  const std::vector<float> values = test::normal(batch * rows * dim, 8);
  const MergeRule rules[] = {{.count = 0},
                             {.count = 5},
                             {.count = 1000},
                             {.similarity = 0.6f},
                             {.deviations = 0},
                             {.deviations = 1},
                             {.count = 3, .similarity = 0.5f, .deviations = 0.5f, .weighted = true}};
  for (const unsigned schedule : test::schedules())
    for (const MergeRule& rule : rules) {
      SCOPED_TRACE(::testing::Message() << rule.count << " " << rule.similarity << " " << rule.deviations);
      test::useSchedule(schedule);
      TokenState state;
      state.reset(stream(), batch, patches, special);
      MutualPairMerge merge;
      const Buffer<float> x = uploaded(stream(), values);
      Buffer<float> merged[2] = {Buffer<float>(stream(), values.size()), Buffer<float>(stream(), values.size())};
      // Once plainly, so that the next rows have sizes.
      merge.run(stream(), x.data(), dim, state, merged[0].data());
      state.countRows();
      const std::vector<int> offsets = fetched(state.rows().offsets, batch + 1);
      const std::vector<float> before = fetched(merged[0].data(), offsets[batch] * dim);
      const std::vector<int> sizes = fetched(state.sizes(), batch * patches);
      int* const best = merge.findPairs(stream(), merged[0].data(), dim, state);
      const std::vector<int> neighbours = fetched(best, offsets[batch]);
      merge.run(stream(), rule, merged[0].data(), dim, merged[0].data(), dim, state, merged[1].data());
      const std::vector<int> live = state.countRows();
      const std::vector<float> found = fetched(merged[1].data(), state.rows().total * dim);
      std::size_t at = 0;
      for (int b = 0; b < batch; ++b) {
        const int begin = offsets[b] + special, n = offsets[b + 1] - begin;
        const auto value = [&](int i, int c) { return static_cast<double>(before[(begin + i) * dim + c]); };
        struct Pair {
          double similarity;
          int first, second;
        };
        std::vector<Pair> pairs;
        for (int i = 0; i < n; ++i) {
          const int j = neighbours[begin + i];
          if (i >= j || neighbours[begin + j] != i) continue;
          double dot = 0, one = 0, other = 0;
          for (int c = 0; c < dim; ++c)
            dot += value(i, c) * value(j, c), one += value(i, c) * value(i, c), other += value(j, c) * value(j, c);
          pairs.push_back({dot / std::sqrt(one * other), i, j});
        }
        double mean = 0, squares = 0, threshold = static_cast<double>(rule.similarity);
        for (const Pair& pair : pairs) mean += pair.similarity / static_cast<double>(pairs.size());
        for (const Pair& pair : pairs) squares += std::pow(pair.similarity - mean, 2);
        if (rule.deviations >= 0)
          threshold = std::max(threshold, mean + static_cast<double>(rule.deviations) *
                                                     std::sqrt(squares / static_cast<double>(pairs.size() - 1)));
        std::erase_if(pairs, [&](const Pair& pair) { return pair.similarity < threshold; });
        std::stable_sort(pairs.begin(), pairs.end(),
                         [](const Pair& a, const Pair& c) { return a.similarity > c.similarity; });
        if (rule.count >= 0 && static_cast<int>(pairs.size()) > rule.count)
          pairs.resize(static_cast<std::size_t>(rule.count));
        ASSERT_EQ(live[b], n - static_cast<int>(pairs.size()));
        at += static_cast<std::size_t>(special * dim);
        for (int i = 0; i < n; ++i) {
          const auto pair =
              std::find_if(pairs.begin(), pairs.end(), [&](const Pair& p) { return p.first == i || p.second == i; });
          if (pair != pairs.end() && pair->second == i) continue;
          for (int c = 0; c < dim; ++c, ++at) {
            double expected = value(i, c);
            if (pair != pairs.end()) {
              const double one = rule.weighted ? sizes[b * patches + i] : 1,
                           other = rule.weighted ? sizes[b * patches + pair->second] : 1;
              expected = (one * value(i, c) + other * value(pair->second, c)) / (one + other);
            }
            ASSERT_NEAR(static_cast<double>(found[at]), expected, 1e-6) << "row " << i;
          }
        }
      }
    }
}

TEST_F(CudaMerging, AStateOfTheHost) {
  // Images of 3 and of 1 live rows.
  const std::vector<float> states = {3, 0, 1, 0, 2, 2, 1, 1, 9, 1, 0, 0, 0, 0, 4, 7, 7, 7};
  TokenState state;
  state.read(stream(), {states.data(), 2, 9}, 2);
  EXPECT_EQ(state.countRows(), (std::vector<int>{3, 1}));
  EXPECT_EQ(fetched(state.rows().offsets, 3), (std::vector<int>{0, 5, 8}));
  EXPECT_EQ(state.rows().total, 8);
  EXPECT_EQ(state.rows().longest, 5);
  EXPECT_EQ(fetched(state.clusterOfPatch(), 8), (std::vector<int>{0, 1, 0, 2, 0, 0, 0, 0}));
  EXPECT_EQ(fetched(state.sizes(), 3), (std::vector<int>{2, 1, 1}));
  EXPECT_EQ(fetched(state.sizes() + 4, 1), std::vector<int>{4});
  for (const float cluster : {-1.0f, 3.0f, std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> foreign = states;
    foreign[2] = cluster;
    EXPECT_MPM_ERROR(state.read(stream(), {foreign.data(), 2, 9}, 0), "patch 1 of image 0");
  }
}

// The mean of the members, their first, or the angle of their mean, in plain loops.
TEST_F(CudaMerging, RotaryPositionsOfMergedRows) {
  const int patches = 70, tables = 3, pairs = 5, columns = 2 * tables * pairs;
  const std::vector<float> cosine = test::normal(tables * patches * pairs, 1), sine = test::normal(cosine.size(), 2);
  const auto view = [&](const std::vector<float>& table) {
    return MatrixView<const float>(table.data(), tables * patches, pairs);
  };
  // Two images: neighbours in pairs, and only the first with the last.
  std::vector<int> best(2 * patches);
  for (int i = 0; i < patches; ++i) best[i] = i ^ 1;
  for (int i = 0; i < patches; ++i) best[patches + i] = i == 0 ? patches - 1 : 0;
  const Buffer<int> device_best = uploaded(stream(), best);
  const Buffer<float> x = uploaded(stream(), test::normal(best.size(), 3));
  Buffer<float> merged(stream(), best.size());
  for (const unsigned schedule : test::schedules())
    for (const MergedPositions policy : {MergedPositions::kMean, MergedPositions::kCentroid, MergedPositions::kFirst}) {
      test::useSchedule(schedule);
      TokenState state;
      state.reset(stream(), 2, patches, 0);
      MutualPairMerge merge;
      merge.mergePairs(stream(), x.data(), 1, device_best.data(), state, merged.data());
      ASSERT_EQ(state.countRows(), (std::vector<int>{patches / 2, patches - 1}));
      Buffer<float> rotations(stream(), area(state.rows().total, columns));
      RotaryTables(stream(), policy, view(cosine), view(sine)).run(stream(), state, rotations.data());
      const std::vector<float> found = fetched(rotations.data(), area(state.rows().total, columns));
      const std::vector<int> map = fetched(state.clusterOfPatch(), 2 * patches);
      for (int b = 0, begin = 0; b < 2; begin += state.liveRows()[b++])
        for (int row = 0; row < state.liveRows()[b]; ++row)
          for (int c = 0; c < columns; ++c) {
            const bool second = c >= columns / 2;
            const int column = c % (columns / 2);
            const std::vector<float>& table = second && policy != MergedPositions::kCentroid ? sine : cosine;
            double sum = 0;
            int members = 0;
            for (int i = 0; i < patches; ++i) {
              if (map[b * patches + i] != row || (policy == MergedPositions::kFirst && members > 0)) continue;
              sum += static_cast<double>(table[(column / pairs * patches + i) * pairs + column % pairs]);
              ++members;
            }
            double expected = sum / members;
            if (policy == MergedPositions::kCentroid) expected = second ? std::sin(expected) : std::cos(expected);
            ASSERT_NEAR(static_cast<double>(found[(begin + row) * columns + c]), expected, 1e-6)
                << "policy " << static_cast<int>(policy) << ", image " << b << ", row " << row << ", column " << c;
          }
    }
}

// Pairs, a chain of neighbours that are not mutual, and one row that is its own neighbour (an image of one patch).
TEST_F(CudaMerging, OnlyMutualPairsMerge) {
  const std::vector<int> best = {3, 0, 1, 0, 5, 4, 4, 3, /* image 2 */ 1, 0, 1, 1, 1, 1, 1, 1};
  const std::vector<float> values = test::normal(16, 1);
  TokenState state;
  state.reset(stream(), 2, 8, 0);
  const Buffer<int> device_best = uploaded(stream(), best);
  const Buffer<float> x = uploaded(stream(), values);
  Buffer<float> merged(stream(), 16);
  MutualPairMerge merge;
  merge.mergePairs(stream(), x.data(), 1, device_best.data(), state, merged.data());
  EXPECT_EQ(state.countRows(), (std::vector<int>{6, 7}));
  EXPECT_EQ(fetched(state.clusterOfPatch(), 16), (std::vector<int>{0, 1, 2, 0, 3, 3, 4, 5, 0, 0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(fetched(merged.data(), 1)[0], 0.5f * values[0] + 0.5f * values[3]);

  state.reset(stream(), 1, 1, 0);
  merge.run(stream(), x.data(), 1, state, merged.data());
  EXPECT_EQ(state.countRows(), std::vector<int>{1});
}

TEST_F(CudaMerging, NotANumberIsAnErrorThatNamesTheImage) {
  std::vector<float> values = test::normal(3 * 20 * 4, 1);
  values[2 * 20 * 4 + 9] = std::numeric_limits<float>::quiet_NaN();
  TokenState state;
  state.reset(stream(), 3, 20, 0);
  const Buffer<float> x = uploaded(stream(), values);
  Buffer<float> merged(stream(), values.size());
  MutualPairMerge merge;
  merge.run(stream(), x.data(), 4, state, merged.data());
  EXPECT_MPM_ERROR(state.countRows(), "image 2");
  // The next batch is not to blame.
  state.reset(stream(), 1, 20, 0);
  merge.run(stream(), x.data(), 4, state, merged.data());
  EXPECT_LT(state.countRows()[0], 20);
}

}  // namespace
}  // namespace mpm::cuda
