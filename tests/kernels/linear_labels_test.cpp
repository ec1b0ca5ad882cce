// SPDX-License-Identifier: Apache-2.0
#include "kernels/each_instruction_set.h"
#include "kernels/mask_scores.h"
#include "kernels/reference.h"
#include "kernels/resample.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

class LinearLabels : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(LinearLabels);

struct Picture {
  int height, width;
  std::vector<std::uint8_t> values;

  Picture(int h, int w, unsigned seed) : height(h), width(w) {
    for (const float value : test::normal(static_cast<std::size_t>(h) * w * 3, seed, 60, 128.f))
      values.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.f, 255.f)));
  }
  MatrixView<const std::uint8_t> view() const { return {values.data(), height, 3 * width}; }
};

// Values of all classes at a pixel, in double, by the definition.
std::vector<double> valuesAt(const LinearModels& models, const AxisResampling& rows, const AxisResampling& columns,
                             const Picture& picture, int y, int x) {
  std::vector<double> values(models.classes);
  for (int s = 0; s < rows.taps; ++s)
    for (int t = 0; t < columns.taps; ++t) {
      const double weight = static_cast<double>(rows.weight[y * rows.taps + s]) *
                            static_cast<double>(columns.weight[x * columns.taps + t]);
      const std::size_t cell = static_cast<std::size_t>(rows.first[y] + s) * models.columns + columns.first[x] + t;
      for (int c = 0; c < models.classes; ++c) {
        const auto of = [&](int v) { return static_cast<double>(models.data[(cell * 4 + v) * models.padded + c]); };
        double value = of(3);
        for (int v = 0; v < 3; ++v) value += of(v) * picture.values[(y * picture.width + x) * 3 + v] / 255;
        values[c] += weight * value;
      }
    }
  return values;
}

TEST_P(LinearLabels, AreTheClassWithTheLargestValue) {
  for (const int classes : {1, 2, 7, 8, 9, 21})
    for (const auto& [h, w, rows, columns] : {std::array{9, 13, 3, 4}, {5, 6, 5, 6}, {7, 4, 1, 1}, {4, 9, 9, 3}}) {
      LinearModels models(rows, columns, classes);
      const std::vector<float> random = test::normal(models.data.size(), 7, 1);
      for (std::size_t i = 0; i < models.data.size(); ++i)
        if (static_cast<int>(i) % models.padded < classes) models.data[i] = random[i];
      std::vector<std::uint8_t> names;
      for (int c = 0; c < classes; ++c) names.push_back(static_cast<std::uint8_t>(200 - 3 * c));
      const Picture picture(h, w, 5);
      const AxisResampling y_axis = bilinearAxis(rows, h), x_axis = bilinearAxis(columns, w);
      std::vector<std::uint8_t> labels(static_cast<std::size_t>(h) * w), threaded = labels;
      labelByLinearModels(models, y_axis, x_axis, picture.view(), names, {labels.data(), h, w}, Serial());
      labelByLinearModels(models, y_axis, x_axis, picture.view(), names, {threaded.data(), h, w}, test::Threads(3));
      EXPECT_EQ(labels, threaded);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
          const std::vector<double> values = valuesAt(models, y_axis, x_axis, picture, y, x);
          const auto found = std::find(names.begin(), names.end(), labels[y * w + x]);
          ASSERT_NE(found, names.end());
          ASSERT_GE(values[found - names.begin()] + 1e-4, *std::max_element(values.begin(), values.end()))
              << classes << " classes, pixel " << y << ", " << x;
        }
    }
}

TEST_P(LinearLabels, TiesGoToTheLowestClass) {
  const LinearModels models(2, 2, 11);  // all functions are 0
  const Picture picture(4, 4, 1);
  std::vector<std::uint8_t> labels(16), names = {7, 6, 5, 4, 3, 2, 1, 0, 9, 8, 10};
  labelByLinearModels(models, bilinearAxis(2, 4), bilinearAxis(2, 4), picture.view(), names, {labels.data(), 4, 4},
                      Serial());
  EXPECT_EQ(labels, std::vector<std::uint8_t>(16, 7));
}

class MaskScores : public test::EachInstructionSet {};
MPM_EACH_INSTRUCTION_SET(MaskScores);

struct Case {
  int classes;
  Matrix tokens, patch, cls;
  std::vector<float> weight, bias;

  Case(int class_count, int rows, int dim, int e)
      : classes(class_count),
        tokens(Matrix::normal(class_count + rows, dim, 1, 1, 2)),
        patch(Matrix::normal(e, dim, 2, 0.2f)),
        cls(Matrix::normal(e, dim, 3, 0.2f)),
        weight(test::normal(class_count, 4, 0.3f, 1)),
        bias(test::normal(class_count, 5)) {}

  Matrix run(const Parallel& parallel) const {
    Matrix scores(tokens.rows - classes, classes, 1);
    maskScores(tokens.view(), classes, PackedLinear(patch.view(), nullptr), PackedLinear(cls.view(), nullptr),
               weight.data(), bias.data(), 1e-5f, scores.view(), parallel);
    return scores;
  }
  test::Reference expected() const {
    const MatrixView<const float> view = tokens.view();
    return test::maskScores(test::Reference(view.rowRange(0, classes)),
                            test::Reference(view.rowRange(classes, tokens.rows)), cls.view(), patch.view(),
                            {weight.data(), bias.data(), 1e-5f});
  }
};

TEST_P(MaskScores, ClassesAndRowsOfAnyNumber) {
  for (const int classes : {2, 3, 11, 19, 63, 64, 65, 150})
    for (const int rows : {1, 7, 64, 130}) {
      const Case c(classes, rows, 40, 24);
      ASSERT_LE(test::maxError(c.run(Serial()).view(), c.expected()), 1e-4)
          << classes << " classes, " << rows << " rows";
    }
}

TEST_P(MaskScores, ZeroRowStaysZero) {
  Case c(5, 9, 16, 16);
  for (int k = 0; k < 16; ++k) c.tokens.at(7, k) = 0;
  const Matrix scores = c.run(Serial());
  for (int j = 0; j < 5; ++j) EXPECT_FLOAT_EQ(scores.at(2, j), c.bias[j]);
}

TEST_P(MaskScores, SameBytesForAnyNumberOfThreads) {
  const Case c(150, 300, 32, 32);
  const Matrix serial = c.run(Serial());
  for (const int threads : {2, 3, 4}) {
    const Matrix threaded = c.run(test::Threads(threads));
    for (int i = 0; i < 300; ++i)
      ASSERT_TRUE(std::equal(serial.view().row(i), serial.view().row(i) + 150, threaded.view().row(i)));
  }
}

}  // namespace
}  // namespace mpm
