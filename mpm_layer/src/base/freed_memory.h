// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace mpm::onnx_graph {

/// Gives the system back what was freed: glibc keeps freed memory of the size of weights for the process, which would
/// stay several times as large as its net for as long as it runs.
inline void returnFreedMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace mpm::onnx_graph
