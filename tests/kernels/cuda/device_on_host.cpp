// SPDX-License-Identifier: Apache-2.0
// Streams and device memory of the emulation: work is done when it is enqueued, memory is the host's, NaN at first.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/cuda/device.h"
#include "kernels/cuda/emulation.h"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

std::atomic<int> uploads, downloads;
std::atomic<std::size_t> uploaded_bytes, downloaded_bytes, held_bytes, limit_bytes{test::kNoLimit};

}  // namespace

test::Copies test::takeCopies() {
  return {uploads.exchange(0), downloads.exchange(0), uploaded_bytes.exchange(0), downloaded_bytes.exchange(0)};
}

std::size_t test::heldMemory() { return held_bytes; }

void test::limitMemory(std::size_t bytes) { limit_bytes = bytes; }

std::vector<DeviceInfo> devices() { return {{0, "emulation on the host", 9, 0, 2, std::size_t{1} << 30}}; }

bool hasWarpgroupProducts(const DeviceInfo&) { return true; }

struct Stream::Impl {
  DeviceInfo device = devices().front();
};
Stream::Stream(int) : impl_(std::make_unique<Impl>()) {}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
const DeviceInfo& Stream::device() const { return impl_->device; }
void Stream::wait() const {}
void* Stream::native() const { return nullptr; }

Event::~Event() = default;
void Event::record(const Stream&) {}
void Event::wait() const {}

Memory::Memory(const Stream& stream, std::size_t bytes, Where where) : device_(stream.device().index), where_(where) {
  if (bytes == 0) return;
  if (held_bytes + bytes > limit_bytes) throw Error("CUDA: the memory of the emulation is full");
  void* pointer = nullptr;
  if (posix_memalign(&pointer, 256, bytes) != 0) throw std::bad_alloc();
  data_ = pointer;
  bytes_ = bytes;
  held_bytes += bytes;
  std::memset(data_, 0xff, bytes);
}
Memory::~Memory() {
  held_bytes -= bytes_;
  std::free(data_);
}

void upload(const Stream&, const void* host, void* device, std::size_t bytes) {
  ++uploads;
  uploaded_bytes += bytes;
  std::memcpy(device, host, bytes);
}
void download(const Stream&, const void* device, void* host, std::size_t bytes) {
  ++downloads;
  downloaded_bytes += bytes;
  std::memcpy(host, device, bytes);
}
void copy(const Stream&, const void* from, void* to, std::size_t bytes) { std::memmove(to, from, bytes); }
void clear(const Stream&, void* device, std::size_t bytes) { std::memset(device, 0, bytes); }

}  // namespace mpm::cuda
