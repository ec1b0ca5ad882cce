// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <type_traits>

namespace mpm {

/// Reference to a callable that outlives the call. Never allocates, unlike std::function.
class TaskRef {
 public:
  template <typename F>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): `requires` leaves copies to the copy constructor
  requires(!std::is_same_v<std::remove_cvref_t<F>, TaskRef>) TaskRef(F&& body)
      : object_(const_cast<void*>(static_cast<const void*>(&body))),
        call_([](void* object, int task) { (*static_cast<std::remove_reference_t<F>*>(object))(task); }) {}

  void operator()(int task) const { call_(object_, task); }

 private:
  void* object_;
  void (*call_)(void*, int);
};

/// How kernels run tasks in parallel. Kernels have no threads of their own: the layers pass OpenCV's, so there is one
/// thread pool in the process. Results must not depend on which thread runs a task, or on the number of threads.
class Parallel {
 public:
  virtual ~Parallel() = default;
  /// Calls body(0) ... body(tasks - 1), each once, started in this order, and returns when all are done. The first
  /// exception thrown by a task is rethrown here; tasks not yet started are then dropped.
  virtual void run(int tasks, TaskRef body) const = 0;
  /// Number of threads of run(): a hint for the size of tasks.
  virtual int threads() const { return 1; }
};

/// Calls body(begin, end) in parallel for pieces of [0, count) of `size` each; the last may be smaller.
template <class Count, class Body>
void runPieces(const Parallel& parallel, Count count, std::type_identity_t<Count> size, Body body) {
  parallel.run(static_cast<int>((count + size - 1) / size), [&](int piece) {
    const Count begin = piece * size;
    body(begin, std::min(count, begin + size));
  });
}

/// Runs everything on the calling thread.
class Serial final : public Parallel {
 public:
  void run(int tasks, TaskRef body) const override {
    for (int task = 0; task < tasks; ++task) body(task);
  }
};

}  // namespace mpm
