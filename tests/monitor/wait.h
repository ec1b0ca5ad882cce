// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mpm::monitor::test {

/// Gives other threads all the time they need; false only when something is wrong.
inline bool eventually(const std::function<bool()>& condition) {
  // By the clock: with a number of steps, a condition that takes long itself never came to an end.
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// A list that several threads add to.
template <typename T>
class Collected {
 public:
  void add(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
  }
  std::vector<T> all() const {
    const std::lock_guard lock(mutex_);
    return values_;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<T> values_;
};

}  // namespace mpm::monitor::test
