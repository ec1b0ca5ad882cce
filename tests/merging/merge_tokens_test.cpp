// SPDX-License-Identifier: Apache-2.0
// The merging steps of the reduction family, each against its own double loops, and what all of them keep.
#include "merging/merge_tokens.h"

#include "kernels/random.h"
#include "kernels/threads.h"
#include "merging/reference_merge.h"
#include "support/matchers.h"

namespace mpm {
namespace {

using testing::ElementsAreArray;

/// Tokens of one image with its state, and the result of a step.
struct Image {
  int special, dim, patches;
  std::vector<float> tokens, before, merged, after;

  Image(std::vector<float> values, int special_rows, int width)
      : special(special_rows),
        dim(width),
        patches(static_cast<int>(values.size()) / width - special_rows),
        tokens(std::move(values)),
        before(TokenState<float>::size(patches)),
        merged(tokens.size(), std::numeric_limits<float>::quiet_NaN()),
        after(before.size(), -1.f) {
    resetState({before.data(), patches});
  }
  static Image random(int patches, int special, int dim, unsigned seed) {
    return {test::normal((patches + special) * dim, seed, 1, 0.5f), special, dim};
  }

  TokenState<const float> state() const { return {before.data(), patches}; }
  TokenState<const float> result() const { return {after.data(), patches}; }
  int live() const { return state().live(); }
  MatrixView<const float> rows() const { return {tokens.data(), special + live(), dim}; }

  bool merge(const MergeRule& rule, const Parallel& parallel = Serial()) {
    return mergeTokens(rule, rows(), special, state(), {merged.data(), special + live(), dim}, {after.data(), patches},
                       parallel);
  }
  /// The result becomes the input.
  void advance() {
    std::swap(tokens, merged);
    std::swap(before, after);
  }

  test::Rows doubles() const {
    test::Rows all;
    for (int i = 0; i < special + live(); ++i) all.emplace_back(rows().row(i), rows().row(i) + dim);
    return all;
  }
  std::vector<double> sizes() const { return {state().clusterSize(), state().clusterSize() + live()}; }
};

void expectMerged(const Image& image, const test::MergedRows& expected) {
  const int clusters = static_cast<int>(expected.sizes.size());
  ASSERT_EQ(image.result().live(), clusters);
  for (int k = 0; k < clusters; ++k) ASSERT_EQ(image.result().clusterSize()[k], expected.sizes[k]) << k;
  for (int i = 0; i < image.patches; ++i)
    ASSERT_EQ(image.result().clusterOfToken()[i],
              expected.cluster_of_row[static_cast<int>(image.state().clusterOfToken()[i])])
        << i;
  for (int i = 0; i < image.special + clusters; ++i)
    for (int c = 0; c < image.dim; ++c)
      ASSERT_NEAR(image.merged[i * image.dim + c], expected.rows[i][c], 2e-6) << i << ", " << c;
}

/// Sizes add up to N, weighted sums stay, special rows are copied, the map is valid, and no row holds a NaN.
void expectKept(const Image& image, bool weighted) {
  const auto before = image.state(), after = image.result();
  ASSERT_GE(after.live(), (before.live() + 1) / 4);
  ASSERT_LE(after.live(), before.live());
  std::vector<float> members(after.live());
  for (int i = 0; i < image.patches; ++i) {
    const float cluster = after.clusterOfToken()[i];
    ASSERT_TRUE(cluster >= 0 && cluster < after.data[0]) << cluster;
    ++members[cluster];
  }
  EXPECT_THAT(members, ElementsAreArray(after.clusterSize(), after.live()));
  for (int i = 0; i < image.special * image.dim; ++i) EXPECT_EQ(image.merged[i], image.tokens[i]);
  for (int c = 0; weighted && c < image.dim; ++c) {
    double was = 0, is = 0, scale = 1e-9;
    for (int i = 0; i < before.live(); ++i) {
      const double term =
          static_cast<double>(before.clusterSize()[i]) * image.tokens[(image.special + i) * image.dim + c];
      was += term;
      scale += std::abs(term);
    }
    for (int k = 0; k < after.live(); ++k)
      is += static_cast<double>(after.clusterSize()[k]) * image.merged[(image.special + k) * image.dim + c];
    EXPECT_NEAR(is, was, 1e-6 * scale) << "column " << c;
  }
}

MergeRule gradual(int count, float similarity = -2) {
  return {.count = count, .similarity = similarity, .weighted = true};
}
MergeRule tome(int count) { return {.groups = MergeGroups::kEvenOdd, .count = count, .weighted = true}; }
MergeRule aboveMean(float deviations) {
  return {.groups = MergeGroups::kEvenOdd, .deviations = deviations, .weighted = true};
}
MergeRule windows(int width, float similarity) {
  return {.groups = MergeGroups::kWindows, .similarity = similarity, .weighted = true, .grid_width = width};
}

constexpr auto kNoLimit = static_cast<std::size_t>(-1);

TEST(MutualPairs, StepsAreThoseOfDoubleLoops) {
  for (const int patches : {1, 2, 3, 5, 17, 64, 65, 130})
    for (const int special : {0, 1, 2, 5})
      for (const MergeRule& rule :
           {MergeRule{}, gradual(1), gradual(9), gradual(1000), gradual(-1, 0.3f), gradual(4, 0.25f)}) {
        Image image = Image::random(patches, special, 16, static_cast<unsigned>(patches * 10 + special));
        for (int step = 0; step < 4; ++step) {
          SCOPED_TRACE(testing::Message()
                       << patches << " + " << special << ", count " << rule.count << ", step " << step);
          ASSERT_TRUE(image.merge(rule));
          expectMerged(image, test::mergeMutual(image.doubles(), special, image.sizes(),
                                                rule.count < 0 ? kNoLimit : static_cast<std::size_t>(rule.count),
                                                rule.similarity, rule.weighted));
          expectKept(image, rule.weighted);
          image.advance();
        }
      }
}

TEST(Gradual, OfEqualSimilaritiesTheFirstPairsMerge) {
  // Three pairs of equal rows at right angles: all have similarity 1.
  Image image({0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0}, 0, 3);
  ASSERT_TRUE(image.merge(gradual(2)));
  EXPECT_THAT(std::vector(image.after.begin(), image.after.begin() + 7), ElementsAre(4, 0, 1, 2, 0, 1, 3));
}

TEST(Tome, StepsAreThoseOfDoubleLoops) {
  for (const int patches : {1, 2, 3, 4, 5, 18, 63, 64, 131})
    for (const int special : {0, 1, 2, 3})
      for (const int count : {1, 7, 1000}) {
        Image image = Image::random(patches, special, 16, static_cast<unsigned>(patches * 10 + special));
        for (int step = 0; step < 4; ++step) {
          SCOPED_TRACE(testing::Message() << patches << " + " << special << ", count " << count << ", step " << step);
          ASSERT_TRUE(image.merge(tome(count)));
          expectMerged(image, test::mergeTome(image.doubles(), image.doubles(), special, image.sizes(), count));
          expectKept(image, true);
          image.advance();
        }
      }
}

TEST(Tome, ComparesTheMetricAndMergesTheTokens) {
  const Image keys = Image::random(40, 1, 6, 9);
  Image image = Image::random(40, 1, 16, 8);
  GroupsOfImage found;
  ASSERT_TRUE(findGroups(tome(5), keys.rows(), 1, found, Serial()));
  mergeGroups(tome(5), found, image.rows(), 1, image.state(), {image.merged.data(), 41, 16}, {image.after.data(), 40});
  expectMerged(image, test::mergeTome(image.doubles(), keys.doubles(), 1, image.sizes(), 5));
}

TEST(AboveMean, StepsAreThoseOfDoubleLoops) {
  for (const int patches : {4, 7, 30, 65, 128})
    for (const int special : {0, 1, 2})
      for (const float deviations : {0.f, 0.2f, 1.f}) {
        SCOPED_TRACE(testing::Message() << patches << " + " << special << ", " << deviations);
        Image image = Image::random(patches, special, 12, static_cast<unsigned>(patches));
        ASSERT_TRUE(image.merge(aboveMean(deviations)));
        expectMerged(image, test::mergeAboveMean(image.doubles(), special, image.sizes(), deviations));
        expectKept(image, true);
      }
}

TEST(Windows, StepsAreThoseOfDoubleLoops) {
  for (const auto& [height, width] : {std::pair(2, 2), {2, 6}, {4, 2}, {8, 10}, {6, 22}})
    for (const int special : {0, 1, 2})
      for (const float similarity : {-1.f, 0.2f, 0.3f, 2.f}) {
        SCOPED_TRACE(testing::Message() << height << "x" << width << " + " << special << ", " << similarity);
        Image image = Image::random(height * width, special, 12, static_cast<unsigned>(width));
        ASSERT_TRUE(image.merge(windows(width, similarity)));
        expectMerged(image, test::mergeWindows(image.doubles(), special, image.sizes(), width, similarity));
        expectKept(image, true);
      }
}

TEST(Windows, StandBySimilarityThenInRasterOrder) {
  // 2x6: the third window is of equal rows, the first nearly so, the second is not.
  Image image({1, 0, 1, .1f, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, -1, 0, 0, -1, 0, 1, 0, 1}, 0, 2);
  ASSERT_TRUE(image.merge(windows(6, 0.9f)));
  EXPECT_THAT(std::vector(image.after.begin(), image.after.begin() + 13),
              ElementsAre(6, 1, 1, 2, 3, 0, 0, 1, 1, 4, 5, 0, 0));
}

TEST(ScoredWindows, GetTheirSharedRowsAndTheOthersStay) {
  for (const auto& [height, width] : {std::pair(2, 2), {4, 6}, {8, 10}})
    for (const int special : {0, 1, 3})
      for (const int count : {0, 1, 5, 1000}) {
        SCOPED_TRACE(testing::Message() << height << "x" << width << " + " << special << ", count " << count);
        const int windows = height * width / 4;
        Image image = Image::random(height * width, special, 12, 4);
        std::vector<float> scores = test::normal(windows, 8);
        for (float& score : scores) score = std::round(2 * score);  // many ties
        const std::vector<float> shared = test::normal(windows * 12, 9);
        const MergeRule rule{.groups = MergeGroups::kScoredWindows, .count = count, .grid_width = width};
        GroupsOfImage found;
        ASSERT_TRUE(findScoredWindows(rule, scores, found));
        mergeGroups(rule, found, image.rows(), special, image.state(),
                    {image.merged.data(), special + image.patches, 12}, {image.after.data(), image.patches},
                    {shared.data(), windows, 12});
        // The oracle: the windows by score, each with its own row; then what is in none of them.
        std::vector<test::ScoredPair> pairs;
        for (int w = 0; w < windows; ++w) pairs.push_back({scores[w], w, 0});
        pairs = test::mostSimilar(pairs, static_cast<std::size_t>(count));
        test::MergedRows expected;
        const test::Rows rows = image.doubles();
        expected.rows.assign(rows.begin(), rows.begin() + special);
        expected.cluster_of_row.assign(static_cast<std::size_t>(height * width), -1);
        for (const auto& pair : pairs) {
          const int top = pair.first / (width / 2) * 2, left = pair.first % (width / 2) * 2;
          for (int i = 0; i < 4; ++i)
            expected.cluster_of_row[(top + i / 2) * width + left + i % 2] = static_cast<int>(expected.sizes.size());
          const float* const row = shared.data() + static_cast<std::ptrdiff_t>(pair.first) * 12;
          expected.rows.emplace_back(row, row + 12);
          expected.sizes.push_back(4);
        }
        for (int i = 0; i < height * width; ++i) {
          if (expected.cluster_of_row[i] >= 0) continue;
          expected.cluster_of_row[i] = static_cast<int>(expected.sizes.size());
          expected.rows.push_back(rows[special + i]);
          expected.sizes.push_back(1);
        }
        expectMerged(image, expected);
        expectKept(image, false);
      }
}

TEST(ScoredWindows, RefuseScoresThatAreNoNumbers) {
  const MergeRule rule{.groups = MergeGroups::kScoredWindows, .grid_width = 4};
  GroupsOfImage found;
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    EXPECT_FALSE(findScoredWindows(rule, std::vector<float>{1, 2, bad, 3}, found)) << bad;
  }
}

/// What no data may break.
class AnyStep : public testing::TestWithParam<MergeRule> {};

INSTANTIATE_TEST_SUITE_P(Rules, AnyStep,
                         testing::Values(MergeRule{}, gradual(5), gradual(1000, 0.1f), tome(5), tome(1000),
                                         aboveMean(0.2f), windows(2, 0.5f)));

TEST_P(AnyStep, KeepsSumsSizesAndSpecialRowsOfOddData) {
  for (const int patches : {4, 8, 32, 64}) {
    const auto count = static_cast<std::size_t>((patches + 1) * 4);
    std::vector<float> spread = test::normal(count, 1), equal, zero(count), huge = spread, tiny = spread;
    for (int i = 0; i <= patches; ++i) equal.insert(equal.end(), {0.3f, -1.7f, 2, 0.1f});
    for (float& value : huge) value *= 1e37f;
    for (float& value : tiny) value *= 1e-37f;
    for (const std::vector<float>& tokens : {spread, equal, zero, huge, tiny}) {
      Image image(tokens, 1, 4);
      ASSERT_TRUE(image.merge(GetParam()));
      expectKept(image, GetParam().weighted);
    }
  }
}

TEST_P(AnyStep, MeansOfEqualTokensAreTheSameToken) {
  std::vector<float> equal;
  for (int i = 0; i < 64; ++i) equal.insert(equal.end(), {0.3f, -1.7f, 2.1f});
  Image image(equal, 0, 3);
  for (int step = 0; step < 5; ++step) {
    ASSERT_TRUE(image.merge(GetParam()));
    for (int i = 0; i < image.result().live() * 3; ++i) ASSERT_EQ(image.merged[i], equal[i % 3]);
    if (GetParam().groups == MergeGroups::kWindows) break;
    image.advance();
  }
}

TEST_P(AnyStep, RefusesNanAndInfinity) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const int row : {1, 2, 31, 64}) {
      Image image = Image::random(64, 1, 8, 2);
      image.tokens[row * 8 + 5] = bad;
      EXPECT_FALSE(image.merge(GetParam())) << bad << " in row " << row;
    }
  Image image = Image::random(64, 1, 8, 2);
  image.tokens[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(image.merge(GetParam())) << "a special row";
}

TEST_P(AnyStep, SameBytesForAnyNumberOfThreads) {
  Image one = Image::random(400, 1, 24, 6);
  ASSERT_TRUE(one.merge(GetParam()));
  for (int threads = 1; threads <= 4; ++threads) {
    Image other = Image::random(400, 1, 24, 6);
    ASSERT_TRUE(other.merge(GetParam(), test::Threads(threads)));
    EXPECT_EQ(other.after, one.after);
    EXPECT_TRUE(
        std::equal(one.merged.begin(), one.merged.begin() + (1 + one.result().live()) * 24, other.merged.begin()));
  }
}

}  // namespace
}  // namespace mpm
