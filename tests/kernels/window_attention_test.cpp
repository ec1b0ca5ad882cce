// SPDX-License-Identifier: Apache-2.0
#include "kernels/window_attention.h"

#include <numeric>

#include "kernels/block_weights.h"
#include "kernels/each_instruction_set.h"
#include "kernels/reference.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

using test::BlockOptions;
using test::BlockWeights;
using test::relativeError;

class Windows : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(Windows);

Matrix run(const WindowAttention& attention, const Matrix& x, const Parallel& parallel = Serial()) {
  Matrix y(x.rows, x.cols);
  attention.run({x.values.data(), 1, x.rows, x.cols, &x.rows}, {y.values.data(), 1, y.rows, y.cols, &y.rows}, parallel);
  return y;
}

TEST_P(Windows, EveryVariationMatchesDoublePrecision) {
  std::vector<float> all(67);
  std::iota(all.begin(), all.end(), 0.0f);
  for (int i = 0; const BlockOptions& options : test::blockVariations()) {
    SCOPED_TRACE(i++);
    const BlockWeights weights(options);
    WindowAttentionSpec spec{weights.spec(), {}};
    spec.windows = {1, 67, all.data()};
    const Matrix x = Matrix::normal(67, options.dim, 20);
    EXPECT_LE(
        test::maxError(run(WindowAttention(spec), x).view(), test::windowAttention(spec, test::Reference(x.view()))),
        3e-5);
  }
}

TEST_P(Windows, PositionBiasesMatchDoublePrecision) {
  for (const int rows : {1, 3, 67, 130, 257}) {
    std::vector<float> all(rows);
    std::iota(all.begin(), all.end(), 0.0f);
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      if (precision == Precision::kBf16 && !cpuHasBf16()) continue;
      for (const bool indexed : {false, true}) {
        for (const float size : {1.0f, 30.0f}) {  // logits with and without a search for their maximum
          SCOPED_TRACE(::testing::Message() << rows << " rows, biases of size " << size << (indexed ? ", index" : ""));
          BlockOptions options;
          options.precision = precision;
          const BlockWeights weights(options);
          const int pairs = rows * rows, entries = indexed ? 2 * rows : pairs;
          auto table = test::normal(static_cast<std::size_t>(options.heads * entries), 30, size);
          if (!indexed) std::fill_n(table.begin(), rows, 0.0f);  // of the first row
          std::vector<float> index(static_cast<std::size_t>(pairs));
          for (int i = 0; i < pairs; ++i) index[static_cast<std::size_t>(i)] = static_cast<float>(i * 7 % entries);
          WindowAttentionSpec spec{weights.spec(), {}};
          spec.windows = {1, rows, all.data()};
          spec.position_bias = {entries, table.data(), indexed ? index.data() : nullptr};
          const Matrix x = Matrix::normal(rows, options.dim, 20);
          const test::Reference expected = test::windowAttention(spec, test::Reference(x.view()));
          const Matrix y = run(WindowAttention(spec), x, test::Threads(2));
          if (precision == Precision::kFp32)
            EXPECT_LE(test::maxError(y.view(), expected), 3e-5);
          else
            EXPECT_LE(relativeError(y, expected, x), 0.02);
        }
      }
    }
  }
}

struct GridCase {
  int grid_h, grid_w, window_h, window_w;  // window 0: the whole grid
  bool positions;
  int heads, head_dim;
  bool biases = true, qk_norm = false;
};

const std::vector<GridCase> kGridCases = {{5, 7, 3, 3, true, 2, 16},
                                          {6, 9, 3, 3, true, 1, 64},
                                          {5, 7, 3, 4, false, 3, 16},
                                          {10, 3, 4, 4, true, 3, 7, false},
                                          {16, 20, 14, 14, true, 2, 20, true, true},
                                          {3, 2, 14, 14, true, 1, 16},
                                          {18, 20, 17, 19, true, 1, 16},
                                          {1, 9, 0, 0, true, 2, 16},
                                          {17, 16, 0, 0, true, 2, 64},
                                          {13, 11, 0, 0, true, 3, 16, true, true}};

TEST_P(Windows, RelativePositionsMatchDoublePrecision) {
  for (const GridCase& c : kGridCases) {
    for (const float size : {0.2f, 4.0f}) {  // logits with and without a search for their maximum
      SCOPED_TRACE(::testing::Message() << c.grid_h << "x" << c.grid_w << " in windows of " << c.window_h << "x"
                                        << c.window_w << ", positions of size " << size);
      const BlockOptions options{.heads = c.heads, .head_dim = c.head_dim, .qk_norm = c.qk_norm, .biases = c.biases};
      const BlockWeights weights(options);
      WindowAttentionSpec spec{weights.spec(), {}};
      const int height = c.window_h > 0 ? c.window_h : c.grid_h, width = c.window_w > 0 ? c.window_w : c.grid_w;
      const std::vector<float> rows = test::windowRows(c.grid_h, c.grid_w, height, width);
      spec.windows = {static_cast<int>(rows.size()) / (height * width), height * width, rows.data()};
      const Matrix of_rows = Matrix::normal(2 * height - 1, c.head_dim, 31, size),
                   of_columns = Matrix::normal(2 * width - 1, c.head_dim, 32, size);
      if (c.positions) spec.relative_positions = {height, width, of_rows.values.data(), of_columns.values.data()};
      const Matrix x = Matrix::normal(c.grid_h * c.grid_w, options.dim, 20);
      const test::Reference expected = test::windowAttention(spec, test::Reference(x.view()));
      const WindowAttention attention(spec);
      const Matrix y = run(attention, x, test::Threads(2));
      EXPECT_LE(test::maxError(y.view(), expected), size < 1 ? 3e-5 : 2e-4);
      EXPECT_EQ(run(attention, x).values, y.values) << "another number of threads";
      if (!cpuHasBf16()) continue;
      spec.precision = Precision::kBf16;
      EXPECT_LE(relativeError(run(WindowAttention(spec), x), expected, x), 0.02);
    }
  }
}

TEST_P(Windows, OfABatchEqualThoseOfEachImage) {
  const BlockWeights weights{BlockOptions()};
  WindowAttentionSpec spec{weights.spec(), {}};
  const std::vector<float> rows = test::windowRows(5, 7, 3, 3);
  spec.windows = {6, 9, rows.data()};
  const WindowAttention attention(spec);
  const Matrix x = Matrix::normal(3 * 35, 48, 20);
  Matrix y(x.rows, x.cols);
  const std::vector<int> live(3, 35);
  attention.run({x.values.data(), 3, 35, 48, live.data()}, {y.values.data(), 3, 35, 48, live.data()}, test::Threads(2));
  for (int b = 0; b < 3; ++b) {
    Matrix image(35, 48);
    std::copy_n(x.view().row(35 * b), image.values.size(), image.values.begin());
    const Matrix alone = run(attention, image);
    EXPECT_TRUE(std::equal(alone.values.begin(), alone.values.end(), y.view().row(35 * b))) << b;
  }
}

}  // namespace
}  // namespace mpm
