// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "samples.h"

namespace mpm::train {

/// Images and labels of one step: {B, H, W}, CV_8UC3 and CV_8U.
struct Batch {
  cv::Mat images, labels;
};

/// Makes batches on threads ahead of the training loop, in an order that does not depend on the threads: `interleave`
/// chunks are open at a time and give one sample each in turn, so that a batch mixes that many streets.
class Prefetcher {
 public:
  /// Starts at the given sample of the endless stream. Keeps at most `interleave` finished chunks beside those in use.
  Prefetcher(const SampleSource& source, Size2 size, int batch, int interleave, int threads,
             std::uint64_t first_sample);
  ~Prefetcher() { stop_.request_stop(); }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// Waits for the samples of the next batch. Rethrows what a thread ran into.
  Batch next();

 private:
  void work(const std::stop_token& stop);
  TrainingSample take(std::uint64_t sample);

  const SampleSource& source_;
  const Size2 size_;
  const int batch_, interleave_;
  std::uint64_t next_sample_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::uint64_t, std::vector<TrainingSample>> finished_;
  std::uint64_t next_chunk_, first_needed_;
  std::exception_ptr failure_;
  std::stop_source stop_;              // of all threads at once
  std::vector<std::jthread> threads_;  // last: they end before the rest goes
};

}  // namespace mpm::train
