// SPDX-License-Identifier: Apache-2.0
// The parts of CUDA that the .cu files of this folder use. With MPM_CUDA_ON_HOST the tests' emulation replaces them
// (tests/kernels/cuda/on_host.h), and the same sources are plain C++.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "kernels/cuda/device.h"
#include "kernels/cuda/launch_queue.h"

#ifdef MPM_CUDA_ON_HOST
#include "kernels/cuda/on_host.h"
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace mpm::cuda {

/// Throws mpm::Error "CUDA: WHAT: reason" unless `status` is success.
void check(cudaError_t status, const char* what);

struct Grid {
  unsigned x = 1, y = 1, z = 1;

  bool operator==(const Grid&) const = default;
};

/// Allows `kernel` this much dynamic shared memory. Up to 48 KB are always allowed.
void allowSharedMemory(const void* kernel, std::size_t bytes);
void launchKernel(const void* kernel, Grid grid, int threads, std::size_t shared_bytes, const Stream& stream,
                  void** arguments);

template <typename... Parameters>
void start(void (*kernel)(Parameters...), Grid grid, int threads, std::size_t shared_bytes, const Stream& stream,
           const std::tuple<Parameters...>& arguments) {
  std::apply(
      [&](const auto&... argument) {
        void* pointers[] = {const_cast<void*>(static_cast<const void*>(&argument))...};
        launchKernel(reinterpret_cast<const void*>(kernel), grid, threads, shared_bytes, stream, pointers);
      },
      arguments);
}

/// The dynamic shared memory of the block, aligned for every kind of access.
__device__ __forceinline__ void* sharedMemory() {
  extern __shared__ __align__(1024) unsigned char mpm_shared_memory[];
  return mpm_shared_memory;
}

__device__ __forceinline__ float toFloat(float x) { return x; }
__device__ __forceinline__ float toFloat(Half x) { return __half2float(__ushort_as_half(x.bits)); }
__device__ __forceinline__ float toFloat(Bfloat x) { return __uint_as_float(static_cast<unsigned>(x.bits) << 16); }

/// Rounds to nearest even.
template <typename T>
__device__ __forceinline__ T fromFloat(float x);
template <>
__device__ __forceinline__ float fromFloat<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ Half fromFloat<Half>(float x) {
  return {__half_as_ushort(__float2half_rn(x))};
}
template <>
__device__ __forceinline__ Bfloat fromFloat<Bfloat>(float x) {
  return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
}

__device__ __forceinline__ float exp2Fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float reciprocalFast(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace mpm::cuda
#endif

namespace mpm::cuda {

template <typename... Parameters>
struct KernelCall {
  void (*kernel)(Parameters...);
  Grid grid;
  int threads;
  std::size_t shared_bytes;
  std::tuple<Parameters...> arguments;

  bool operator==(const KernelCall&) const = default;
  void run(const Stream& stream) const { start(kernel, grid, threads, shared_bytes, stream, arguments); }
};

/// kernel<<<grid, threads, shared_bytes, stream>>>(arguments...), checked.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), Grid grid, int threads, std::size_t shared_bytes, const Stream& stream,
            Arguments&&... arguments) {
  enqueue(stream, KernelCall<Parameters...>{kernel, grid, threads, shared_bytes,
                                            std::tuple<Parameters...>(std::forward<Arguments>(arguments)...)});
}

}  // namespace mpm::cuda
