// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mpm::cuda {

struct DeviceInfo {
  int index = 0;
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
};

/// The GPUs that this build can use, by CUDA's index. Without a driver, or with a driver that is too old, the list is
/// empty.
std::vector<DeviceInfo> devices();

/// Whether kernels can multiply on Hopper's warpgroups: the device has them, and this build has code for sm_90a.
bool hasWarpgroupProducts(const DeviceInfo& device);

class LaunchQueue;

/// A queue of work on one device. Its work runs in order, and independently of other streams. The functions of this
/// folder only enqueue work; wait() reports errors. Copies are the same stream. One thread at a time.
class Stream {
 public:
  /// Throws mpm::Error when there is no such device.
  explicit Stream(int device);

  const DeviceInfo& device() const;
  /// Returns when everything enqueued so far is done. Throws mpm::Error when any of it failed.
  void wait() const;
  /// The stream as the CUDA runtime knows it, after what its queue holds back; makes its device the calling thread's.
  void* native() const;
  /// What is enqueued goes through it (launch_queue.h).
  LaunchQueue& queue() const;

 private:
  friend class Event;
  friend class Memory;
  struct Impl;
  Stream() = default;
  std::shared_ptr<Impl> impl_;
};

/// A point in a stream that the host can wait for while the device continues with later work.
class Event {
 public:
  Event() = default;
  ~Event();
  Event(Event&& other) noexcept { *this = std::move(other); }
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    std::swap(stream_, other.stream_);
    return *this;
  }

  /// Sets the point after all work enqueued so far.
  void record(const Stream& stream);
  /// Returns when everything enqueued before the point is done. Throws mpm::Error when any of it failed.
  void wait() const;

 private:
  void* event_ = nullptr;
  Stream stream_;
};

/// Memory of a device, or pinned memory of the host, which the device copies without a staging buffer.
class Memory {
 public:
  enum class Where { kDevice, kPinnedHost };
  Memory() = default;
  /// For work of this stream. Throws mpm::Error with the requested size when the device is out of memory.
  Memory(const Stream& stream, std::size_t bytes, Where where = Where::kDevice);
  ~Memory();
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(stream_, other.stream_);
    std::swap(where_, other.where_);
    return *this;
  }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  Stream stream_;
  Where where_ = Where::kDevice;
};

/// An array of `T` that grows and never shrinks. Growing loses the contents.
template <typename T, Memory::Where kWhere = Memory::Where::kDevice>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Stream& stream, std::size_t count) : memory_(stream, count * sizeof(T), kWhere) {}

  T* atLeast(const Stream& stream, std::size_t count) {
    if (count * sizeof(T) > memory_.bytes()) {
      memory_ = Memory();  // free the old block first: both may not fit
      memory_ = Memory(stream, count * sizeof(T), kWhere);
    }
    return data();
  }
  T* data() const { return static_cast<T*>(memory_.data()); }
  std::size_t capacity() const { return memory_.bytes() / sizeof(T); }

 private:
  Memory memory_;
};

template <typename T>
using PinnedBuffer = Buffer<T, Memory::Where::kPinnedHost>;

/// Enqueue a copy. Host memory must stay valid until the stream has been waited for.
void upload(const Stream& stream, const void* host, void* device, std::size_t bytes);
void download(const Stream& stream, const void* device, void* host, std::size_t bytes);
void copy(const Stream& stream, const void* from, void* to, std::size_t bytes);
/// Sets every byte to zero.
void clear(const Stream& stream, void* device, std::size_t bytes);

/// Copies `values` to the device and waits.
template <typename T>
Buffer<T> uploaded(const Stream& stream, const std::vector<T>& values) {
  Buffer<T> buffer(stream, values.size());
  upload(stream, values.data(), buffer.data(), values.size() * sizeof(T));
  stream.wait();
  return buffer;
}

/// IEEE binary16 and bfloat16 in device memory. For storage only: arithmetic is fp32 or runs on the tensor cores.
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

/// Number of elements of {rows, cols}.
inline std::size_t area(int rows, int cols) { return static_cast<std::size_t>(rows) * cols; }

/// count / each, rounded up: the number of blocks to launch.
template <typename Count>
unsigned piecesOf(Count count, int each) {
  const auto size = static_cast<Count>(each);
  return static_cast<unsigned>((count + size - 1) / size);
}

/// Rows of a batch on the device, packed. Image b has the rows offsets[b] ... offsets[b + 1] - 1.
struct Ragged {
  int batch = 0;
  const int* offsets = nullptr;  ///< {batch + 1}, on the device
  int total = 0;                 ///< offsets[batch], or an upper bound of it
  int longest = 0;               ///< rows of the longest image, or an upper bound of it

  bool operator==(const Ragged&) const = default;
};

}  // namespace mpm::cuda
