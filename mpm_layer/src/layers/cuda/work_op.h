// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "layers/device_net.h"

namespace mpm::cuda {

/// An operator that calls `work`, which holds its weights and its memory.
template <class Work>
class WorkOp final : public DeviceOp {
 public:
  explicit WorkOp(Work work) : work_(std::move(work)) {}
  void compute(const Call& call) override { work_(call); }

 private:
  Work work_;
};

template <class Work>
DeviceOpPtr opOf(Work work) {
  return std::make_unique<WorkOp<Work>>(std::move(work));
}

}  // namespace mpm::cuda
