// SPDX-License-Identifier: Apache-2.0
#include "train/prefetcher.h"

#include <gmock/gmock.h>

#include <chrono>
#include <set>

#include "mpm/error.hpp"

namespace mpm::train {
namespace {

constexpr Size2 kTinySize = {2, 2};

// TrainingSample p of chunk c is an image of c with labels p; some chunks take longer than others.
class Counting : public SampleSource {
 public:
  explicit Counting(int chunk) : chunk_(chunk) {}
  const std::vector<ClassInfo>& classes() const override { return classes_; }
  int chunkSize() const override { return chunk_; }
  int heldOutCount() const override { return 0; }
  TrainingSample heldOut(int, Size2) const override { return {}; }
  bool knowsNight() const override { return false; }
  std::vector<TrainingSample> trainingChunk(std::uint64_t chunk, Size2 size) const override {
    if (chunk == fails_at) throw Error("chunk is broken");
    std::this_thread::sleep_for(std::chrono::microseconds(chunk % 3 * 300));
    std::vector<TrainingSample> samples;
    for (int p = 0; p < chunk_; ++p)
      samples.push_back({cv::Mat(size.height, size.width, CV_8UC3, cv::Scalar::all(static_cast<double>(chunk))),
                         cv::Mat(size.height, size.width, CV_8U, cv::Scalar(p))});
    return samples;
  }
  std::uint64_t fails_at = ~0ull;

 private:
  int chunk_;
  std::vector<ClassInfo> classes_;
};

std::vector<std::pair<int, int>> take(Prefetcher& prefetcher, int batches) {
  std::vector<std::pair<int, int>> seen;
  for (int i = 0; i < batches; ++i) {
    const Batch batch = prefetcher.next();
    for (int b = 0; b < batch.images.size[0]; ++b) seen.emplace_back(*batch.images.ptr(b), *batch.labels.ptr(b));
  }
  return seen;
}

TEST(Prefetcher, MixesChunksAndDropsNothing) {
  const Counting source(3);
  Prefetcher prefetcher(source, kTinySize, 4, 4, 2, 0);
  const auto seen = take(prefetcher, 6);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 24u) << "every sample of 8 chunks of 3, once";
  for (int i = 0; i < 24; i += 4)
    EXPECT_EQ((std::set{seen[static_cast<std::size_t>(i)].first, seen[static_cast<std::size_t>(i + 1)].first,
                        seen[static_cast<std::size_t>(i + 2)].first, seen[static_cast<std::size_t>(i + 3)].first})
                  .size(),
              4u);
}

TEST(Prefetcher, OrderDoesNotDependOnThreads) {
  const Counting source(3);
  Prefetcher one(source, kTinySize, 5, 4, 1, 0), many(source, kTinySize, 5, 4, 7, 0);
  EXPECT_EQ(take(one, 12), take(many, 12));
}

TEST(Prefetcher, StartsAnywhere) {
  const Counting source(3);
  Prefetcher whole(source, kTinySize, 5, 4, 2, 0);
  const auto all = take(whole, 20);
  for (const int first : {1, 3, 7, 12}) {
    Prefetcher rest(source, kTinySize, 5, 4, 2, static_cast<std::uint64_t>(5 * first));
    EXPECT_EQ(take(rest, 20 - first), std::vector(all.begin() + 5 * first, all.end())) << "from batch " << first;
  }
}

TEST(Prefetcher, PassesOnWhatWentWrong) {
  Counting source(1);
  source.fails_at = 5;
  Prefetcher prefetcher(source, kTinySize, 4, 4, 2, 0);
  EXPECT_THROW(take(prefetcher, 3), Error);
}

}  // namespace
}  // namespace mpm::train
