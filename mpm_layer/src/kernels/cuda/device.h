// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

/// The GPUs that this build can use, by CUDA's index. Without a driver, or with one too old: none, and no error.
std::vector<DeviceInfo> devices();

/// Whether kernels can multiply on Hopper's warpgroups: the device has them and this build machine code for them
/// (sm_90a among CMAKE_CUDA_ARCHITECTURES).
bool hasWarpgroupProducts(const DeviceInfo& device);

/// A queue of work on one device: what is put in runs in order, and independently of every other stream. The functions
/// of this folder only enqueue; wait() tells of errors. One thread at a time.
class Stream {
 public:
  /// Throws mpm::Error when there is no such device.
  explicit Stream(int device);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  const DeviceInfo& device() const;
  /// Returns when everything enqueued so far is done. Throws mpm::Error when any of it failed.
  void wait() const;
  /// The stream as the CUDA runtime knows it; makes its device the calling thread's.
  void* native() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A place in a stream's queue that the host can wait for, while the device goes on with what was put in behind it.
class Event {
 public:
  Event() = default;
  ~Event();
  Event(Event&& other) noexcept { *this = std::move(other); }
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    std::swap(device_, other.device_);
    return *this;
  }

  /// Here. A place recorded before is forgotten.
  void record(const Stream& stream);
  /// Returns when everything enqueued before the place is done. Throws mpm::Error when any of it failed.
  void wait() const;

 private:
  void* event_ = nullptr;
  int device_ = 0;
};

/// Bytes on a device, or on the host where copies to and from the device need not be staged (pinned).
class Memory {
 public:
  enum class Where { kDevice, kPinnedHost };
  Memory() = default;
  /// Throws mpm::Error with the requested size when the device is out of memory.
  Memory(const Stream& stream, std::size_t bytes, Where where = Where::kDevice);
  ~Memory();
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_);
    std::swap(where_, other.where_);
    return *this;
  }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = 0;
  Where where_ = Where::kDevice;
};

/// Device memory for `T`s that grows and never shrinks; contents are lost when it grows.
template <typename T, Memory::Where kWhere = Memory::Where::kDevice>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Stream& stream, std::size_t count) : memory_(stream, count * sizeof(T), kWhere) {}

  T* atLeast(const Stream& stream, std::size_t count) {
    if (count * sizeof(T) > memory_.bytes()) {
      memory_ = Memory();  // the old block first: both need not fit at once
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

/// Enqueued copies. From or to host memory that is not pinned they may return only when the copy is done, or before it
/// is: the memory must stay until the stream was waited for.
void upload(const Stream& stream, const void* host, void* device, std::size_t bytes);
void download(const Stream& stream, const void* device, void* host, std::size_t bytes);
void copy(const Stream& stream, const void* from, void* to, std::size_t bytes);
/// Every byte to zero.
void clear(const Stream& stream, void* device, std::size_t bytes);

/// Done when it returns: `values` may go.
template <typename T>
Buffer<T> uploaded(const Stream& stream, const std::vector<T>& values) {
  Buffer<T> buffer(stream, values.size());
  upload(stream, values.data(), buffer.data(), values.size() * sizeof(T));
  stream.wait();
  return buffer;
}

/// Elements of {rows, cols}.
inline std::size_t area(int rows, int cols) { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols); }

/// Pieces of `each` that hold `count`: how many blocks to launch.
template <typename Count>
unsigned piecesOf(Count count, int each) {
  const auto size = static_cast<Count>(each);
  return static_cast<unsigned>((count + size - 1) / size);
}

/// Rows of a batch on the device, packed image after image: those of image b are offsets[b] ... offsets[b + 1] - 1.
struct Ragged {
  int batch = 0;
  const int* offsets = nullptr;  ///< {batch + 1}, on the device
  int total = 0;                 ///< offsets[batch], or an upper bound of it
  int longest = 0;               ///< rows of the longest image, or an upper bound of it
};

}  // namespace mpm::cuda
