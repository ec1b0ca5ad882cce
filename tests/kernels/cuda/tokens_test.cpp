// SPDX-License-Identifier: Apache-2.0
// What happens to packed rows outside blocks and merges: other rows in front, means, mask scores, states for the host.
#include <cmath>
#include <map>

#include "kernels/cuda/added_rows.h"
#include "kernels/cuda/mask_scores.h"
#include "kernels/cuda/on_device.h"
#include "kernels/reference.h"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

// A batch after one merge, so that its images have different numbers of rows.
class CudaTokens : public test::OnDevice {
 protected:
  static constexpr int kBatch = 2, kPatches = 70, kSpecial = 2, kDim = 21;

  void SetUp() override {
    test::OnDevice::SetUp();
    if (devices().empty()) return;
    const int rows = kPatches + kSpecial;
    const Buffer<float> x = uploaded(stream(), test::normal(size(kBatch * rows * kDim), 5));
    merged_ = Buffer<float>(stream(), size(kBatch * rows * kDim));
    state_.reset(stream(), kBatch, kPatches, kSpecial);
    MutualPairMerge().run(stream(), x.data(), kDim, state_, merged_.data());
    state_.countRows();
    offsets_ = fetched(state_.rows().offsets, kBatch + 1);
    values_ = fetched(merged_.data(), size(state_.rows().total * kDim));
    ASSERT_NE(state_.liveRows()[0], state_.liveRows()[1]);
  }

  static std::size_t size(int count) { return static_cast<std::size_t>(count); }
  float value(int image, int row, int column) const {
    return values_[size((offsets_[size(image)] + row) * kDim + column)];
  }

  TokenState state_;
  Buffer<float> merged_;
  std::vector<int> offsets_;
  std::vector<float> values_;
};

TEST_F(CudaTokens, AStateIsCopiedWithOtherRowsInFront) {
  const int special = 5;
  TokenState other;
  other.assign(stream(), state_, special);
  EXPECT_EQ(other.special(), special);
  EXPECT_EQ(other.liveRows(), state_.liveRows());
  EXPECT_EQ(other.rows().total, state_.rows().total + kBatch * (special - kSpecial));
  EXPECT_EQ(other.rows().longest, state_.rows().longest + special - kSpecial);
  const std::vector<int> offsets = fetched(other.rows().offsets, kBatch + 1);
  for (int b = 0; b <= kBatch; ++b) EXPECT_EQ(offsets[size(b)], offsets_[size(b)] + b * (special - kSpecial));
  EXPECT_EQ(fetched(other.clusterOfPatch(), size(kBatch * kPatches)),
            fetched(state_.clusterOfPatch(), size(kBatch * kPatches)));
  const std::vector<int> before = fetched(state_.sizes(), size(kBatch * kPatches));

  // A merge of the copy leaves the original alone.
  const std::vector<float> x = test::normal(size(other.rows().total * kDim), 6);
  const Buffer<float> device_x = uploaded(stream(), x);
  Buffer<float> merged(stream(), x.size());
  MutualPairMerge().run(stream(), device_x.data(), kDim, other, merged.data());
  other.countRows();
  EXPECT_LT(other.liveRows()[0], state_.liveRows()[0]);
  EXPECT_EQ(fetched(state_.sizes(), size(kBatch * kPatches)), before);
  EXPECT_EQ(fetched(state_.rows().offsets, kBatch + 1), offsets_);
}

TEST_F(CudaTokens, AStateIsWrittenAsTheHostHoldsIt) {
  constexpr int kWidth = 1 + 2 * kPatches;
  const Buffer<float> floats = uploaded(stream(), std::vector<float>(size(kBatch * kWidth), -1.0f));
  writeState(stream(), state_,
             {floats.data(), floats.data() + 1, floats.data() + 1 + kPatches, kWidth, kWidth, kWidth});
  const std::vector<float> found = fetched(floats.data(), size(kBatch * kWidth));
  const std::vector<int> map = fetched(state_.clusterOfPatch(), size(kBatch * kPatches));
  const std::vector<int> sizes = fetched(state_.sizes(), size(kBatch * kPatches));
  for (int b = 0; b < kBatch; ++b) {
    const float* image = found.data() + b * kWidth;
    const int live = state_.liveRows()[size(b)];
    EXPECT_EQ(image[0], static_cast<float>(live));
    for (int p = 0; p < kPatches; ++p) {
      EXPECT_EQ(image[1 + p], static_cast<float>(map[size(b * kPatches + p)]));
      EXPECT_EQ(image[1 + kPatches + p], p < live ? static_cast<float>(sizes[size(b * kPatches + p)]) : 0.0f);
    }
  }
}

// In place of the special rows that are there, or in front of them.
TEST_F(CudaTokens, OtherRowsStandInFront) {
  for (const unsigned schedule : test::schedules())
    for (const auto& [count, kept] : {std::pair(0, 0), {1, 0}, {9, 0}, {1, kSpecial}, {9, kSpecial}}) {
      test::useSchedule(schedule);
      const int special = count + kept;
      const std::vector<float> front = test::normal(size(std::max(count, 1) * kDim), 7);
      const Buffer<float> device_front = uploaded(stream(), front);
      TokenState after;
      after.assign(stream(), state_, special);
      Buffer<float> y(stream(), size(after.rows().total * kDim));
      putInFront(stream(), merged_.data(), kDim, state_, device_front.data(), count, after, y.data());
      const std::vector<float> found = fetched(y.data(), size(after.rows().total * kDim));
      std::size_t next = 0;
      for (int b = 0; b < kBatch; ++b)
        for (int i = 0; i < special + state_.liveRows()[size(b)]; ++i)
          for (int c = 0; c < kDim; ++c)
            ASSERT_EQ(found[next++], i < count ? front[size(i * kDim + c)] : value(b, kSpecial + i - special, c));
      ASSERT_EQ(next, found.size());
    }
}

TEST_F(CudaTokens, ArePooled) {
  Buffer<float> special(stream(), size(kBatch * kSpecial * kDim)), pooled(stream(), size(kBatch * kDim));
  gatherSpecialRows(stream(), merged_.data(), kDim, state_, 0, kSpecial, special.data());
  const std::vector<float> front = fetched(special.data(), special.capacity());
  gatherSpecialRows(stream(), merged_.data(), kDim, state_, 1, 1, pooled.data());
  const std::vector<float> second = fetched(pooled.data(), pooled.capacity());
  meanOverPatches(stream(), merged_.data(), kDim, state_, pooled.data());
  const std::vector<float> mean = fetched(pooled.data(), pooled.capacity());
  const std::vector<int> map = fetched(state_.clusterOfPatch(), size(kBatch * kPatches));
  for (int b = 0; b < kBatch; ++b)
    for (int c = 0; c < kDim; ++c) {
      for (int i = 0; i < kSpecial; ++i) ASSERT_EQ(front[size((b * kSpecial + i) * kDim + c)], value(b, i, c));
      ASSERT_EQ(second[size(b * kDim + c)], value(b, 1, c));
      double sum = 0;  // of the restored grid
      for (int p = 0; p < kPatches; ++p)
        sum += static_cast<double>(value(b, kSpecial + map[size(b * kPatches + p)], c));
      ASSERT_LE(std::abs(static_cast<double>(mean[size(b * kDim + c)]) - sum / kPatches), 1e-6);
    }
}

TEST_F(CudaTokens, MeetTheirClasses) {
  const float eps = 1e-5f;
  Gemm gemm(stream());
  for (const unsigned schedule : test::schedules())
    for (const int classes : {3, 35}) {
      SCOPED_TRACE(::testing::Message() << "schedule " << schedule << ", classes " << classes);
      test::useSchedule(schedule);
      const int depth = 37;
      TokenState with_classes, patches;
      with_classes.assign(stream(), state_, classes);
      patches.assign(stream(), state_, 0);
      const int total = with_classes.rows().total;
      const std::vector<float> x = test::normal(size(total * kDim), 8);
      const Matrix proj_patch = Matrix::normal(depth, kDim, 9), proj_classes = Matrix::normal(depth, kDim, 10);
      const std::vector<float> weight = test::normal(size(classes), 11, 0.2f, 1),
                               bias = test::normal(size(classes), 12);
      MaskScores scores(stream(), proj_patch.view(), proj_classes.view(), {weight.data(), bias.data(), eps}, classes,
                        Precision::kFp32);
      const Buffer<float> device_x = uploaded(stream(), x);
      Buffer<float> y(stream(), size(patches.rows().total * classes));
      scores.run(stream(), gemm, device_x.data(), with_classes, patches, y.data());
      const std::vector<float> found = fetched(y.data(), y.capacity());

      const std::vector<int> offsets = fetched(with_classes.rows().offsets, kBatch + 1);
      int next = 0;  // row of the scores
      for (int b = 0; b < kBatch; ++b) {
        const mpm::test::Reference image(
            MatrixView<const float>(x.data() + offsets[size(b)] * kDim, offsets[size(b) + 1] - offsets[size(b)], kDim));
        const auto expected =
            mpm::test::maskScores(image.rowRange(0, classes), image.rowRange(classes, image.rows), proj_classes.view(),
                                  proj_patch.view(), {weight.data(), bias.data(), eps});
        ASSERT_LE(mpm::test::maxError({found.data() + next * classes, expected.rows, classes}, expected), 3e-4);
        next += expected.rows;
      }
      ASSERT_EQ(size(next * classes), found.size());
      EXPECT_THROW(scores.run(stream(), gemm, device_x.data(), state_, patches, y.data()), Error);
    }
}

// Of the last state alone, equal shares; of a state per merge, the mean of means.
TEST_F(CudaTokens, RowsOfTheGridAreAddedToMergedRows) {
  // A second merge, of the rows that the first left.
  TokenState second;
  second.assign(stream(), state_, kSpecial);
  Buffer<float> merged(stream(), size(state_.rows().total * kDim));
  MutualPairMerge().run(stream(), merged_.data(), kDim, second, merged.data());
  second.countRows();
  const std::vector<int> offsets = fetched(second.rows().offsets, kBatch + 1);
  const std::vector<float> x = fetched(merged.data(), size(offsets[kBatch] * kDim));
  const std::vector<int> map = fetched(second.clusterOfPatch(), size(kBatch * kPatches)),
                         earlier = fetched(state_.clusterOfPatch(), size(kBatch * kPatches));
  const int all = kSpecial + kPatches;
  const std::vector<float> added = test::normal(size(kBatch * all * kDim), 9);
  const Buffer<float> device_added = uploaded(stream(), added);
  AddedRows rows;
  for (const bool one : {false, true})
    for (const bool with_special : {false, true})
      for (const bool both : {false, true}) {
        SCOPED_TRACE(::testing::Message() << one << with_special << both);
        const Buffer<float> y = uploaded(stream(), x);
        std::vector<const TokenState*> states = {&second};
        if (both) states.insert(states.begin(), &state_);
        rows.run(stream(), states, device_added.data(), with_special, one, kDim, y.data());
        const std::vector<float> found = fetched(y.data(), x.size());
        const int front = with_special ? kSpecial : 0;
        for (int b = 0; b < kBatch; ++b) {
          const float* const of_image = added.data() + (one ? 0 : b * (front + kPatches) * kDim);
          for (int k = 0; k < offsets[size(b + 1)] - offsets[size(b)]; ++k)
            for (int c = 0; c < kDim; ++c) {
              double expected = x[size((offsets[size(b)] + k) * kDim + c)];
              if (k < kSpecial) {
                expected += with_special ? static_cast<double>(of_image[k * kDim + c]) : 0.0;
              } else {
                // The mean over the rows that merged last, each the mean of its patches.
                std::map<int, std::pair<double, int>> parts;
                for (int p = 0; p < kPatches; ++p) {
                  if (map[size(b * kPatches + p)] != k - kSpecial) continue;
                  auto& [sum, count] = parts[both ? earlier[size(b * kPatches + p)] : p];
                  sum += static_cast<double>(of_image[(front + p) * kDim + c]);
                  ++count;
                }
                for (const auto& [row, part] : parts)
                  expected += part.first / part.second / static_cast<double>(parts.size());
              }
              ASSERT_NEAR(found[size((offsets[size(b)] + k) * kDim + c)], expected, 2e-6) << k;
            }
        }
      }
}

TEST_F(CudaTokens, AttentionOfOneQueryPerHead) {
  const int heads = 3, head_dim = 5, width = heads * head_dim;
  const std::vector<float> keys = test::normal(size(heads * kDim), 1), values = test::normal(size(width * kDim), 2),
                           bias = test::normal(size(width), 3);
  Gemm gemm(stream());
  Buffer<float> pooled(stream(), size(kBatch * width));
  AttentionPool(stream(), {keys.data(), heads, kDim}, {values.data(), width, kDim}, bias.data())
      .run(stream(), gemm, merged_.data(), state_, pooled.data());
  const std::vector<float> found = fetched(pooled.data(), pooled.capacity());
  const std::vector<int> sizes = fetched(state_.sizes(), size(kBatch * kPatches));
  for (int b = 0; b < kBatch; ++b)
    for (int j = 0; j < width; ++j) {
      double total = 0, sum = 0;
      for (int i = 0; i < offsets_[size(b + 1)] - offsets_[size(b)]; ++i) {
        double logit = 0, own = 0;
        for (int c = 0; c < kDim; ++c) {
          logit += static_cast<double>(keys[size(j / head_dim * kDim + c)]) * static_cast<double>(value(b, i, c));
          own += static_cast<double>(values[size(j * kDim + c)]) * static_cast<double>(value(b, i, c));
        }
        const double weight = std::exp(logit) * (i < kSpecial ? 1 : sizes[size(b * kPatches + i - kSpecial)]);
        total += weight;
        sum += weight * own;
      }
      EXPECT_NEAR(found[size(b * width + j)], sum / total + static_cast<double>(bias[size(j)]), 2e-5) << b << " " << j;
    }
}

}  // namespace
}  // namespace mpm::cuda
