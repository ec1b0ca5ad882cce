// SPDX-License-Identifier: Apache-2.0
// Tensor core products and asynchronous copies. Fragments have the layout of PTX's mma.m16n8k16 with 16-bit operands
// (PTX ISA, "Matrix Fragments for mma.m16n8k16"), lane = 4 g + t:
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

/// Loads four 8 x 8 matrices of 16-bit numbers from shared memory. Lane l passes the address of row l % 8 of matrix l /
/// 8 (16 bytes, aligned). r[m] receives the elements (l / 4, 2 (l % 4)) and the next of matrix m.
__device__ __forceinline__ void loadMatrices(unsigned (&r)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row))
               : "memory");
}

/// Loads the matrices as loadMatrices() does, each transposed.
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
  __trap();  // Turing has no bf16; the host refuses it earlier
#endif
}

/// Copies 16 bytes to shared memory asynchronously. If `valid` is false, fills them with zeros and does not read
/// `from`. Both are aligned to 16.
__device__ __forceinline__ void copyAsync16(void* shared, const void* from, bool valid) {
#if __CUDA_ARCH__ >= 800
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(shared)), "l"(from), "r"(bytes)
               : "memory");
#else
  *static_cast<uint4*>(shared) = valid ? *static_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
#endif
}

/// Ends a group of copies of this thread.
__device__ __forceinline__ void commitCopies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Returns when all but the last kPending groups of this thread have arrived. For the copies of other threads, a
/// barrier must follow.
template <int kPending>
__device__ __forceinline__ void waitForCopies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

}  // namespace mpm::cuda
#endif
