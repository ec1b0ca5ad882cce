// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "layers/cuda/net.h"

namespace mpm::cuda {

/// An operator that calls `work`, which holds its weights and its memory.
template <class Work>
class WorkOp final : public DeviceOp {
 public:
  WorkOp(Net& net, Work work) : net_(net), work_(std::move(work)) {}
  void compute(const Call& call) override {
    net_.begin(call, last_forward_);
    work_(call);
  }

 private:
  Net& net_;
  unsigned last_forward_ = 0;
  Work work_;
};

template <class Work>
DeviceOpPtr Net::opOf(Work work) {
  return std::make_unique<WorkOp<Work>>(*this, std::move(work));
}

}  // namespace mpm::cuda
