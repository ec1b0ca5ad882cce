// SPDX-License-Identifier: Apache-2.0
#include "prefetcher.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

namespace mpm::train {

Prefetcher::Prefetcher(const SampleSource& source, Size2 size, int batch, int interleave, int threads,
                       std::uint64_t first_sample)
    : source_(source), size_(size), batch_(batch), interleave_(interleave), next_sample_(first_sample) {
  const auto group = static_cast<std::uint64_t>(interleave_ * source_.chunkSize());
  next_chunk_ = first_needed_ = first_sample / group * static_cast<std::uint64_t>(interleave_);
  try {
    for (int i = 0; i < std::max(1, threads); ++i) threads_.emplace_back([this] { work(stop_.get_token()); });
  } catch (const std::system_error&) {  // no more threads to be had: fewer do it, too
    if (threads_.empty()) throw;
  }
}

void Prefetcher::work(const std::stop_token& stop) {
  // LibTorch's threads wait for each other after every operation: one that has to share its core with a renderer holds
  // up all of them. A niced thread fills the gaps instead (on Linux niceness belongs to a thread).
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] {
    return failure_ || next_chunk_ < first_needed_ + 2 * static_cast<std::uint64_t>(interleave_);
  })) {
    if (failure_ || stop.stop_requested()) return;
    const std::uint64_t chunk = next_chunk_++;
    lock.unlock();
    std::vector<TrainingSample> samples;
    std::exception_ptr failure;
    try {
      samples = source_.trainingChunk(chunk, size_);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure)
      failure_ = failure;
    else
      finished_.emplace(chunk, std::move(samples));
    changed_.notify_all();
  }
}

TrainingSample Prefetcher::take(std::uint64_t sample) {
  const auto width = static_cast<std::uint64_t>(interleave_), depth = static_cast<std::uint64_t>(source_.chunkSize());
  const std::uint64_t group = sample / (width * depth), position = sample % (width * depth);
  const std::uint64_t chunk = group * width + position % width;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || finished_.contains(chunk); });
  if (failure_) std::rethrow_exception(failure_);
  TrainingSample result = std::move(finished_.at(chunk).at(position / width));
  if (position / width == depth - 1) {
    finished_.erase(finished_.begin(), finished_.upper_bound(chunk));
    first_needed_ = chunk + 1;
    changed_.notify_all();
  }
  return result;
}

Batch Prefetcher::next() {
  const int shape[] = {batch_, size_.height, size_.width};
  Batch batch{cv::Mat(3, shape, CV_8UC3), cv::Mat(3, shape, CV_8U)};
  for (int i = 0; i < batch_; ++i) {
    const TrainingSample sample = take(next_sample_++);
    sample.image.copyTo(cv::Mat(size_.height, size_.width, CV_8UC3, batch.images.ptr(i)));
    sample.labels.copyTo(cv::Mat(size_.height, size_.width, CV_8U, batch.labels.ptr(i)));
  }
  return batch;
}

}  // namespace mpm::train
