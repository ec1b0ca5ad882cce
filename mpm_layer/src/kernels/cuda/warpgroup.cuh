// SPDX-License-Identifier: Apache-2.0
// Hopper's warpgroups: products of four warps whose operands the tensor cores read from shared memory. They need code
// for sm_90a, so the host checks hasWarpgroupProducts() before it launches such a kernel.
//
// Operands in shared memory are rows of 128 bytes (64 halves). Their segments of 16 bytes are permuted: segment s of
// row r is at s ^ (r % 8). The first row is aligned to 1024 bytes (PTX ISA,
// "Asynchronous Warpgroup Level Matrix Shared Memory Layout", 128-byte swizzling).
//
// Fragments are those of mma.m16n8k16 (tensor_core.cuh). Warp w has the rows 16 w ... 16 w + 15, lane = 4 g + t:
//   C {64, 8 n}: c[j] holds the columns 8 j + 2 t and the next, of rows g and g + 8
//   A {64, 16} in registers: a[0] = (g, 2t..2t+1), a[1] = (g + 8, 2t..), a[2] = (g, 2t + 8..), a[3] = (g + 8, 2t + 8..)
//
// A product is asynchronous: its sums, its A and its shared memory must not be used before finishWarpgroupProducts().
// All four warps of a group make the same calls.
#pragma once

#include "kernels/cuda/tensor_core.cuh"

namespace mpm::cuda {

constexpr int kWarpgroupRowBytes = 128;

}  // namespace mpm::cuda

#ifndef MPM_CUDA_ON_HOST
namespace mpm::cuda {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define MPM_WARPGROUP_ASM(...) asm volatile(__VA_ARGS__)
#elif defined(__CUDA_ARCH__)
#define MPM_WARPGROUP_ASM(...) __trap()
#else
#define MPM_WARPGROUP_ASM(...) static_cast<void>(0)
#endif

/// After the next barrier, the tensor cores can read what this thread has copied and waited for.
__device__ __forceinline__ void publishSharedToTensorCores() {
  MPM_WARPGROUP_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Call it before the first product, and again after sums or operands in registers were used.
__device__ __forceinline__ void beginWarpgroupProducts() {
  MPM_WARPGROUP_ASM("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Returns when all products are done.
template <int kM, int kN>
__device__ __forceinline__ void finishWarpgroupProducts(float (&c)[kM][kN][4]) {
  MPM_WARPGROUP_ASM("wgmma.commit_group.sync.aligned;" ::: "memory");
  MPM_WARPGROUP_ASM("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) asm volatile("" : "+f"(c[m][n][e])::"memory");  // not read before this line
}

/// Descriptor of an operand: 128-byte swizzling, 1024 bytes from eight rows to the next eight, in both directions.
__device__ __forceinline__ unsigned long long matrixDescriptor(const void* rows) {
  constexpr unsigned long long kSwizzle128 = 1ull << 62, kEightRows = 1024 / 16;
  return kSwizzle128 | kEightRows << 32 | kEightRows << 16 | (sharedAddress(rows) & 0x3ffffu) >> 4;
}

#define MPM_SUM(n) "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])
#define MPM_SUMS_16 MPM_SUM(0), MPM_SUM(1)
#define MPM_SUMS_48 MPM_SUMS_16, MPM_SUM(2), MPM_SUM(3), MPM_SUM(4), MPM_SUM(5)
#define MPM_SUMS_64 MPM_SUMS_48, MPM_SUM(6), MPM_SUM(7)
#define MPM_SUMS_128 \
  MPM_SUMS_64, MPM_SUM(8), MPM_SUM(9), MPM_SUM(10), MPM_SUM(11), MPM_SUM(12), MPM_SUM(13), MPM_SUM(14), MPM_SUM(15)
#define MPM_NAMES_16 "%0, %1, %2, %3, %4, %5, %6, %7"
#define MPM_NAMES_48 \
  MPM_NAMES_16       \
  ", "               \
  "%8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23"
#define MPM_NAMES_64 \
  MPM_NAMES_48       \
  ", "               \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define MPM_NAMES_128                                                                \
  MPM_NAMES_64                                                                       \
  ", "                                                                               \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define MPM_PRODUCT(columns, type, names, operands)                                                            \
  "{.reg .pred add; setp.ne.b32 add, 1, 0; wgmma.mma_async.sync.aligned.m64n" columns "k16.f32." type "." type \
  " {" names "}, " operands "}"
#define MPM_REGISTERS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])

/// C {64, 128} += A {64, 16} B^T, B {128, 16}, both in shared memory.
__device__ __forceinline__ void multiplyAddRows(float (&c)[16][4], const Half* a, const Half* b) {
  MPM_WARPGROUP_ASM(MPM_PRODUCT("128", "f16", MPM_NAMES_128, "%64, %65, add, 1, 1, 0, 0;")
                    : MPM_SUMS_128
                    : "l"(matrixDescriptor(a)), "l"(matrixDescriptor(b))
                    : "memory");
}

// C {64, columns} += A B^T with A in registers and B {columns, 16} in shared memory.
#define MPM_MULTIPLY_ADD_ROWS(T, type, columns, names, sums, r0, r1, r2, r3, descriptor)                          \
  __device__ __forceinline__ void multiplyAddRows(float(&c)[columns / 8][4], const unsigned(&a)[4], const T* b) { \
    MPM_WARPGROUP_ASM(                                                                                            \
        MPM_PRODUCT(#columns, type, names, "{" r0 ", " r1 ", " r2 ", " r3 "}, " descriptor ", add, 1, 1, 0;")     \
        : sums                                                                                                    \
        : MPM_REGISTERS, "l"(matrixDescriptor(b))                                                                 \
        : "memory");                                                                                              \
  }
MPM_MULTIPLY_ADD_ROWS(Half, "f16", 16, MPM_NAMES_16, MPM_SUMS_16, "%8", "%9", "%10", "%11", "%12")
MPM_MULTIPLY_ADD_ROWS(Half, "f16", 48, MPM_NAMES_48, MPM_SUMS_48, "%24", "%25", "%26", "%27", "%28")
MPM_MULTIPLY_ADD_ROWS(Half, "f16", 64, MPM_NAMES_64, MPM_SUMS_64, "%32", "%33", "%34", "%35", "%36")
MPM_MULTIPLY_ADD_ROWS(Bfloat, "bf16", 16, MPM_NAMES_16, MPM_SUMS_16, "%8", "%9", "%10", "%11", "%12")
MPM_MULTIPLY_ADD_ROWS(Bfloat, "bf16", 48, MPM_NAMES_48, MPM_SUMS_48, "%24", "%25", "%26", "%27", "%28")
MPM_MULTIPLY_ADD_ROWS(Bfloat, "bf16", 64, MPM_NAMES_64, MPM_SUMS_64, "%32", "%33", "%34", "%35", "%36")

// C {64, 64} += A B with A in registers and B {16, 64} in shared memory.
#define MPM_MULTIPLY_ADD_COLUMNS(T, type)                                                                  \
  __device__ __forceinline__ void multiplyAddColumns(float(&c)[8][4], const unsigned(&a)[4], const T* b) { \
    MPM_WARPGROUP_ASM(MPM_PRODUCT("64", type, MPM_NAMES_64, "{%32, %33, %34, %35}, %36, add, 1, 1, 1;")    \
                      : MPM_SUMS_64                                                                        \
                      : MPM_REGISTERS, "l"(matrixDescriptor(b))                                            \
                      : "memory");                                                                         \
  }
MPM_MULTIPLY_ADD_COLUMNS(Half, "f16")
MPM_MULTIPLY_ADD_COLUMNS(Bfloat, "bf16")

}  // namespace mpm::cuda
#endif
