// SPDX-License-Identifier: Apache-2.0
// The kernels for CPUs, by the files of this folder.
#pragma once

#include "trial.h"

namespace mpm::worlds {

/// Whether this CPU multiplies in this precision: not in a bf16 that is computed in fp32.
inline bool isHere(Precision precision) {
  return (precision != Precision::kBf16 || cpuHasFastBf16()) && (precision != Precision::kFp16 || cpuHasFp16());
}

inline constexpr const char* kThreadsMatter = "gives other bytes with three threads";

std::vector<Kernel> elementwiseKernels();
std::vector<Kernel> roundingKernels();
std::vector<Kernel> productKernels();
std::vector<Kernel> attentionKernels();
std::vector<Kernel> pairingKernels();
std::vector<Kernel> resamplingKernels();
std::vector<Kernel> headKernels();
std::vector<Kernel> mergingKernels();

}  // namespace mpm::worlds
