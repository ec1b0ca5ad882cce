// SPDX-License-Identifier: Apache-2.0
// The emulation itself: what it must catch, it catches. That lanes, fragments and products are right, the tests of the
// kernels show.
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "kernels/cuda/kernel.cuh"
#include "kernels/cuda/warpgroup.cuh"

namespace mpm::cuda {
namespace {

// Reverses `values` {64} through shared memory.
void reverse(int* values, bool with_barrier) {
  int* shared = static_cast<int*>(sharedMemory());
  const unsigned i = threadIdx.x;
  shared[i] = values[i];
  if (with_barrier) __syncthreads();
  values[i] = shared[63 - i];
}

std::vector<int> reversed(bool with_barrier, unsigned seed) {
  on_host::setSeed(seed);
  std::vector<int> values(64);
  std::iota(values.begin(), values.end(), 0);
  launch(reverse, Grid{}, 64, 64 * sizeof(int), Stream(0), values.data(), with_barrier);
  return values;
}

TEST(CudaOnHost, MissingBarrierShows) {
  std::set<std::vector<int>> outcomes;
  for (unsigned seed = 0; seed < 4; ++seed) {
    const std::vector<int> right = reversed(true, seed);
    for (int i = 0; i < 64; ++i) ASSERT_EQ(right[i], 63 - i);
    outcomes.insert(reversed(false, seed));
  }
  EXPECT_GT(outcomes.size(), 1u);
}

void leaveHalf() {
  if (threadIdx.x < 32) __syncthreads();
}

TEST(CudaOnHost, BarrierThatNotAllReachIsAnError) {
  EXPECT_THROW(launch(leaveHalf, Grid{}, 64, 0, Stream(0)), std::logic_error);
}

void waitForTooFewCopies(const float* from, float* to, bool wait) {
  auto* shared = static_cast<float*>(sharedMemory());
  copyAsync16(shared + 4 * threadIdx.x, from + 4 * threadIdx.x, true);
  commitCopies();
  if (wait) waitForCopies<0>();
  __syncthreads();
  to[threadIdx.x] = shared[4 * (31 - threadIdx.x)];
}

TEST(CudaOnHost, CopyWithoutAWaitIsFound) {
  on_host::setSeed(0);
  const Buffer<float> from = uploaded(Stream(0), std::vector<float>(128, 1.0f));
  std::vector<float> to(32);
  launch(waitForTooFewCopies, Grid{}, 32, 512, Stream(0), from.data(), to.data(), true);
  EXPECT_EQ(to, std::vector<float>(32, 1.0f));
  launch(waitForTooFewCopies, Grid{}, 32, 512, Stream(0), from.data(), to.data(), false);
  EXPECT_NE(to[0], 1.0f);
}

enum class Forgotten { kNothing, kPublishing, kBeginning, kFinishing };

// C {64, 128} of the first 64 rows of `rows` {128, 64} with all of them, in one warpgroup.
void multiplyRowsWithRows(const Half* rows, float* to, Forgotten forgotten) {
  auto* shared = static_cast<Half*>(sharedMemory());
  for (int segment = 0; segment < 8; ++segment) {
    const unsigned row = threadIdx.x;
    copyAsync16(shared + row * 64 + (static_cast<unsigned>(segment) ^ (row & 7)) * 8, rows + row * 64 + segment * 8,
                true);
  }
  commitCopies();
  waitForCopies<0>();
  if (forgotten != Forgotten::kPublishing) publishSharedToTensorCores();
  __syncthreads();
  float sum[1][16][4] = {};
  if (forgotten != Forgotten::kBeginning) beginWarpgroupProducts();
  for (int k = 0; k < 64; k += 16) multiplyAddRows(sum[0], shared + k, shared + k);
  if (forgotten != Forgotten::kFinishing) finishWarpgroupProducts(sum);
  const int lane = laneIndex();
  for (int n = 0; n < 16; ++n) {
    for (int e = 0; e < 4; ++e)
      to[(16 * warpIndex() + lane / 4 + e / 2 * 8) * 128 + 8 * n + 2 * (lane % 4) + e % 2] = sum[0][n][e];
  }
}

std::vector<float> rowsWithRows(const std::vector<float>& values, Forgotten forgotten, unsigned seed) {
  on_host::setSeed(seed);
  std::vector<Half> halves;
  for (const float value : values) halves.push_back(fromFloat<Half>(value));
  const Buffer<Half> rows = uploaded(Stream(0), halves);
  std::vector<float> to(64 * 128);
  launch(multiplyRowsWithRows, Grid{}, 128, 128 * 64 * sizeof(Half), Stream(0), rows.data(), to.data(), forgotten);
  return to;
}

TEST(CudaOnHost, WarpgroupsMultiplyWhatWasPublished) {
  std::vector<float> values(128 * 64), expected(64 * 128);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 17) - 8;
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < 128; ++j)
      for (std::size_t k = 0; k < 64; ++k) expected[i * 128 + j] += values[i * 64 + k] * values[j * 64 + k];
  }
  for (unsigned seed = 0; seed < 4; ++seed) EXPECT_EQ(rowsWithRows(values, Forgotten::kNothing, seed), expected);
  EXPECT_NE(rowsWithRows(values, Forgotten::kFinishing, 0), expected);
  EXPECT_THROW(rowsWithRows(values, Forgotten::kPublishing, 0), std::logic_error);
  EXPECT_THROW(rowsWithRows(values, Forgotten::kBeginning, 0), std::logic_error);
}

#ifdef __SANITIZE_ADDRESS__
void readBehindShared(int* to) { to[threadIdx.x] = static_cast<const int*>(sharedMemory())[threadIdx.x + 1]; }

TEST(CudaOnHostDeathTest, AccessOutOfSharedMemory) {
  std::vector<int> to(32);
  EXPECT_DEATH(launch(readBehindShared, Grid{}, 32, 32 * sizeof(int), Stream(0), to.data()), "AddressSanitizer");
}
#endif

}  // namespace
}  // namespace mpm::cuda
