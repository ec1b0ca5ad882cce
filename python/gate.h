// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

namespace mpm::python {

/// Counts the calls that run without the GIL, so that fork() and the end of the interpreter wait for them: a child
/// would inherit their locks from threads that it does not have, and Python ends a thread that asks for the GIL too
/// late through the frames of C++, which aborts. While the gate is closed, calls of other threads wait.
class Gate {
 public:
  static Gate& instance() {
    static auto& gate = *new Gate;  // never destroyed: threads may wait here when the process ends
    return gate;
  }

  /// One call. Make it before the GIL is released, so that it ends after this thread has the GIL again.
  class Call {
   public:
    Call() = default;
    ~Call() {
      if (entered_) instance().leave();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    /// Without the GIL.
    void enter() {
      instance().enter();
      entered_ = true;
    }

   private:
    bool entered_ = false;
  };

  /// Waits for the calls of other threads. Without the GIL.
  void close() {
    std::unique_lock lock(mutex_);
    open_.wait(lock, [&] { return closings_ == 0 || mine(); });
    ++closings_;
    closer_ = std::this_thread::get_id();
    idle_.wait(lock, [&] { return running_ == (depth_ > 0 ? 1 : 0); });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    if (--closings_ == 0) open_.notify_all();
  }
  /// In a child of fork(), whose one thread called close(): the threads that waited here do not exist.
  void renew() {
    new (this) Gate;
    running_ = depth_ > 0 ? 1 : 0;
  }

 private:
  bool mine() const { return closer_ == std::this_thread::get_id(); }

  void enter() {
    if (depth_++ > 0) return;  // a call inside a call
    std::unique_lock lock(mutex_);
    open_.wait(lock, [&] { return closings_ == 0 || mine(); });
    ++running_;
  }
  void leave() {
    if (--depth_ > 0) return;
    const std::lock_guard lock(mutex_);
    --running_;
    idle_.notify_all();
  }

  static inline thread_local int depth_ = 0;  ///< calls inside each other, of this thread
  std::mutex mutex_;
  std::condition_variable open_, idle_;
  int running_ = 0;  ///< threads in a call
  int closings_ = 0;
  std::thread::id closer_;
};

}  // namespace mpm::python
