// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace mpm {

/// Returns freed memory to the system. glibc keeps freed memory of the size of weights, so the process would stay
/// several times as large as its net.
inline void returnFreedMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace mpm
