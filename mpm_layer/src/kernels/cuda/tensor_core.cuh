// SPDX-License-Identifier: Apache-2.0
// The tensor cores and the asynchronous copies, one small function each. Fragment layouts are those of PTX's
// mma.m16n8k16 with 16-bit operands (PTX ISA, "Matrix Fragments for mma.m16n8k16"), lane = 4 g + t:
//   A {16, 16}: a[0] = (g, 2t..2t+1), a[1] = (g + 8, 2t..), a[2] = (g, 2t + 8..), a[3] = (g + 8, 2t + 8..)
//   B {16, 8}:  b[0] = (2t..2t+1, g), b[1] = (2t + 8.., g)
//   C {16, 8}:  c[0..1] = (g, 2t..2t+1), c[2..3] = (g + 8, 2t..)
#pragma once

#include "kernels/cuda/platform.cuh"

#ifndef MPM_CUDA_ON_HOST
namespace mpm::cuda {

__device__ __forceinline__ unsigned sharedAddress(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// Four 8 x 8 matrices of 16-bit numbers from shared memory: lane l names the row l % 8 of matrix l / 8 (16 bytes,
/// aligned); r[m] gets of matrix m the elements (l / 4, 2 (l % 4)) and the next.
__device__ __forceinline__ void loadMatrices(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row))
               : "memory");
}

/// The same with each matrix transposed.
__device__ __forceinline__ void loadMatricesTransposed(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row))
               : "memory");
}

/// C += A B with fp32 sums.
template <typename T>
__device__ __forceinline__ void multiplyAdd(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1);

template <>
__device__ __forceinline__ void multiplyAdd<Half>(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  // Turing multiplies in steps of 8: the two halves of a k16 fragment are k8 fragments.
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[2]), "r"(a[3]), "r"(b1));
#endif
}

template <>
__device__ __forceinline__ void multiplyAdd<Bfloat>(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  __trap();  // Turing has no bf16; the host refuses before it comes to this
#endif
}

/// Copies 16 bytes to shared memory behind the thread's back, or fills them with zeros where `valid` is false (then
/// `from` is not read). Both aligned to 16.
__device__ __forceinline__ void copyAsync16(void* shared, const void* from, bool valid) {
#if __CUDA_ARCH__ >= 800
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(shared)), "l"(from), "r"(bytes)
               : "memory");
#else
  *static_cast<uint4*>(shared) = valid ? *static_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
#endif
}

/// Closes a group of this thread's copies.
__device__ __forceinline__ void commitCopies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Returns when all but the last kPending groups of this thread have arrived. Other threads' copies need a barrier
/// after.
template <int kPending>
__device__ __forceinline__ void waitForCopies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

// Hopper's warpgroups: four warps whose products the tensor cores read from shared memory themselves. Only in code for
// sm_90a, which the host asks about (hasWarpgroupProducts) before it launches any.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define MPM_WARPGROUPS 1
#else
#define MPM_WARPGROUPS 0
#endif

/// What this thread copied, and waited for, is there for the tensor cores too after the next barrier.
__device__ __forceinline__ void publishSharedToTensorCores() {
#if MPM_WARPGROUPS
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Before the first product, and whenever the sums were touched since.
__device__ __forceinline__ void beginWarpgroupProducts() {
#if MPM_WARPGROUPS
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

/// Sixteen columns of rows of 64 halves in shared memory: 128 bytes a row, its segments of 16 permuted by the row's
/// last three bits, eight rows 1024 bytes from the next eight, and the first of them aligned to 1024 (PTX ISA,
/// "Asynchronous Warpgroup Level Matrix Shared Memory Layout", K-major with 128-byte swizzling).
__device__ __forceinline__ unsigned long long matrixDescriptor(const Half* rows) {
  constexpr unsigned long long kSwizzle128 = 1ull << 62, kEightRows = 1024ull / 16 << 32, kUnused = 1ull << 16;
  return kSwizzle128 | kEightRows | kUnused | (sharedAddress(rows) & 0x3ffffu) >> 4;
}

/// C {64, 128} += A {64, 16} B^T, B {128, 16}, both in shared memory as described, with fp32 sums: c[n] holds of rows
/// 16 w + g and 16 w + g + 8 (w the warp, lane = 4 g + t) the columns 8 n + 2 t and the next. Runs behind the threads'
/// backs until finishWarpgroupProducts().
__device__ __forceinline__ void multiplyAddWarpgroup(float (&c)[16][4], const Half* a, const Half* b) {
#if MPM_WARPGROUPS
  asm volatile(
      "{.reg .pred accumulate; setp.ne.b32 accumulate, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, accumulate, 1, 1, 0, 0;}"
      : "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3]), "+f"(c[1][0]), "+f"(c[1][1]), "+f"(c[1][2]),
        "+f"(c[1][3]), "+f"(c[2][0]), "+f"(c[2][1]), "+f"(c[2][2]), "+f"(c[2][3]), "+f"(c[3][0]), "+f"(c[3][1]),
        "+f"(c[3][2]), "+f"(c[3][3]), "+f"(c[4][0]), "+f"(c[4][1]), "+f"(c[4][2]), "+f"(c[4][3]), "+f"(c[5][0]),
        "+f"(c[5][1]), "+f"(c[5][2]), "+f"(c[5][3]), "+f"(c[6][0]), "+f"(c[6][1]), "+f"(c[6][2]), "+f"(c[6][3]),
        "+f"(c[7][0]), "+f"(c[7][1]), "+f"(c[7][2]), "+f"(c[7][3]), "+f"(c[8][0]), "+f"(c[8][1]), "+f"(c[8][2]),
        "+f"(c[8][3]), "+f"(c[9][0]), "+f"(c[9][1]), "+f"(c[9][2]), "+f"(c[9][3]), "+f"(c[10][0]), "+f"(c[10][1]),
        "+f"(c[10][2]), "+f"(c[10][3]), "+f"(c[11][0]), "+f"(c[11][1]), "+f"(c[11][2]), "+f"(c[11][3]), "+f"(c[12][0]),
        "+f"(c[12][1]), "+f"(c[12][2]), "+f"(c[12][3]), "+f"(c[13][0]), "+f"(c[13][1]), "+f"(c[13][2]), "+f"(c[13][3]),
        "+f"(c[14][0]), "+f"(c[14][1]), "+f"(c[14][2]), "+f"(c[14][3]), "+f"(c[15][0]), "+f"(c[15][1]), "+f"(c[15][2]),
        "+f"(c[15][3])
      : "l"(matrixDescriptor(a)), "l"(matrixDescriptor(b))
      : "memory");
#else
  __trap();
#endif
}

/// Returns when all products are done; until then nobody may touch their sums.
template <int kM>
__device__ __forceinline__ void finishWarpgroupProducts(float (&c)[kM][16][4]) {
#if MPM_WARPGROUPS
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < 16; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) asm volatile("" : "+f"(c[m][n][e])::"memory");  // not read before this line
#endif
}

}  // namespace mpm::cuda
#endif
