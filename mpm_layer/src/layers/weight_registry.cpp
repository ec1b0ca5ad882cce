// SPDX-License-Identifier: Apache-2.0
#include "layers/weight_registry.h"

#include <numeric>
#include <utility>

#include "mpm/error.hpp"

namespace mpm {
namespace {

thread_local WeightRegistry* youngest = nullptr;

}  // namespace

std::size_t WaitingWeight::inFile() const {
  if (bytes) return 0;
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1},
                         [](std::size_t product, int side) { return product * static_cast<std::size_t>(side); });
}

cv::Mat WaitingWeight::values(float* memory) const {
  const auto rank = static_cast<int>(shape.size());
  if (bytes) return {rank, shape.data(), CV_32F, const_cast<char*>(bytes->data())};
  file->read(offset, memory, inFile() * sizeof(float));
  file->requireUnchanged();
  return {rank, shape.data(), CV_32F, memory};
}

WeightRegistry::WeightRegistry() : outer_(std::exchange(youngest, this)) {}

WeightRegistry::~WeightRegistry() { youngest = outer_; }

int WeightRegistry::add(std::vector<WaitingWeight> weights) {
  waiting_.push_back(std::move(weights));
  return static_cast<int>(waiting_.size()) - 1;
}

std::vector<WaitingWeight> WeightRegistry::get(int number) {
  if (!youngest || number < 0 || static_cast<std::size_t>(number) >= youngest->waiting_.size())
    throw Error(std::string("attribute '") + kAttribute +
                "': no weights wait under this number; it is for nets in memory, no file has it");
  return youngest->waiting_[number];
}

}  // namespace mpm
