// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/pairing.h"

#include "kernels/cuda/on_device.h"
#include "kernels/pairing_cases.h"

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

 private:
  Found find(Neighbours& neighbours, const Packed& x, int special) {
    Buffer<int> best(stream(), x.ragged.total), not_finite(stream(), 1);
    clear(stream(), best.data(), sizeof(int) * best.capacity());  // find() does not write those of special rows
    clear(stream(), not_finite.data(), sizeof(int));
    neighbours.find(stream(), x.data.data(), x.dim, special, x.ragged, best.data(), not_finite.data());
    return {fetched(best.data(), x.ragged.total), fetched(not_finite.data(), 1)[0]};
  }

  Neighbours by_warps_{false}, by_warpgroups_;
};

// `best` of each image, whose special rows stand in front.
void expectBestOfImages(const Packed& x, int special, const std::vector<int>& best) {
  for (int b = 0; b < x.ragged.batch; ++b) {
    const int rows = x.rows[b] - special;
    const int first = x.offsets[b] + special;
    Matrix image(rows, x.dim);
    std::copy_n(x.row(b, special), rows * x.dim, image.values.begin());
    SCOPED_TRACE(::testing::Message() << "image " << b);
    mpm::test::expectBest(image, {best.begin() + first, best.begin() + first + rows});
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
        expectBestOfImages(x, special, found.best);
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
      for (int i = 0; i < rows * dim; ++i) values[i] += centre[i % dim];
      const Packed x(stream(), {rows}, values, dim);
      SCOPED_TRACE(::testing::Message() << "schedule " << schedule << ", spread " << spread);
      expectBestOfImages(x, 0, find(x).best);
    }
  }
}

// Among them rows with more candidates than there is room for.
TEST_F(CudaPairing, RulesOfEveryBackend) {
  for (const unsigned schedule : test::schedules()) {
    test::useSchedule(schedule);
    const auto pairs = [&](const Matrix& x) {
      const Found found = find(Packed(stream(), {x.rows}, x.values, x.cols));
      EXPECT_EQ(found.not_finite, 0);
      return found.best;
    };
    mpm::test::expectPairingRules(pairs, 40);
  }
}

TEST_F(CudaPairing, NotANumberAndInfinityNameTheirImage) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()})
    for (const int row : {1, 69}) {
      std::vector<float> values = test::normal((30 + 70 + 5) * 19, 2);
      values[(30 + row) * 19 + 18] = bad;
      EXPECT_EQ(find(Packed(stream(), {30, 70, 5}, values, 19), 1).not_finite, 2) << bad << " in row " << row;
      // A special row may hold any value.
      std::vector<float> special = test::normal(40 * 19, 2);
      special[3] = bad;
      EXPECT_EQ(find(Packed(stream(), {40}, special, 19), 1).not_finite, 0);
    }
}

}  // namespace
}  // namespace mpm::cuda
