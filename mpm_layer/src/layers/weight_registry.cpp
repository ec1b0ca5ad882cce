// SPDX-License-Identifier: Apache-2.0
#include "layers/weight_registry.h"

#include <utility>

#include "mpm/error.hpp"

namespace mpm {
namespace {

thread_local WeightRegistry* youngest = nullptr;

}  // namespace

WeightRegistry::WeightRegistry() : outer_(std::exchange(youngest, this)) {}

WeightRegistry::~WeightRegistry() { youngest = outer_; }

int WeightRegistry::add(std::vector<cv::Mat> weights) {
  waiting_.push_back(std::move(weights));
  return static_cast<int>(waiting_.size()) - 1;
}

std::vector<cv::Mat> WeightRegistry::get(int number) {
  if (!youngest || number < 0 || static_cast<std::size_t>(number) >= youngest->waiting_.size())
    throw Error(std::string("attribute '") + kAttribute +
                "': no weights wait under this number; it is for nets in memory, no file has it");
  return youngest->waiting_[static_cast<std::size_t>(number)];
}

}  // namespace mpm
