// SPDX-License-Identifier: Apache-2.0
#include "layers/opencv_parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <opencv2/core/utility.hpp>

namespace mpm {

void OpenCvParallel::run(int tasks, TaskRef body) const {
  const int workers = std::min(cv::getNumThreads(), tasks);
  if (workers <= 1) {
    Serial().run(tasks, body);
    return;
  }
  std::atomic<int> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&](const cv::Range& range) {
    for (int worker = range.start; worker < range.end; ++worker) {
      for (int task = next++; task < tasks; task = next++) {
        try {
          body(task);
        } catch (...) {
          const std::lock_guard lock(failure_mutex);
          if (!failure) failure = std::current_exception();
          next = tasks;
        }
      }
    }
  };
  cv::parallel_for_(cv::Range(0, workers), work, workers);
  if (failure) std::rethrow_exception(failure);
}

int OpenCvParallel::threads() const { return std::max(1, cv::getNumThreads()); }

}  // namespace mpm
