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

/// Forces one, for tests; throws mpm::Error when it is not available. Not thread-safe.
void setInstructionSet(const std::string& name);

}  // namespace mpm
