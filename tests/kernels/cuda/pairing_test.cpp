// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/pairing.h"

#include <cmath>
#include <limits>

#include "kernels/cuda/on_device.h"

namespace mpm::cuda {
namespace {

using test::Packed;

class CudaPairing : public test::OnDevice {
 protected:
  struct Found {
    std::vector<int> best;  // packed, special rows included
    int not_finite;
  };

  // By every way that this device has to multiply.
  Found find(const Packed& x, int special = 0) {
    const Found found = find(by_warps_, x, special);
    if (hasWarpgroupProducts(stream().device())) {
      const Found again = find(by_warpgroups_, x, special);
      EXPECT_EQ(again.best, found.best);
      EXPECT_EQ(again.not_finite, found.not_finite);
    }
    return found;
  }
  std::vector<int> pairs(const std::vector<float>& values, int dim) {
    const Packed x(stream(), {static_cast<int>(values.size()) / dim}, values, dim);
    const Found found = find(x);
    EXPECT_EQ(found.not_finite, 0);
    return found.best;
  }

 private:
  Found find(Neighbours& neighbours, const Packed& x, int special) {
    Buffer<int> best(stream(), static_cast<std::size_t>(x.ragged.total)), not_finite(stream(), 1);
    clear(stream(), best.data(), sizeof(int) * best.capacity());  // find() does not write those of special rows
    clear(stream(), not_finite.data(), sizeof(int));
    neighbours.find(stream(), x.data.data(), x.dim, special, x.ragged, best.data(), not_finite.data());
    return {fetched(best.data(), static_cast<std::size_t>(x.ragged.total)), fetched(not_finite.data(), 1)[0]};
  }

  Neighbours by_warps_{false}, by_warpgroups_;
};

double cosine(const float* x, const float* y, int dim) {
  double dot = 0, a = 0, b = 0;
  for (int k = 0; k < dim; ++k) {
    const double p = static_cast<double>(x[k]), q = static_cast<double>(y[k]);
    dot += p * q;
    a += p * p;
    b += q * q;
  }
  return a == 0 || b == 0 ? 0 : dot / std::sqrt(a * b);
}

// Every answer is within fp32's rounding of the double-precision maximum: fp16 decided nothing.
void expectBest(const Packed& x, int special, const std::vector<int>& best) {
  for (int b = 0; b < x.ragged.batch; ++b) {
    const int n = x.rows[static_cast<std::size_t>(b)] - special;
    for (int i = 0; i < n && n > 1; ++i) {
      double top = -2;
      for (int j = 0; j < n; ++j)
        if (j != i) top = std::max(top, cosine(x.row(b, special + i), x.row(b, special + j), x.dim));
      const int found = best[static_cast<std::size_t>(x.offsets[static_cast<std::size_t>(b)] + special + i)];
      ASSERT_NE(found, i);
      ASSERT_GE(found, 0);
      ASSERT_LT(found, n);
      ASSERT_GE(cosine(x.row(b, special + i), x.row(b, special + found), x.dim), top - 1e-6)
          << "image " << b << " row " << i << " -> " << found;
    }
  }
}

TEST_F(CudaPairing, RaggedImagesOfOddSizes) {
  for (const unsigned schedule : test::schedules())
    for (const int dim : {1, 3, 33, 100}) {
      SCOPED_TRACE(::testing::Message() << "schedule " << schedule << ", dim " << dim);
      test::useSchedule(schedule);
      const Packed x = Packed::random(stream(), {2, 131, 3, 7, 1 + 64}, dim, static_cast<unsigned>(dim));
      for (const int special : {0, 1}) {
        const Found found = find(x, special);
        EXPECT_EQ(found.not_finite, 0);
        expectBest(x, special, found.best);
      }
    }
}

// Tokens as a ViT has them in a flat region: differences of the similarities are far below the rounding of fp16.
TEST_F(CudaPairing, CloseCallsAreDecidedInFp32) {
  for (const unsigned schedule : test::schedules()) {
    test::useSchedule(schedule);
    for (const float spread : {0.1f, 0.02f, 0.005f}) {
      const int rows = 150, dim = 48;
      const std::vector<float> centre = test::normal(dim, 1);
      std::vector<float> values = test::normal(rows * dim, 2, spread);
      for (int i = 0; i < rows * dim; ++i)
        values[static_cast<std::size_t>(i)] += centre[static_cast<std::size_t>(i % dim)];
      const Packed x(stream(), {rows}, values, dim);
      SCOPED_TRACE(::testing::Message() << "schedule " << schedule << ", spread " << spread);
      expectBest(x, 0, find(x).best);
    }
  }
}

TEST_F(CudaPairing, OneRowIsItsOwnNeighbour) { EXPECT_EQ(pairs(test::normal(16, 1), 16), std::vector<int>{0}); }

// All rows have more candidates than there is room for.
TEST_F(CudaPairing, IdenticalRowsTieToTheLowest) {
  for (const unsigned schedule : test::schedules())
    for (const int dim : {3, 40}) {
      test::useSchedule(schedule);
      const std::vector<float> row = test::normal(static_cast<std::size_t>(dim), 1);
      std::vector<float> values;
      for (int i = 0; i < 140; ++i) values.insert(values.end(), row.begin(), row.end());
      std::vector<int> expected(140, 0);
      expected[0] = 1;
      EXPECT_EQ(pairs(values, dim), expected) << dim;
    }
}

TEST_F(CudaPairing, CopiesAnywhereTieExactly) {
  for (const unsigned schedule : test::schedules()) {
    test::useSchedule(schedule);
    const int dim = 37;
    std::vector<float> values = test::normal(200 * dim, 3);
    const std::vector<int> copies = {5, 60, 70, 133, 190};
    for (const int copy : copies) std::copy_n(values.begin() + 5 * dim, dim, values.begin() + copy * dim);
    const std::vector<int> best = pairs(values, dim);
    EXPECT_EQ(best[5], 60);
    for (std::size_t c = 1; c < copies.size(); ++c) EXPECT_EQ(best[static_cast<std::size_t>(copies[c])], 5);
    for (const int found : best)
      for (std::size_t c = 2; c < copies.size(); ++c) EXPECT_NE(found, copies[c]);
  }
}

TEST_F(CudaPairing, ZeroRowsAreSimilarToNothing) {
  const int dim = 24;
  std::vector<float> values = test::normal(80 * dim, 7);
  for (const int zero : {0, 33, 79})
    for (int k = 0; k < dim; ++k) values[static_cast<std::size_t>(zero * dim + k)] = k % 2 == 0 ? 0.0f : -0.0f;
  const Packed x(stream(), {80}, values, dim);
  const std::vector<int> best = find(x).best;
  EXPECT_EQ(best[0], 1);
  EXPECT_EQ(best[33], 0);
  EXPECT_EQ(best[79], 0);
  expectBest(x, 0, best);
}

TEST_F(CudaPairing, OppositesStillHaveANeighbour) {
  EXPECT_EQ(pairs({1, 2, 3, 4, -1, -2, -3, -4}, 4), (std::vector<int>{1, 0}));
}

TEST_F(CudaPairing, LengthDoesNotCount) {
  const int dim = 20;
  const std::vector<float> values = test::normal(70 * dim, 11);
  const std::vector<int> best = pairs(values, dim);
  for (const float factor : {1e30f, 1e-30f, 1e20f, 1e-20f}) {
    std::vector<float> scaled = values;
    for (int i = 0; i < 70; i += 2)
      for (int k = 0; k < dim; ++k) scaled[static_cast<std::size_t>(i * dim + k)] *= factor;
    EXPECT_EQ(pairs(scaled, dim), best) << factor;
  }
  std::vector<float> denormal = values;
  for (float& value : denormal) value *= 1e-40f;
  const Packed x(stream(), {70}, denormal, dim);
  expectBest(x, 0, find(x).best);
}

TEST_F(CudaPairing, LargestFiniteValuesAreNotInfinity) {
  std::vector<float> values = test::normal(20 * 30, 4);
  for (float& value : values) value = value > 0 ? 3.4e38f : -3.4e38f;
  const Packed x(stream(), {20}, values, 30);
  const Found found = find(x);
  EXPECT_EQ(found.not_finite, 0);
  expectBest(x, 0, found.best);
}

TEST_F(CudaPairing, NotANumberAndInfinityNameTheirImage) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()})
    for (const int row : {1, 69}) {
      std::vector<float> values = test::normal((30 + 70 + 5) * 19, 2);
      values[static_cast<std::size_t>((30 + row) * 19 + 18)] = bad;
      EXPECT_EQ(find(Packed(stream(), {30, 70, 5}, values, 19), 1).not_finite, 2) << bad << " in row " << row;
      // A special row may hold any value.
      std::vector<float> special = test::normal(40 * 19, 2);
      special[3] = bad;
      EXPECT_EQ(find(Packed(stream(), {40}, special, 19), 1).not_finite, 0);
    }
}

}  // namespace
}  // namespace mpm::cuda
