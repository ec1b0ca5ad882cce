// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpm/export.hpp"

namespace mpm {

/// An NVIDIA GPU of this machine; ReadOptions::device names it "cuda:INDEX".
struct CudaDevice {
  int index = 0;                 ///< from 0, in the order of CUDA
  std::string name;              ///< as its driver says
  std::size_t memory_bytes = 0;  ///< total memory
  int major = 0;                 ///< of the compute capability, the 8 of 8.6
  int minor = 0;                 ///< the 6 of 8.6
};

/// This build of the library, and what it can use on this machine.
struct BuildInfo {
  std::string version;          ///< of mpm_layer, "0.1.0"
  std::string opencv;           ///< version that is loaded
  std::string instruction_set;  ///< of the CPU kernels: "amx", "avx512", "avx_vnni", "avx2", "sse4", "neon" or "scalar"
  /// Instruction sets of this CPU, best first. The environment variable MPM_INSTRUCTION_SET selects one of them.
  std::vector<std::string> instruction_sets;
  bool bf16 = false;                     ///< bf16 is faster than fp32 on this CPU (Precision::kBf16)
  bool fp16 = false;                     ///< the same of fp16; else Precision::kFp16 is refused
  bool int8 = false;                     ///< int8 is faster than fp32 on this CPU
  std::vector<CudaDevice> cuda_devices;  ///< GPUs of this machine that nets can run on
  std::string cuda_problem;              ///< why `cuda_devices` is empty, in one line that says what to do; else empty
};

/// Loads the CUDA plug-in if there is one. Thread-safe.
MPM_API BuildInfo buildInfo();

}  // namespace mpm
