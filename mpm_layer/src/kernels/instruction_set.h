// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpm {

/// Instruction sets that our vector kernels were compiled for and this CPU has, best first: "avx512", "avx2", "sse4",
/// "neon", "scalar". The environment variable MPM_INSTRUCTION_SET picks one at start; a name that is not in the list is
/// ignored with the best one in its place (mpm info says which is in use).
std::vector<std::string> availableInstructionSets();
std::string instructionSet();

/// Forces one, for tests; throws mpm::Error when it is not available. Not thread-safe.
void setInstructionSet(const std::string& name);

}  // namespace mpm
