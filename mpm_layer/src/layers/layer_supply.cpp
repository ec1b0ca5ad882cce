// SPDX-License-Identifier: Apache-2.0
#include "layers/layer_supply.h"

#include <numeric>
#include <utility>

namespace mpm {
namespace {

thread_local const LayerSupply* newest_supply = nullptr;

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

LayerSupply::LayerSupply() : outer_(std::exchange(newest_supply, this)) {}

LayerSupply::~LayerSupply() { newest_supply = outer_; }

const LayerSupply* LayerSupply::newest() { return newest_supply; }

}  // namespace mpm
