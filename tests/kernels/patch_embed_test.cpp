// SPDX-License-Identifier: Apache-2.0
#include "kernels/patch_embed.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/reference.h"
#include "kernels/threads.h"

namespace mpm {
namespace {

TEST(PatchEmbed, KernelsAndStridesOfAllKinds) {
  for (const PatchGeometry& g : {PatchGeometry{3, 64, 96, 16, 16, 16, 16}, PatchGeometry{3, 33, 47, 8, 8, 8, 8},
                                 PatchGeometry{1, 20, 30, 5, 3, 4, 2}, PatchGeometry{4, 7, 7, 7, 7, 1, 1},
                                 PatchGeometry{3, 200, 200, 8, 8, 8, 8}, PatchGeometry{2, 40, 40, 16, 16, 10, 10}}) {
    SCOPED_TRACE(::testing::Message() << g.height << " x " << g.width << " kernel " << g.kernel_h << " x "
                                      << g.kernel_w);
    const int patches = g.gridHeight() * g.gridWidth(), dim = 24;
    const std::vector<float> image = test::normal(g.channels * g.height * g.width, 1);
    const Matrix weight = Matrix::normal(dim, g.channels * g.kernel_h * g.kernel_w, 2, 0.1f);
    const Matrix position = Matrix::normal(patches, dim, 3);
    const PackedLinear packed(weight.view(), nullptr);
    Matrix tokens(patches, dim, 3), threaded(patches, dim, 3);
    patchEmbed(image.data(), g, packed, position.view(), tokens.view(), Serial());
    ASSERT_LE(test::maxError(tokens.view(),
                             test::patchEmbed(image.data(), g, weight.view(), test::Reference(position.view()))),
              2e-5);
    patchEmbed(image.data(), g, packed, position.view(), threaded.view(), test::Threads(3));
    for (int i = 0; i < patches; ++i)
      ASSERT_TRUE(std::equal(tokens.view().row(i), tokens.view().row(i) + dim, threaded.view().row(i)));
  }
}

TEST(PatchEmbed, NormBeforePositions) {
  const PatchGeometry g{3, 64, 96, 8, 8, 8, 8};
  const int patches = g.gridHeight() * g.gridWidth(), dim = 24;
  const std::vector<float> image = test::normal(g.channels * g.height * g.width, 1);
  const Matrix weight = Matrix::normal(dim, g.channels * g.kernel_h * g.kernel_w, 2, 0.1f);
  const Matrix position = Matrix::normal(patches, dim, 3), vectors = Matrix::normal(3, dim, 4);
  for (const bool rms : {false, true}) {
    const NormWeights norm{vectors.view().row(1), vectors.view().row(2), 1e-5f, rms};
    Matrix bias(patches, dim), tokens(patches, dim, 3);
    for (int i = 0; i < patches; ++i) std::copy_n(vectors.view().row(0), dim, bias.view().row(i));
    test::Reference rows =
        test::norm(test::patchEmbed(image.data(), g, weight.view(), test::Reference(bias.view())), norm);
    for (int i = 0; i < patches; ++i)
      for (int j = 0; j < dim; ++j) rows.at(i, j) += static_cast<double>(position.at(i, j));
    patchEmbed(image.data(), g, PackedLinear(weight.view(), vectors.view().row(0)), position.view(), tokens.view(),
               test::Threads(2), &norm);
    EXPECT_LE(test::maxError(tokens.view(), rows), 2e-5);
    const int only[] = {3, 41, 90};
    Matrix some(3, dim);
    patchEmbed(image.data(), g, PackedLinear(weight.view(), vectors.view().row(0)), position.view(), some.view(),
               Serial(), &norm, only);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(std::memcmp(some.view().row(i), tokens.view().row(only[i]), dim * sizeof(float)), 0) << only[i];
  }
}

}  // namespace
}  // namespace mpm
