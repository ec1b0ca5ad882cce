// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <memory>
#include <new>

namespace mpm {

/// Memory that grows and never shrinks, aligned to a cache line and to every vector. Contents are lost when it grows.
/// Large memory is of large pages where the system has them: the first touch of 400 MB in small ones takes 0.4 s.
template <typename T>
class Scratch {
 public:
  /// At least `count` elements, uninitialised the first time. Valid until the next call with a larger count.
  T* atLeast(std::size_t count) {
    if (count > count_) {
      data_.reset();
      count_ = 0;  // stays 0 when the allocation throws
      const std::size_t bytes = count * sizeof(T);
      const Free free{std::align_val_t{bytes < kLargePage ? 64 : kLargePage}};
      data_ = {static_cast<T*>(::operator new(bytes, free.alignment)), free};
      count_ = count;
#ifdef MADV_HUGEPAGE
      if (bytes >= kLargePage) ::madvise(data_.get(), bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
    }
    return data_.get();
  }
  const T* data() const { return data_.get(); }

 private:
  static constexpr std::size_t kLargePage = std::size_t{1} << 21;
  struct Free {
    std::align_val_t alignment;
    void operator()(T* pointer) const { ::operator delete(pointer, alignment); }
  };
  std::unique_ptr<T[], Free> data_{nullptr, Free{}};
  std::size_t count_ = 0;
};

}  // namespace mpm
