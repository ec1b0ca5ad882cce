// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <utility>

#include "layers/opencv_adapter.h"
#include "layers/ops.h"
#include "layers/weight_registry.h"
#include "mpm/c_api.h"
#include "mpm/error.hpp"
#include "mpm/read_net.hpp"

namespace mpm {
namespace {

// Factory function in the form that OpenCV calls. Clears OpenCV's parameters, which live as long as the net: the layer
// packs its weights, so they would be in memory twice. Errors are cv::Exception and name the layer.
template <cv::Ptr<cv::dnn::Layer> (*kMake)(cv::dnn::LayerParams&)>
cv::Ptr<cv::dnn::Layer> make(cv::dnn::LayerParams& params) {
  std::string problem;
  try {
    if (params.has(WeightRegistry::kAttribute))
      params.blobs = WeightRegistry::get(params.get<int>(WeightRegistry::kAttribute));
    const cv::Ptr<cv::dnn::Layer> layer = kMake(params);
    params.blobs.clear();
    return layer;
  } catch (const Error& error) {
    problem = error.what();
  }
  CV_Error(cv::Error::StsBadArg, "layer '" + params.name + "' (" + params.type + "): " + problem);
}

const std::pair<const char*, cv::dnn::LayerFactory::Constructor> kOps[] = {
    {"PatchEmbed", make<makePatchEmbed>},       {"TransformerBlock", make<makeTransformerBlock>},
    {"MutualPairMerge", make<makeMergeTokens>}, {"MergeTokens", make<makeMergeTokens>},
    {"TokenNorm", make<makeTokenNorm>},         {"TokenLinear", make<makeTokenLinear>},
    {"ClassTokens", make<makeClassTokens>},     {"MaskScores", make<makeMaskScores>},
    {"RestoreTokens", make<makeRestoreTokens>}, {"PoolTokens", make<makePoolTokens>},
    {"SegmentLabels", make<makeSegmentLabels>}, {"SegmentLogits", make<makeSegmentLogits>},
    {"MergeReport", make<makeMergeReport>},     {"RotaryPositions", make<makeRotaryPositions>},
    {"HeadActivate", make<makeActivate>},       {"HeadEinsum", make<makeEinsum>},
    {"HeadElementwise", make<makeElementwise>}, {"PrependTokens", make<makePrependTokens>},
    {"AddPositions", make<makeAddPositions>},   {"AttentionPool", make<makeAttentionPool>},
    {"HeadReduce", make<makeReduce>},           {"HeadTake", make<makeTake>},
    {"HeadGather", make<makeGather>},           {"HeadGridSample", make<makeGridSample>},
    {"HeadNormalize", make<makeNormalize>},     {"HeadTopK", make<makeTopK>},
    {"HeadWindow", make<makeWindow>},           {"AddRows", make<makeAddRows>},
};

}  // namespace

void registerLayers() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const auto& [name, constructor] : kOps) {
      cv::dnn::LayerFactory::registerLayer(std::string("ai.mpm.") + name, constructor);
      if (opencv::kHasNewEngine) cv::dnn::LayerFactory::registerLayer(name, constructor);
    }
  });
}

std::vector<std::string> operatorNames() {
  std::vector<std::string> names;
  for (const auto& [name, constructor] : kOps) names.emplace_back(name);
  return names;
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
