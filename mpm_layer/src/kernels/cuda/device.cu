// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/device.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "kernels/cuda/architectures.h"
#include "kernels/cuda/launch_queue.h"
#include "kernels/cuda/platform.cuh"
#include "mpm/error.hpp"

namespace mpm::cuda {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not report this error again
  throw Error(std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
}

std::vector<DeviceInfo> devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  std::vector<DeviceInfo> found;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    if (!anyCodeRunsOn(MPM_CUDA_ARCHITECTURES, properties.major, properties.minor)) continue;
    found.push_back({i, properties.name, properties.major, properties.minor, properties.multiProcessorCount,
                     properties.totalGlobalMem});
  }
  return found;
}

bool hasWarpgroupProducts(const DeviceInfo& device) {
  constexpr std::string_view kBuiltFor = MPM_CUDA_ARCHITECTURES;
  return kBuiltFor.find("90a") != std::string_view::npos && device.major == 9 && device.minor == 0;
}

struct Stream::Impl {
  explicit Impl(const DeviceInfo& chosen) : device(chosen) {
    check(cudaSetDevice(device.index), "selecting the device");
    // Independent of the legacy default stream: two nets in two threads must not wait for each other.
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  }
  ~Impl() {
    queue.forget();
    cudaSetDevice(device.index);
    cudaStreamDestroy(stream);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  DeviceInfo device;
  cudaStream_t stream = nullptr;
  LaunchQueue queue;
};

Stream::Stream(int device) {
  const std::vector<DeviceInfo> all = devices();
  const auto found = std::find_if(all.begin(), all.end(), [&](const DeviceInfo& info) { return info.index == device; });
  if (found == all.end()) {
    throw Error("there is no CUDA device " + std::to_string(device) + ": " +
                (all.empty() ? std::string("no GPU with a working driver that this build has code for")
                             : std::to_string(all.size()) + " found, see mpm info"));
  }
  impl_ = std::make_shared<Impl>(*found);
}

const DeviceInfo& Stream::device() const { return impl_->device; }

LaunchQueue& Stream::queue() const { return impl_->queue; }

void* Stream::native() const {
  check(cudaSetDevice(impl_->device.index), "selecting the device");
  impl_->queue.flush(*this);
  return impl_->stream;
}

void Stream::wait() const { check(cudaStreamSynchronize(static_cast<cudaStream_t>(native())), "running a kernel"); }

Event::~Event() {
  if (event_ == nullptr) return;
  cudaSetDevice(stream_.device().index);
  cudaEventDestroy(static_cast<cudaEvent_t>(event_));
}

void Event::record(const Stream& stream) {
  auto* const native = static_cast<cudaStream_t>(stream.native());
  if (event_ == nullptr) {
    cudaEvent_t made = nullptr;
    check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "making an event");
    event_ = made;
    stream_ = stream;
  }
  check(cudaEventRecord(static_cast<cudaEvent_t>(event_), native), "recording an event");
}

void Event::wait() const {
  if (event_ == nullptr) return;
  stream_.native();  // so that the device works while the host waits
  check(cudaEventSynchronize(static_cast<cudaEvent_t>(event_)), "running a kernel");
}

Graph::Graph(const Stream& stream, const std::function<void()>& work) : device_(stream.device().index) {
  auto* const native = static_cast<cudaStream_t>(stream.native());
  // Of this thread alone: others may allocate and wait meanwhile.
  check(cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal), "capturing a graph");
  cudaGraph_t captured = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(native, &captured);
    cudaGetLastError();
    if (captured != nullptr) cudaGraphDestroy(captured);
    throw;
  }
  check(cudaStreamEndCapture(native, &captured), "capturing a graph");
  cudaGraphExec_t made = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&made, captured, 0);
  cudaGraphDestroy(captured);
  check(status, "making a graph");
  graph_ = made;
}

Graph::~Graph() {
  if (graph_ == nullptr) return;
  cudaSetDevice(device_);
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph_));  // if it runs, when it is done
}

void Graph::launch(const Stream& stream) const {
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph_), static_cast<cudaStream_t>(stream.native())),
        "starting a graph");
}

Memory::Memory(const Stream& stream, std::size_t bytes, Where where) : stream_(stream), where_(where) {
  if (bytes == 0) return;
  check(cudaSetDevice(stream.device().index), "selecting the device");
  const cudaError_t status = where == Where::kDevice ? cudaMalloc(&data_, bytes) : cudaMallocHost(&data_, bytes);
  if (status != cudaSuccess) {
    cudaGetLastError();
    data_ = nullptr;
    throw Error("CUDA: not enough memory on " +
                (where == Where::kDevice ? stream.device().name : std::string("the host")) + " for " +
                std::to_string((bytes + 1048575) >> 20) + " MB more; use a smaller batch (" +
                cudaGetErrorString(status) + ")");
  }
  bytes_ = bytes;
}

Memory::~Memory() {
  if (data_ == nullptr) return;
  cudaSetDevice(stream_.device().index);
  stream_.queue().flushQuietly(stream_);  // what it holds back may use this memory
  if (where_ == Where::kDevice)
    cudaFree(data_);
  else
    cudaFreeHost(data_);
}

namespace {

void transfer(const Stream& stream, const void* from, void* to, std::size_t bytes, cudaMemcpyKind kind,
              const char* what) {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, kind, static_cast<cudaStream_t>(stream.native())), what);
}

struct CopyCall {
  const void* from;
  void* to;
  std::size_t bytes;

  bool operator==(const CopyCall&) const = default;
  void run(const Stream& stream) const {
    transfer(stream, from, to, bytes, cudaMemcpyDeviceToDevice, "copying on the device");
  }
};

struct ClearCall {
  void* device;
  std::size_t bytes;

  bool operator==(const ClearCall&) const = default;
  void run(const Stream& stream) const {
    if (bytes == 0) return;
    check(cudaMemsetAsync(device, 0, bytes, static_cast<cudaStream_t>(stream.native())), "clearing device memory");
  }
};

// The name of a kernel in the source, for errors. Needs CUDA 12.3.
std::string nameOf([[maybe_unused]] const void* kernel) {
#if CUDART_VERSION >= 12030
  const char* mangled = nullptr;
  if (cudaFuncGetName(&mangled, kernel) == cudaSuccess && mangled != nullptr) {
    const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr),
                                                      std::free);
    return name ? name.get() : mangled;
  }
  cudaGetLastError();
#endif
  return "a kernel";
}

}  // namespace

void upload(const Stream& stream, const void* host, void* device, std::size_t bytes) {
  transfer(stream, host, device, bytes, cudaMemcpyHostToDevice, "copying to the device");
}
void download(const Stream& stream, const void* device, void* host, std::size_t bytes) {
  transfer(stream, device, host, bytes, cudaMemcpyDeviceToHost, "copying from the device");
}
void copy(const Stream& stream, const void* from, void* to, std::size_t bytes) {
  enqueue(stream, CopyCall{from, to, bytes});
}
void clear(const Stream& stream, void* device, std::size_t bytes) { enqueue(stream, ClearCall{device, bytes}); }

void allowSharedMemory(const void* kernel, std::size_t bytes) {
  constexpr std::size_t kGranted = 48 * 1024;
  if (bytes <= kGranted) return;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, std::size_t> allowed;
  const std::lock_guard lock(mutex);
  std::size_t& most = allowed[{kernel, device}];
  if (bytes <= most) return;
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (status != cudaSuccess) {
    const std::string what = "asking for " + std::to_string(bytes) + " bytes of shared memory for " + nameOf(kernel);
    check(status, what.c_str());
  }
  most = bytes;
}

void launchKernel(const void* kernel, Grid grid, int threads, std::size_t shared_bytes, const Stream& stream,
                  void** arguments) {
  auto* const native = static_cast<cudaStream_t>(stream.native());
  allowSharedMemory(kernel, shared_bytes);
  const cudaError_t status = cudaLaunchKernel(kernel, dim3(grid.x, grid.y, grid.z),
                                              dim3(static_cast<unsigned>(threads)), arguments, shared_bytes, native);
  if (status == cudaSuccess) return;
  std::string blocks = std::to_string(grid.x);
  for (const unsigned count : {grid.y, grid.z}) blocks += " x " + std::to_string(count);
  const std::string what = "starting " + nameOf(kernel) + " in " + blocks + " blocks of " + std::to_string(threads) +
                           " threads with " + std::to_string(shared_bytes) + " bytes of shared memory";
  check(status, what.c_str());
}

}  // namespace mpm::cuda
