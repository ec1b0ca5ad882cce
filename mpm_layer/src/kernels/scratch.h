// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace mpm {

/// Memory that grows and never shrinks, aligned to a cache line and to every vector. Contents are lost when it grows.
template <typename T>
class Scratch {
 public:
  /// At least `count` elements, uninitialised the first time. Valid until the next call with a larger count.
  T* atLeast(std::size_t count) {
    if (count > count_) {
      data_.reset();
      count_ = 0;  // stays 0 when the allocation throws
      data_.reset(static_cast<T*>(::operator new(count * sizeof(T), kAlignment)));
      count_ = count;
    }
    return data_.get();
  }
  const T* data() const { return data_.get(); }
  std::size_t capacity() const { return count_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(T* pointer) const { ::operator delete(pointer, kAlignment); }
  };
  std::unique_ptr<T[], Free> data_;
  std::size_t count_ = 0;
};

}  // namespace mpm
