// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace mpm::monitor {

/// One slot between two threads; the latest value wins. All methods may be called from any thread; none but take(),
/// wait() and waitEmpty() waits, and none allocates.
template <typename T>
class Mailbox {
 public:
  /// Puts a value in the slot. One that was not taken is dropped and counted. After close(): does nothing.
  void put(T value) {
    std::optional<T> dropped(std::move(value));  // freed outside the lock: a frame is megabytes
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (slot_) ++dropped_;
    slot_.swap(dropped);
    changed_.notify_all();
  }

  /// Waits for a value, and leaves it in the slot, where a later one may replace it. False when the time is up, or the
  /// mailbox is closed, or wake() was called.
  bool wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return slot_ || closed_ || woken_; });
    woken_ = false;
    return slot_.has_value();
  }

  std::optional<T> tryTake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return std::exchange(slot_, std::nullopt);
  }

  std::optional<T> take(std::chrono::milliseconds patience) { return wait(patience) ? tryTake() : std::nullopt; }

  /// Waits until the slot is empty: for a producer that may not lose anything. False when the time is up first.
  bool waitEmpty(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return !slot_ || closed_; });
  }

  /// Ends one wait() that waits, or the next.
  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }

  /// Empties the slot (not counted as a drop) and ends every wait(), now and later.
  void close() {
    std::optional<T> left;
    const std::lock_guard lock(mutex_);
    closed_ = true;
    slot_.swap(left);
    changed_.notify_all();
  }

  /// Values that were put and never taken.
  std::int64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

  bool empty() const {
    const std::lock_guard lock(mutex_);
    return !slot_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<T> slot_;
  std::int64_t dropped_ = 0;
  bool closed_ = false, woken_ = false;
};

}  // namespace mpm::monitor
