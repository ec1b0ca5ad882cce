// SPDX-License-Identifier: Apache-2.0
// Streams, graphs and device memory of the emulation: work is done when it is enqueued, memory is the host's, NaN at
// first. What reads or writes behind it, or after it was freed, ends the process with SIGSEGV; what wrote in front of
// it, with SIGABRT when it is freed. During a capture the emulation refuses what CUDA refuses: to allocate, to free, to
// copy from or to the host, to wait.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "kernels/cuda/device.h"
#include "kernels/cuda/emulation.h"
#include "kernels/cuda/platform.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

std::atomic<int> uploads, downloads;
std::atomic<std::size_t> uploaded_bytes, downloaded_bytes, held_bytes, limit_bytes{test::kNoLimit};
std::atomic<int> commands, graphs, graphs_made, refused_captures;
std::atomic<bool> next_capture_fails;

struct Capture {
  std::vector<std::function<void()>> work;
  bool broken = false;
};
thread_local Capture* capture_of_thread = nullptr;

/// As CUDA, which also ends the capture.
void refuseDuringCapture(const char* what) {
  if (capture_of_thread == nullptr) return;
  capture_of_thread->broken = true;
  throw Error(std::string("CUDA: ") + what + ": operation not permitted when stream is capturing");
}

// Pages of memory that hold NaN, and behind them one that nobody may touch. The array ends as near to it as numbers of
// 16 bytes allow.
struct Pages {
  explicit Pages(std::size_t array)
      : bytes((array + kUnit - 1) / kUnit * kUnit), whole((bytes + kPage - 1) / kPage * kPage) {}
  static constexpr std::size_t kUnit = 16;
  inline static const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::size_t bytes, whole;
  std::size_t before() const { return whole - bytes; }
};

void* guarded(std::size_t bytes) {
  const Pages pages(bytes);
  void* const mapped =
      ::mmap(nullptr, pages.whole + Pages::kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<unsigned char*>(mapped);
  std::memset(begin, 0xff, pages.whole);
  ::mprotect(begin + pages.whole, Pages::kPage, PROT_NONE);
  return begin + pages.before();
}

void release(void* data, std::size_t bytes) {
  const Pages pages(bytes);
  auto* const array = static_cast<unsigned char*>(data);
  auto* const begin = array - pages.before();
  const auto isKept = [](unsigned char byte) { return byte == 0xff; };
  if (!std::all_of(begin, array, isKept) || !std::all_of(array + bytes, array + pages.bytes, isKept)) {
    std::fputs("writes beside an array on the device\n", stderr);
    std::abort();
  }
  ::munmap(begin, pages.whole + Pages::kPage);
}

}  // namespace

test::Copies test::takeCopies() {
  return {uploads.exchange(0), downloads.exchange(0), uploaded_bytes.exchange(0), downloaded_bytes.exchange(0)};
}

test::Launches test::takeLaunches() {
  return {commands.exchange(0), graphs.exchange(0), graphs_made.exchange(0), refused_captures.exchange(0)};
}

void test::failNextCapture() { next_capture_fails = true; }

std::size_t test::heldMemory() { return held_bytes; }

void test::limitMemory(std::size_t bytes) { limit_bytes = bytes; }

std::vector<DeviceInfo> devices() { return {{0, "emulation on the host", 9, 0, 2, std::size_t{1} << 30}}; }

bool hasWarpgroupProducts(const DeviceInfo&) { return true; }

struct Stream::Impl {
  DeviceInfo device = devices().front();
  Capture* capture = nullptr;
  LaunchQueue queue;
};
Stream::Stream(int) : impl_(std::make_shared<Impl>()) {}
const DeviceInfo& Stream::device() const { return impl_->device; }
LaunchQueue& Stream::queue() const { return impl_->queue; }
void Stream::wait() const {
  native();
  refuseDuringCapture("running a kernel");
}
void* Stream::native() const {
  impl_->queue.flush(*this);
  return &impl_->capture;
}

void on_host::perform(const Stream& stream, std::function<void()> work) {
  Capture* const capture = *static_cast<Capture**>(stream.native());
  if (capture == nullptr) {
    ++commands;
    return work();
  }
  capture->work.push_back(std::move(work));
  if (capture->work.size() == 3 && next_capture_fails.exchange(false)) refuseDuringCapture("as a test asked");
}

Event::~Event() = default;
void Event::record(const Stream& stream) {
  stream.native();
  refuseDuringCapture("recording an event");
  event_ = this;
  stream_ = stream;
}
void Event::wait() const {
  if (event_ == nullptr) return;
  stream_.native();
  refuseDuringCapture("running a kernel");
}

Graph::Graph(const Stream& stream, const std::function<void()>& work) {
  auto** const capturing = static_cast<Capture**>(stream.native());
  refuseDuringCapture("capturing a graph");
  auto capture = std::make_unique<Capture>();
  capture_of_thread = *capturing = capture.get();
  const auto end = [&] { capture_of_thread = *capturing = nullptr; };
  try {
    work();
  } catch (...) {
    end();
    ++refused_captures;
    throw;
  }
  end();
  if (capture->broken) {
    ++refused_captures;
    throw Error("CUDA: capturing a graph: operation failed due to a previous error during capture");
  }
  ++graphs_made;
  graph_ = new std::vector<std::function<void()>>(std::move(capture->work));
}
Graph::~Graph() { delete static_cast<std::vector<std::function<void()>>*>(graph_); }
void Graph::launch(const Stream& stream) const {
  stream.native();
  ++graphs;
  for (const auto& work : *static_cast<const std::vector<std::function<void()>>*>(graph_)) work();
}

Memory::Memory(const Stream& stream, std::size_t bytes, Where where) : stream_(stream), where_(where) {
  if (bytes == 0) return;
  refuseDuringCapture("allocating memory");
  if (held_bytes + bytes > limit_bytes) throw Error("CUDA: the memory of the emulation is full");
  data_ = guarded(bytes);
  bytes_ = bytes;
  held_bytes += bytes;
}
Memory::~Memory() {
  if (data_ == nullptr) return;
  stream_.queue().flushQuietly(stream_);
  if (capture_of_thread != nullptr) capture_of_thread->broken = true;
  held_bytes -= bytes_;
  release(data_, bytes_);
}

// Without bytes there may be no memory, and the pointers null.
void upload(const Stream& stream, const void* host, void* device, std::size_t bytes) {
  if (bytes == 0) return;
  stream.native();
  refuseDuringCapture("copying to the device");
  ++uploads;
  uploaded_bytes += bytes;
  std::memcpy(device, host, bytes);
}
void download(const Stream& stream, const void* device, void* host, std::size_t bytes) {
  if (bytes == 0) return;
  stream.native();
  refuseDuringCapture("copying from the device");
  ++downloads;
  downloaded_bytes += bytes;
  std::memcpy(host, device, bytes);
}

namespace {

struct CopyCall {
  const void* from;
  void* to;
  std::size_t bytes;

  bool operator==(const CopyCall&) const = default;
  void run(const Stream& stream) const {
    on_host::perform(stream, [call = *this] { std::memmove(call.to, call.from, call.bytes); });
  }
};

struct ClearCall {
  void* device;
  std::size_t bytes;

  bool operator==(const ClearCall&) const = default;
  void run(const Stream& stream) const {
    on_host::perform(stream, [call = *this] { std::memset(call.device, 0, call.bytes); });
  }
};

}  // namespace

void copy(const Stream& stream, const void* from, void* to, std::size_t bytes) {
  if (bytes > 0) enqueue(stream, CopyCall{from, to, bytes});
}
void clear(const Stream& stream, void* device, std::size_t bytes) {
  if (bytes > 0) enqueue(stream, ClearCall{device, bytes});
}

}  // namespace mpm::cuda
