// SPDX-License-Identifier: Apache-2.0
#include "layers/opencv_parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <opencv2/core/utility.hpp>
#include <thread>

namespace mpm {
namespace {

// A program may end while one of its threads is in a forward(). exit() would then destroy OpenCV's pool and oneDNN
// while they are in use. So exit() waits here until no thread computes, and a thread that starts to compute then waits
// for the end. Both waits are short: a destructor of the program may be waiting for that thread.
class TheEnd {
 public:
  /// Call it after the first use of OpenCV's pool or oneDNN: exit() runs in reverse order, so it waits here before it
  /// destroys them.
  int watch() {
    return std::atexit([] { theEnd().begin(); });
  }
  bool begun() const { return begun_; }

  void enter() {
    ++computing_;
    if (!begun_ || std::this_thread::get_id() == exiting_) return;
    --computing_;
    std::this_thread::sleep_until(patience_);
    ++computing_;
  }
  void leave() { --computing_; }

  static TheEnd& theEnd() {
    static auto& end = *new TheEnd;
    return end;
  }

 private:
  void begin() {
    if (begun_) return;
    exiting_ = std::this_thread::get_id();
    patience_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    begun_ = true;
    while (computing_ > 0 && std::chrono::steady_clock::now() < patience_)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::atomic<int> computing_{0};
  std::atomic<bool> begun_{false};  // once it is true, the two members below never change
  std::thread::id exiting_;
  std::chrono::steady_clock::time_point patience_;
};

constexpr int kWatchedRuns = 256;

class Computing {
 public:
  Computing() { TheEnd::theEnd().enter(); }
  ~Computing() { TheEnd::theEnd().leave(); }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
};

}  // namespace

void OpenCvParallel::run(int tasks, TaskRef body) const {
  const Computing computing;
  const int workers = std::min(threads(), tasks);
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
  // Below AVX-512 oneDNN makes more of what exit() destroys at the first product of each kind: all of them occur in the
  // first runs.
  static std::atomic<int> watches{0};
  if (watches < kWatchedRuns && watches++ < kWatchedRuns) TheEnd::theEnd().watch();
  if (failure) std::rethrow_exception(failure);
}

int OpenCvParallel::threads() const {
  if (TheEnd::theEnd().begun()) return 1;
  const int available = std::max(1, cv::getNumThreads());
  [[maybe_unused]] static const int watched = TheEnd::theEnd().watch();
  return available;
}

}  // namespace mpm
