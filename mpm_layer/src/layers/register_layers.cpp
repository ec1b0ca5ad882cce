// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <utility>

#include "layers/opencv_adapter.h"
#include "layers/ops.h"
#include "mpm/c_api.h"
#include "mpm/read_net.hpp"

namespace mpm {

void registerLayers() {
  static std::once_flag once;
  std::call_once(once, [] {
    using Constructor = cv::dnn::LayerFactory::Constructor;
    const std::pair<const char*, Constructor> ops[] = {
        {"PatchEmbed", makePatchEmbed},           {"TransformerBlock", makeTransformerBlock},
        {"MutualPairMerge", makeMutualPairMerge}, {"TokenNorm", makeTokenNorm},
        {"TokenLinear", makeTokenLinear},         {"ClassTokens", makeClassTokens},
        {"MaskScores", makeMaskScores},           {"RestoreTokens", makeRestoreTokens},
        {"PoolTokens", makePoolTokens},           {"SegmentLabels", makeSegmentLabels},
        {"SegmentLogits", makeSegmentLogits},     {"MergeReport", makeMergeReport},
    };
    for (const auto& [name, constructor] : ops) {
      cv::dnn::LayerFactory::registerLayer(std::string("ai.mpm.") + name, constructor);
      if (opencv::kHasNewEngine) cv::dnn::LayerFactory::registerLayer(name, constructor);
    }
  });
}

}  // namespace mpm

extern "C" int mpm_register_layers(void) {
  try {
    mpm::registerLayers();
    return 0;
  } catch (...) {
    return 1;
  }
}
