// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/window_attention.h"

#include <numeric>

#include "kernels/block_weights.h"
#include "kernels/cuda/on_device.h"
#include "kernels/reference.h"

namespace mpm::cuda {
namespace {

using mpm::test::BlockOptions;
using mpm::test::BlockWeights;
using mpm::test::Reference;
using mpm::test::windowRows;

class CudaWindows : public test::OnDevice {
 protected:
  /// Largest error over two images, in units of what attention adds to x, against the double loops.
  double errorOf(const WindowAttentionSpec& spec) {
    WindowAttention attention(stream(), spec);
    Gemm gemm(stream());
    BlockWorkspace workspace;
    double worst = 0;
    for (const int batch : {2, 1}) {
      const int rows = attention.rows(), dim = spec.dim;
      const Matrix x = Matrix::normal(batch * rows, dim, 20);
      const Buffer<float> device = uploaded(stream(), x.values);
      attention.run(stream(), gemm, workspace, batch, device.data());
      const std::vector<float> y = fetched(device.data(), x.values.size());
      for (int b = 0; b < batch; ++b) {
        const MatrixView<const float> from = x.view().rowRange(b * rows, (b + 1) * rows);
        const Reference expected = mpm::test::windowAttention(spec, Reference(from));
        worst = std::max(worst, mpm::test::maxError({y.data() + area(b * rows, dim), rows, dim}, expected));
      }
    }
    return worst;
  }

  static WindowAttentionSpec specOf(const BlockWeights& weights) {
    WindowAttentionSpec spec;
    static_cast<AttentionSpec&>(spec) = weights.spec();
    return spec;
  }
};

TEST_F(CudaWindows, EveryVariationOfAttention) {
  const std::vector<float> rows = windowRows(5, 7, 3, 4);
  for (const BlockOptions& options : mpm::test::blockVariations()) {
    const BlockWeights weights(options);
    WindowAttentionSpec spec = specOf(weights);
    spec.windows = {4, 12, rows.data()};
    EXPECT_LE(errorOf(spec), 1e-4) << options.head_dim;
  }
}

TEST_F(CudaWindows, PositionBiases) {
  for (const unsigned schedule : test::schedules())
    for (const int tokens : {1, 3, 67}) {
      test::useSchedule(schedule);
      std::vector<float> all(tokens);
      std::iota(all.rbegin(), all.rend(), 0.0f);
      for (const bool indexed : {false, true}) {
        SCOPED_TRACE(::testing::Message() << schedule << ": " << tokens << (indexed ? ", index" : ""));
        const BlockWeights weights{BlockOptions()};
        WindowAttentionSpec spec = specOf(weights);
        const int pairs = tokens * tokens, entries = indexed ? 2 * tokens + 1 : pairs;
        const std::vector<float> table = test::normal(spec.heads * entries, 30);
        std::vector<float> index(pairs);
        for (int i = 0; i < pairs; ++i) index[i] = static_cast<float>(i * 7 % entries);
        spec.windows = {1, tokens, all.data()};
        spec.position_bias = {entries, table.data(), indexed ? index.data() : nullptr};
        EXPECT_LE(errorOf(spec), 3e-5);
      }
    }
}

TEST_F(CudaWindows, RelativePositions) {
  struct Case {
    int grid_h, grid_w, window_h, window_w, heads, head_dim;
    bool qk_norm;
  };
  for (const unsigned schedule : test::schedules())
    for (const Case& c : {Case{5, 7, 3, 3, 2, 16, false},
                          {5, 7, 3, 4, 3, 7, true},
                          {3, 2, 14, 14, 1, 16, false},
                          {9, 8, 9, 8, 2, 64, false},
                          {6, 13, 6, 13, 1, 80, true}}) {
      SCOPED_TRACE(::testing::Message() << schedule << ": " << c.grid_h << "x" << c.grid_w << " in windows of "
                                        << c.window_h << "x" << c.window_w);
      test::useSchedule(schedule);
      const BlockWeights weights({.heads = c.heads, .head_dim = c.head_dim, .qk_norm = c.qk_norm});
      WindowAttentionSpec spec = specOf(weights);
      const std::vector<float> rows = windowRows(c.grid_h, c.grid_w, c.window_h, c.window_w);
      const int tokens = c.window_h * c.window_w;
      spec.windows = {static_cast<int>(rows.size()) / tokens, tokens, rows.data()};
      const Matrix of_rows = Matrix::normal(2 * c.window_h - 1, c.head_dim, 31, 0.2f),
                   of_columns = Matrix::normal(2 * c.window_w - 1, c.head_dim, 32, 0.2f);
      spec.relative_positions = {c.window_h, c.window_w, of_rows.values.data(), of_columns.values.data()};
      EXPECT_LE(errorOf(spec), 3e-5);
    }
}

TEST_F(CudaWindows, RoundedOperands) {
  const BlockWeights weights({.heads = 2, .head_dim = 32});
  WindowAttentionSpec spec = specOf(weights);
  const std::vector<float> rows = windowRows(5, 7, 3, 3);
  spec.windows = {6, 9, rows.data()};
  const Matrix positions = Matrix::normal(5, 32, 31, 0.2f);
  for (const bool relative : {false, true}) {
    if (relative) spec.relative_positions = {3, 3, positions.values.data(), positions.values.data()};
    for (const Precision precision : {Precision::kTf32, Precision::kFp16, Precision::kBf16}) {
      if (precision == Precision::kBf16 && stream().device().major < 8) continue;
      spec.precision = precision;
      const double error = errorOf(spec);
      EXPECT_LE(error, precision == Precision::kBf16 ? 0.08 : 0.012) << static_cast<int>(precision);
    }
  }
}

}  // namespace
}  // namespace mpm::cuda
