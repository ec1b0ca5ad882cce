// SPDX-License-Identifier: Apache-2.0
// CUDA's side of platform.cuh and tensor_core.cuh as plain C++, so that the .cu files of mpm_layer/src/kernels/cuda
// run, and are checked, without a GPU. A CUDA thread is a fiber. The fibers of a block run one at a time, each until it
// waits for others; a seed decides which one runs next. So a missing barrier shows as a result that depends
// on the seed, a barrier that not all threads reach as an error, and an access out of bounds as AddressSanitizer's
// report (device memory and shared memory are exact heap blocks here). Uninitialised memory is NaN.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)

namespace mpm::cuda {

struct Grid {
  unsigned x = 1, y = 1, z = 1;

  bool operator==(const Grid&) const = default;
};

namespace on_host {

/// Order of fibers and blocks, and when asynchronous copies arrive. Seed 0: in order, as late as allowed.
void setSeed(unsigned seed);

void run(Grid grid, int threads, std::size_t shared_bytes, const std::function<void()>& body);

/// Does the work of a launch now, or in a capture puts it into the graph.
void perform(const Stream& stream, std::function<void()> work);

enum class Collective { kShuffle, kLoadMatrices, kMultiply, kMultiplyInWarpgroup, kSyncWarp };
constexpr std::size_t kSlot = 64;
struct Slots {
  alignas(16) unsigned char lane[32][kSlot];
};
/// Waits until all lanes of the warp have come here with the same operation; the last turns what they brought into what
/// they get. Valid until the caller's next collective.
const Slots& meet(Collective operation, const void* mine, std::size_t bytes, void (*combine)(Slots&));
void waitForBlock();
void* blockMemory();
int lane();

void copyAsync(void* shared, const void* from, bool valid);
void commitCopies();
void waitForCopies(int pending);

/// A warpgroup's product as one thread sees it: {64, 8 fragments} += A {64, 16} B.
struct WarpgroupProduct {
  float (*sum)[4];
  int fragments;
  const void* rows_of_a;      // in shared memory, or null and
  const unsigned* registers;  // the thread's own A
  const void* b;
  bool columns;  // B {16, 64} as it stands, else B^T {8 fragments, 16}
  float (*widen)(std::uint16_t);
};
void publishShared();
void beginProducts();
void multiplyInWarpgroup(const WarpgroupProduct& product);
void finishProducts();

std::uint16_t toHalf(float x);
float fromHalf(std::uint16_t bits);
float fromBfloat(std::uint16_t bits);
std::uint16_t toBfloat(float x);
void multiplyHalf(Slots& slots);
void multiplyBfloat(Slots& slots);
void loadPlain(Slots& slots);
void loadTransposed(Slots& slots);

template <typename T>
T valueOf(const Slots& slots, int lane_index) {
  T value;
  std::memcpy(&value, slots.lane[lane_index], sizeof(T));
  return value;
}

}  // namespace on_host

template <typename... Parameters>
void start(void (*kernel)(Parameters...), Grid grid, int threads, std::size_t shared_bytes, const Stream& stream,
           const std::tuple<Parameters...>& arguments) {
  on_host::perform(stream, [=] { on_host::run(grid, threads, shared_bytes, [&] { std::apply(kernel, arguments); }); });
}

inline void* sharedMemory() { return on_host::blockMemory(); }

inline float toFloat(float x) { return x; }
inline float toFloat(Half x) { return on_host::fromHalf(x.bits); }
inline float toFloat(Bfloat x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16); }

template <typename T>
T fromFloat(float x);
template <>
inline float fromFloat<float>(float x) {
  return x;
}
template <>
inline Half fromFloat<Half>(float x) {
  return {on_host::toHalf(x)};
}
template <>
inline Bfloat fromFloat<Bfloat>(float x) {
  return {on_host::toBfloat(x)};
}

inline float exp2Fast(float x) { return std::exp2(x); }
inline float reciprocalFast(float x) { return 1 / x; }

inline void loadMatrices(unsigned (&r)[4], const void* row) {
  const auto& slots = on_host::meet(on_host::Collective::kLoadMatrices, &row, sizeof(row), on_host::loadPlain);
  std::memcpy(r, slots.lane[on_host::lane()], sizeof(r));
}
inline void loadMatricesTransposed(unsigned (&r)[4], const void* row) {
  const auto& slots = on_host::meet(on_host::Collective::kLoadMatrices, &row, sizeof(row), on_host::loadTransposed);
  std::memcpy(r, slots.lane[on_host::lane()], sizeof(r));
}

template <typename T>
void multiplyAdd(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  struct {
    float c[4];
    unsigned a[4], b[2];
  } mine;
  std::memcpy(mine.c, c, sizeof(c));
  std::memcpy(mine.a, a, sizeof(a));
  mine.b[0] = b0;
  mine.b[1] = b1;
  const bool half = sizeof(T) == sizeof(Half) && std::is_same_v<T, Half>;
  const auto& slots = on_host::meet(on_host::Collective::kMultiply, &mine, sizeof(mine),
                                    half ? on_host::multiplyHalf : on_host::multiplyBfloat);
  std::memcpy(c, slots.lane[on_host::lane()], sizeof(c));
}

inline void copyAsync16(void* shared, const void* from, bool valid) { on_host::copyAsync(shared, from, valid); }
inline void commitCopies() { on_host::commitCopies(); }
template <int kPending>
void waitForCopies() {
  on_host::waitForCopies(kPending);
}

inline void publishSharedToTensorCores() { on_host::publishShared(); }
inline void beginWarpgroupProducts() { on_host::beginProducts(); }
inline void multiplyAddRows(float (&c)[16][4], const Half* a, const Half* b) {
  on_host::multiplyInWarpgroup({c, 16, a, nullptr, b, false, on_host::fromHalf});
}
template <typename T>
constexpr auto kWiden = std::is_same_v<T, Half> ? on_host::fromHalf : on_host::fromBfloat;
template <int kN, typename T>
void multiplyAddRows(float (&c)[kN][4], const unsigned (&a)[4], const T* b) {
  static_assert(kN == 2 || kN == 6 || kN == 8);  // what warpgroup.cuh has
  on_host::multiplyInWarpgroup({c, kN, nullptr, a, b, false, kWiden<T>});
}
template <typename T>
void multiplyAddColumns(float (&c)[8][4], const unsigned (&a)[4], const T* b) {
  on_host::multiplyInWarpgroup({c, 8, nullptr, a, b, true, kWiden<T>});
}
template <int kM, int kN>
void finishWarpgroupProducts(float (&)[kM][kN][4]) {
  on_host::finishProducts();
}

}  // namespace mpm::cuda

struct MpmIndex3 {
  unsigned x, y, z;
};
inline MpmIndex3 threadIdx, blockIdx, blockDim, gridDim;

struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

inline void __syncthreads() { mpm::cuda::on_host::waitForBlock(); }
inline void __syncwarp(unsigned = 0xffffffffu) {
  mpm::cuda::on_host::meet(mpm::cuda::on_host::Collective::kSyncWarp, nullptr, 0, nullptr);
}
template <typename T>
T __shfl_sync(unsigned, T x, int source) {
  using namespace mpm::cuda::on_host;
  return valueOf<T>(meet(Collective::kShuffle, &x, sizeof(T), nullptr), source);
}
template <typename T>
T __shfl_xor_sync(unsigned, T x, int mask) {
  using namespace mpm::cuda::on_host;
  return valueOf<T>(meet(Collective::kShuffle, &x, sizeof(T), nullptr), lane() ^ mask);
}
template <typename T>
T __shfl_up_sync(unsigned, T x, int distance) {
  using namespace mpm::cuda::on_host;
  const Slots& slots = meet(Collective::kShuffle, &x, sizeof(T), nullptr);
  return valueOf<T>(slots, lane() < distance ? lane() : lane() - distance);
}
inline unsigned __ballot_sync(unsigned, bool vote) {
  using namespace mpm::cuda::on_host;
  const Slots& slots = meet(Collective::kShuffle, &vote, sizeof(vote), nullptr);
  unsigned votes = 0;
  for (int i = 0; i < 32; ++i) votes |= static_cast<unsigned>(valueOf<bool>(slots, i)) << i;
  return votes;
}

template <typename T>
T atomicAdd(T* at, T value) {
  const T old = *at;
  *at = old + value;
  return old;
}
template <typename T>
T atomicMax(T* at, T value) {
  const T old = *at;
  if (value > old) *at = value;
  return old;
}
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __ffs(unsigned x) { return x == 0 ? 0 : std::countr_zero(x) + 1; }
