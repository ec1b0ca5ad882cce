// SPDX-License-Identifier: Apache-2.0
// The N x N matrix of similarities is never stored: what a merge allocates grows with N.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <thread>

#include "merging/merge_tokens.h"

namespace {

thread_local std::size_t allocated = 0;  // bytes, by this thread, since it began

void* take(std::size_t size, std::size_t alignment) {
  allocated += size;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return take(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) { return take(size, std::size_t(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace mpm {
namespace {

/// Bytes that the first merge of a thread takes, which has all its scratch still to make.
std::size_t scratchOf(int tokens) {
  constexpr int kDim = 5;
  std::vector<float> features(static_cast<std::size_t>(tokens) * kDim), merged(features.size());
  for (std::size_t i = 0; i < features.size(); ++i) features[i] = static_cast<float>((i * 7919) % 1009) - 500;
  std::vector<float> before(TokenState<float>::size(tokens)), after(before.size());
  resetState({before.data(), tokens});
  std::size_t taken = 0;
  std::thread([&] {
    const std::size_t start = allocated;
    const bool finite = mergeTokens({}, {features.data(), tokens, kDim}, 0, {before.data(), tokens},
                                    {merged.data(), tokens, kDim}, {after.data(), tokens}, Serial());
    taken = allocated - start;
    EXPECT_TRUE(finite);
  }).join();
  EXPECT_LT(after[0], static_cast<float>(tokens));
  return taken;
}

TEST(MergeScratch, GrowsWithTheTokensNotWithTheirSquare) {
  constexpr int kTokens = 1500;
  const std::size_t one = scratchOf(kTokens), two = scratchOf(2 * kTokens), four = scratchOf(4 * kTokens);
  EXPECT_GT(two, one) << "nothing was counted";
  EXPECT_EQ(four - two, 2 * (two - one));
  EXPECT_LE((two - one) / kTokens, 48u) << "bytes per token";
}

}  // namespace
}  // namespace mpm
