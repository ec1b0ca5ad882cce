// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpm {

/// Instruction sets that this build and this CPU support, best first: "amx" (with AVX-512), "avx512", "avx_vnni",
/// "avx2", "sse4", "neon", "scalar". The environment variable MPM_INSTRUCTION_SET selects one at start. A name that is
/// not in the list is ignored and the best one is used (mpm info prints it).
std::vector<std::string> availableInstructionSets();
std::string instructionSet();

/// Whether this CPU multiplies bf16 in vectors of 512 bits, whatever is set here: linear layers of oneDNN, attention
/// and convolutions of our own use it in a net of bf16.
bool cpuHasAvx512Bf16();

/// Whether it does so faster than fp32. Intel's server CPUs since the 4th generation (those with AVX512-FP16) do it at
/// half the speed of fp32: they have AMX for it, which a virtual machine may hide.
bool cpuHasFastAvx512Bf16();

/// Forces one, for tests; throws mpm::Error when it is not available. Not thread-safe.
void setInstructionSet(const std::string& name);

}  // namespace mpm
