// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample.h"

#include <cmath>

#include "kernels/each_instruction_set.h"
#include "kernels/expected_labels.h"
#include "kernels/random.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

class Resample : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(Resample);

// Weight of input `i` for output `o` from the definition: half-pixel centres, edges clamped.
double bilinearWeight(int inputs, int outputs, int o, int i) {
  const double at = std::min(std::max((o + 0.5) * inputs / outputs - 0.5, 0.0), static_cast<double>(inputs - 1));
  return std::max(0.0, 1 - std::abs(at - i));
}

double weightOf(const AxisResampling& axis, int o, int i) {
  const int t = i - axis.first[o];
  return t < 0 || t >= axis.taps ? 0 : static_cast<double>(axis.weight[o * axis.taps + t]);
}

void expectInside(const AxisResampling& axis) {
  for (int o = 0; o < axis.outputs(); ++o) {
    ASSERT_GE(axis.first[o], 0);
    ASSERT_LE(axis.first[o] + axis.taps, axis.inputs);
  }
}

TEST(BilinearAxis, WeightsAreTheDefinition) {
  for (const int inputs : {1, 2, 3, 7, 32})
    for (const int outputs : {1, 2, 3, 5, 16, 33, 512}) {
      const AxisResampling axis = bilinearAxis(inputs, outputs);
      ASSERT_EQ(axis.outputs(), outputs);
      ASSERT_EQ(axis.inputs, inputs);
      expectInside(axis);
      for (int o = 0; o < outputs; ++o)
        for (int i = 0; i < inputs; ++i) ASSERT_NEAR(weightOf(axis, o, i), bilinearWeight(inputs, outputs, o, i), 1e-6);
    }
}

TEST(ComposeAxes, IsTheProductOfTheMatrices) {
  for (const auto& [a, b, c] :
       {std::array{32, 512, 1280}, {32, 512, 720}, {7, 5, 11}, {1, 4, 9}, {64, 512, 100}, {9, 3, 1}}) {
    const AxisResampling first = bilinearAxis(a, b), second = bilinearAxis(b, c), both = composeAxes(first, second);
    ASSERT_EQ(both.inputs, a);
    ASSERT_EQ(both.outputs(), c);
    expectInside(both);
    for (int o = 0; o < c; ++o) {
      std::vector<double> expected(a);
      for (int m = 0; m < b; ++m)
        if (const double outer = bilinearWeight(b, c, o, m); outer > 0)
          for (int i = 0; i < a; ++i) expected[i] += outer * bilinearWeight(a, b, m, i);
      for (int i = 0; i < a; ++i) ASSERT_NEAR(weightOf(both, o, i), expected[i], 2e-6);
    }
  }
}

struct Case {
  int grid_h, grid_w, classes;
  AxisResampling rows, columns;
  Matrix scores;

  Case(int gh, int gw, int class_count, AxisResampling row_axis, AxisResampling column_axis, int gap = 0)
      : grid_h(gh),
        grid_w(gw),
        classes(class_count),
        rows(std::move(row_axis)),
        columns(std::move(column_axis)),
        scores(Matrix::normal(gh * gw, class_count, 1, 1, gap)) {}
  Case(int gh, int gw, int class_count, int height, int width, int gap = 0)
      : Case(gh, gw, class_count, bilinearAxis(gh, height), bilinearAxis(gw, width), gap) {}

  double logit(int y, int x, int c) const { return test::logitAt(scores.view(), rows, columns, y, x, c); }
  std::vector<float> labels(const Parallel& parallel = Serial()) const {
    std::vector<float> result(rows.outputs() * columns.outputs(), -1.0f);
    resizeArgmax<float>(scores.view(), rows, columns, {result.data(), rows.outputs(), columns.outputs()}, parallel);
    return result;
  }
  void expectLabels(const std::vector<float>& labels) const {
    test::expectLabels(scores.view(), rows, columns, labels.data());
  }
};

TEST_P(Resample, LabelsAreTheArgmaxOfDoublePrecision) {
  for (const Case& c :
       {Case(4, 5, 150, 64, 80), Case(8, 8, 19, 64, 64), Case(6, 7, 3, 24, 28), Case(5, 5, 11, 37, 41),
        Case(3, 4, 1, 20, 20), Case(1, 1, 5, 16, 16), Case(1, 6, 5, 3, 50), Case(6, 1, 5, 50, 3), Case(2, 2, 150, 2, 2),
        Case(10, 12, 21, 7, 5), Case(9, 9, 17, 10, 11, 3), Case(4, 4, 20, 61, 67, 5), Case(2, 3, 300, 1, 1)}) {
    SCOPED_TRACE(::testing::Message() << c.grid_h << " x " << c.grid_w << " -> " << c.rows.outputs() << " x "
                                      << c.columns.outputs() << ", " << c.classes << " classes");
    c.expectLabels(c.labels());
  }
}

// Regions of one class, whose inner pixels are filled without a comparison: the first classes, and the last ones, which
// fill only a part of a vector.
TEST_P(Resample, RegionsOfOneClass) {
  for (const int classes : {3, 11, 40, 150}) {
    for (const int size : {72, 41}) {
      for (const bool last : {false, true}) {
        Case c(9, 9, classes, size, size);
        for (int i = 0; i < 81; ++i) {
          const int winner = (i / 27 + 2 * (i % 9 / 4)) % classes;
          c.scores.at(i, last ? classes - 1 - winner : winner) += 4;
        }
        c.expectLabels(c.labels());
      }
    }
  }
}

TEST_P(Resample, ResizeOfAResize) {
  for (const auto& [middle, last] : {std::pair{64, 100}, {64, 150}, {60, 40}, {16, 200}}) {
    const AxisResampling axis = composeAxes(bilinearAxis(8, middle), bilinearAxis(middle, last));
    const Case c(8, 8, 13, axis, axis);
    c.expectLabels(c.labels());
  }
}

TEST_P(Resample, ManyTaps) {
  const AxisResampling axis = test::axisOfTaps(9, 6, 20);
  const Case c(9, 9, 7, axis, axis);
  c.expectLabels(c.labels());
}

TEST_P(Resample, TiesGoToTheLowestClass) {
  for (const auto& [grid, size] : {std::pair{4, 64}, {16, 64}, {32, 64}, {60, 64}, {20, 7}}) {
    Case c(grid, grid, 9, size, size);
    for (int i = 0; i < grid * grid; ++i)
      for (int k = 0; k < 9; ++k) c.scores.at(i, k) = k < 2 ? -5.0f : c.scores.at(i, 2);
    for (const float label : c.labels()) ASSERT_EQ(label, 2.0f);
    for (float& value : c.scores.values) value = 0;
    for (const float label : c.labels()) ASSERT_EQ(label, 0.0f);
  }
}

TEST_P(Resample, LabelImagesOfBytesAnyStride) {
  const Case c(5, 6, 200, 50, 61);
  const std::vector<float> labels = c.labels();
  std::vector<unsigned char> bytes(50 * 70, 255);
  resizeArgmax<unsigned char>(c.scores.view(), c.rows, c.columns, {bytes.data(), 50, 61, 70}, Serial());
  for (int y = 0; y < 50; ++y)
    for (int x = 0; x < 70; ++x) ASSERT_EQ(bytes[y * 70 + x], x < 61 ? labels[y * 61 + x] : 255);
}

TEST_P(Resample, LogitsMatchDoublesAndGiveTheLabel) {
  for (const Case& c : {Case(4, 5, 12, 33, 40), Case(7, 7, 3, 5, 4, 2), Case(1, 2, 4, 9, 9)}) {
    const int height = c.rows.outputs(), width = c.columns.outputs();
    std::vector<float> logits(c.classes * height * width);
    resizeLogits(c.scores.view(), c.rows, c.columns, logits.data(), test::Threads(2));
    for (int k = 0; k < c.classes; ++k)
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) ASSERT_NEAR(logits[(k * height + y) * width + x], c.logit(y, x, k), 2e-6);
  }
}

TEST_P(Resample, SameLabelsForAnyNumberOfThreads) {
  const Case c(8, 9, 33, 130, 141);
  const std::vector<float> serial = c.labels();
  for (const int threads : {2, 3, 4}) EXPECT_EQ(c.labels(test::Threads(threads)), serial);
}

}  // namespace
}  // namespace mpm
