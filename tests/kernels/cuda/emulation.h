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

struct Launches {
  int commands = 0;  ///< kernels, products, copies on the device and zeros that the host started one by one
  int graphs = 0;    ///< started
  int made = 0;      ///< graphs
  int refused = 0;   ///< captures
};
/// What the host started since the last call. Of all threads.
Launches takeLaunches();

/// The next capture fails at its third command.
void failNextCapture();

/// Bytes that the device holds now.
std::size_t heldMemory();
/// Allocations that would make the device hold more than this fail, as those of a full device do.
void limitMemory(std::size_t bytes);
constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

}  // namespace mpm::cuda::test
