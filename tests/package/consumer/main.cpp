// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <mpm/mpm.hpp>

int main() {
  mpm::registerLayers();
  cv::dnn::LayerParams params;
  params.set("special_tokens", 1);
  const bool registered = !cv::dnn::LayerFactory::createLayerInstance("ai.mpm.MutualPairMerge", params).empty();
  const auto merged = mpm::mutualPairMerge(std::vector<float>{1, 0, 0, 1, 1, 0.1f}, 0, 2);
  const bool right = registered && merged.map.clusters == 2 && mpm::toString(mpm::parseSchedule("2,5")) == "2,5";
  std::cout << "mpm_layer " MPM_VERSION ": " << (right ? "usable" : "wrong") << '\n';
  return right ? 0 : 1;
}
