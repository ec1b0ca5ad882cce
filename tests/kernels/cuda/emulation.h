// SPDX-License-Identifier: Apache-2.0
// Functions to inspect and control the emulated device, for tests without a GPU.
#pragma once

#include <cstddef>

namespace mpm::cuda::test {

struct Copies {
  int uploads = 0, downloads = 0;
  std::size_t uploaded_bytes = 0, downloaded_bytes = 0;
};
/// What crossed between host and device since the last call. Of all threads.
Copies takeCopies();

/// Bytes that the device holds now.
std::size_t heldMemory();
/// Allocations that would make the device hold more than this fail, as those of a full device do.
void limitMemory(std::size_t bytes);
constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

}  // namespace mpm::cuda::test
