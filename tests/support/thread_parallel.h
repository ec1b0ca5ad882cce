// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "kernels/parallel.h"

namespace mpm {

/// As many threads as asked for, whatever the machine has: tasks start in order, each thread takes the next.
class ThreadParallel final : public Parallel {
 public:
  explicit ThreadParallel(int threads) : threads_(threads) {}

  void run(int tasks, TaskRef body) const override {
    std::atomic<int> next{0};
    const auto work = [&] {
      for (int task = next++; task < tasks; task = next++) body(task);
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < threads_; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
  }

 private:
  int threads_;
};

}  // namespace mpm
