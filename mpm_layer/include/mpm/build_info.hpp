// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpm/export.hpp"

namespace mpm {

/// A GPU that nets can run on: ReadOptions::device "cuda:INDEX".
struct CudaDevice {
  int index = 0;
  std::string name;
  std::size_t memory_bytes = 0;
  int major = 0, minor = 0;  ///< compute capability
};

/// What this library is made of and what it uses on this machine.
struct BuildInfo {
  std::string version;
  std::string opencv;           ///< version at run time
  std::string instruction_set;  ///< of our vector kernels: "avx512", "avx2", "sse4", "neon" or "scalar"
  /// What the CPU offers, best first; the environment variable MPM_INSTRUCTION_SET picks one.
  std::vector<std::string> instruction_sets;
  bool bf16 = false;                     ///< this CPU multiplies bf16 in hardware
  std::vector<CudaDevice> cuda_devices;  ///< NVIDIA GPUs of this machine that nets can run on
  std::string cuda_problem;              ///< why there are none: one line that says what to do
};

/// Loads the CUDA plug-in if there is one.
MPM_API BuildInfo buildInfo();

}  // namespace mpm
