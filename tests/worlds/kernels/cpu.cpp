// SPDX-License-Identifier: Apache-2.0
#include "cpu.h"

#include "kernels/instruction_set.h"

namespace mpm::worlds {

std::vector<Kernel> everyKernel() {
  std::vector<Kernel> all;
  for (const auto& some : {elementwiseKernels(), roundingKernels(), productKernels(), attentionKernels(),
                           pairingKernels(), resamplingKernels(), headKernels(), mergingKernels()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

std::vector<std::string> everyMachine() { return availableInstructionSets(); }

void prepare(const std::string& machine, unsigned) { setInstructionSet(machine); }

}  // namespace mpm::worlds
