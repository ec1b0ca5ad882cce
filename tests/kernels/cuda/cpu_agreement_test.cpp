// SPDX-License-Identifier: Apache-2.0
// The device kernels beside the CPU's: the same maps, labels and numbers for the same input.
#include <cmath>

#include "kernels/attention.h"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/merging.h"
#include "kernels/cuda/on_device.h"
#include "kernels/cuda/resample.h"
#include "merging/merge_tokens.h"

namespace mpm::cuda {
namespace {

class CudaAndCpu : public test::OnDevice {};

// Well separated, so that the maps must be the same and not only as good.
TEST_F(CudaAndCpu, MergeAlikeTwice) {
  const int patches = 180, special = 1, dim = 64, rows = patches + special;
  const std::vector<float> values = test::normal(static_cast<std::size_t>(2 * rows * dim), 9);
  TokenState state;
  state.reset(stream(), 2, patches, special);
  MutualPairMerge merge;
  Buffer<float> tokens[2] = {uploaded(stream(), values), Buffer<float>(stream(), values.size())};
  merge.run(stream(), tokens[0].data(), dim, state, tokens[1].data());
  state.countRows();
  merge.run(stream(), tokens[1].data(), dim, state, tokens[0].data());
  const std::vector<int> live = state.countRows();
  const std::vector<int> map = fetched(state.clusterOfPatch(), 2 * patches);
  const std::vector<float> merged = fetched(tokens[0].data(), static_cast<std::size_t>(state.rows().total * dim));
  const std::vector<int> offsets = fetched(state.rows().offsets, 3);

  for (int b = 0; b < 2; ++b) {
    const std::size_t size = mpm::TokenState<float>::size(patches);
    std::vector<float> states[3] = {std::vector<float>(size), std::vector<float>(size), std::vector<float>(size)};
    mpm::resetState({states[0].data(), patches});
    const auto state_at = [&](int k) { return mpm::TokenState<float>{states[k].data(), patches}; };
    const auto before = [&](int k) { return mpm::TokenState<const float>{states[k].data(), patches}; };
    std::vector<float> once(static_cast<std::size_t>(rows * dim)), twice = once;
    ASSERT_TRUE(mpm::mergeTokens({}, {values.data() + b * rows * dim, rows, dim}, special, before(0),
                                 {once.data(), rows, dim}, state_at(1), Serial()));
    ASSERT_TRUE(mpm::mergeTokens({}, {once.data(), special + state_at(1).live(), dim}, special, before(1),
                                 {twice.data(), rows, dim}, state_at(2), Serial()));
    ASSERT_EQ(live[static_cast<std::size_t>(b)], state_at(2).live());
    for (int p = 0; p < patches; ++p)
      ASSERT_EQ(map[static_cast<std::size_t>(b * patches + p)], static_cast<int>(state_at(2).clusterOfToken()[p]));
    for (int i = 0; i < (special + state_at(2).live()) * dim; ++i)
      ASSERT_EQ(merged[static_cast<std::size_t>(offsets[static_cast<std::size_t>(b)] * dim + i)],
                twice[static_cast<std::size_t>(i)]);
  }
}

TEST_F(CudaAndCpu, AttendAlike) {
  const int rows = 90, heads = 2, head_dim = 32, width = heads * head_dim;
  const test::Packed x = test::Packed::random(stream(), {rows}, 3 * width, 3);
  Buffer<float> out(stream(), static_cast<std::size_t>(rows * width));
  attention(stream(), {heads, head_dim, 0.2f, nullptr, x.ragged}, Number::kFloat, x.data.data(), out.data());
  std::vector<float> expected(static_cast<std::size_t>(rows * width));
  const auto part = [&](int index) {
    return MatrixView<const float>(x.values.data() + index * width, rows, width, 3 * width);
  };
  mpm::attention(part(0), part(1), part(2), heads, 0.2f, nullptr, {expected.data(), rows, width}, Serial());
  const std::vector<float> result = fetched(out.data(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_LE(std::abs(result[i] - expected[i]), 2e-6f);
}

TEST_F(CudaAndCpu, LabelAlike) {
  struct Case {
    AxisResampling rows, columns;
    int classes;
  };
  const Case cases[] = {
      {bilinearAxis(6, 96), bilinearAxis(9, 144), 40},
      {bilinearAxis(4, 7), bilinearAxis(80, 500), 19},  // more runs of pixels than a block has
      {bilinearAxis(5, 3), bilinearAxis(40, 9), 33},    // smaller than the grid
      {bilinearAxis(1, 9), bilinearAxis(1, 20), 5},     // one tap
      // A resize of a resize, as windows of a large image need it, has three taps; by way of a smaller image more.
      {composeAxes(bilinearAxis(6, 48), bilinearAxis(48, 37)), composeAxes(bilinearAxis(6, 48), bilinearAxis(48, 61)),
       40},
      {composeAxes(bilinearAxis(6, 48), bilinearAxis(48, 37)), composeAxes(bilinearAxis(48, 12), bilinearAxis(12, 40)),
       17},
  };
  for (const auto& [rows, columns, classes] : cases) {
    const int grid = rows.inputs * columns.inputs, height = rows.outputs(), width = columns.outputs();
    const std::vector<float> scores = test::normal(static_cast<std::size_t>(2 * grid * classes), 5);
    const auto image = static_cast<std::size_t>(height * width);
    std::vector<unsigned char> expected(2 * image);
    for (int b = 0; b < 2; ++b)
      mpm::resizeArgmax<unsigned char>({scores.data() + b * grid * classes, grid, classes}, rows, columns,
                                       {expected.data() + static_cast<std::size_t>(b) * image, height, width},
                                       Serial());
    const Buffer<float> device_scores = uploaded(stream(), scores);
    Buffer<unsigned char> labels(stream(), expected.size());
    ResizeArgmax(stream(), rows, columns).run(stream(), device_scores.data(), 2, classes, labels.data());
    EXPECT_EQ(fetched(labels.data(), expected.size()), expected)
        << columns.inputs << " to " << width << " with " << columns.taps << " taps";
  }
}

}  // namespace
}  // namespace mpm::cuda
