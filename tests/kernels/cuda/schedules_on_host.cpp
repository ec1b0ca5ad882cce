// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/on_device.h"
#include "kernels/cuda/platform.cuh"

namespace mpm::cuda::test {

std::vector<unsigned> schedules() { return {0, 1, 2}; }
void useSchedule(unsigned schedule) { on_host::setSeed(schedule); }

}  // namespace mpm::cuda::test
