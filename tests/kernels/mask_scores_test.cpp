// SPDX-License-Identifier: Apache-2.0
#include "kernels/mask_scores.h"

#include "kernels/each_instruction_set.h"
#include "kernels/reference.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

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
