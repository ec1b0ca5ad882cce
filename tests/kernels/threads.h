// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/parallel.h"

namespace mpm::test {

/// A pool that spins between calls, so that benchmarks measure kernels and not wake-ups. The caller is one of the
/// threads.
class Threads final : public Parallel {
 public:
  explicit Threads(int count) {
    for (int i = 1; i < count; ++i) workers_.emplace_back([this] { work(); });
  }
  ~Threads() override {
    stop_ = true;
    ++generation_;
    for (std::thread& worker : workers_) worker.join();
  }

  void run(int tasks, TaskRef body) const override {
    body_ = &body;
    tasks_ = tasks;
    next_ = 0;
    error_ = nullptr;
    busy_ = static_cast<int>(workers_.size());
    ++generation_;
    takeTasks();
    while (busy_ != 0) std::this_thread::yield();
    if (error_) std::rethrow_exception(error_);
  }

  int threads() const override { return static_cast<int>(workers_.size()) + 1; }

 private:
  void takeTasks() const {
    for (int task = next_++; task < tasks_; task = next_++) {
      try {
        (*body_)(task);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        next_ = tasks_;
      }
    }
  }

  void work() {
    for (unsigned seen = 0;;) {
      for (int spins = 0; generation_ == seen; ++spins)
        if (spins > 20000) std::this_thread::yield();
      seen = generation_;
      if (stop_) return;
      takeTasks();
      --busy_;
    }
  }

  mutable const TaskRef* body_ = nullptr;
  mutable int tasks_ = 0;
  mutable std::atomic<int> next_{0}, busy_{0};
  mutable std::atomic<unsigned> generation_{0};
  mutable std::mutex mutex_;
  mutable std::exception_ptr error_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

}  // namespace mpm::test
