// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include "layers/opencv_adapter.h"
#include "layers/ops.h"
#include "mpm/c_api.h"
#include "mpm/error.hpp"
#include "mpm/read_net.hpp"

namespace mpm {
namespace {

// Factory function in the form that OpenCV calls. Clears OpenCV's parameters, which live as long as the net: the layer
// packs its weights, so they would be in memory twice. Errors are cv::Exception and name the layer.
template <LayerMaker kMake>
LayerPtr make(cv::dnn::LayerParams& params) {
  try {
    const LayerPtr layer = kMake(params);
    params.blobs.clear();
    return layer;
  } catch (const Error& error) {
    CV_Error(cv::Error::StsBadArg, "layer '" + params.name + "' (" + params.type + "): " + error.what());
  }
}

struct Operator {
  const char* name;
  cv::dnn::LayerFactory::Constructor constructor;
  RowReuse reuse;
};

constexpr Operator kOps[] = {
    {"PatchEmbed", make<makePatchEmbed>, RowReuse::kSource},
    {"TransformerBlock", make<makeTransformerBlock>, RowReuse::kEachRow},
    {"MutualPairMerge", make<makeMergeTokens>, RowReuse::kEachRow},
    {"MergeTokens", make<makeMergeTokens>, RowReuse::kEachRow},
    {"RotaryPositions", make<makeRotaryPositions>, RowReuse::kEachRow},
    {"TokenNorm", make<makeTokenNorm>, RowReuse::kEachRow},
    {"TokenLinear", make<makeTokenLinear>, RowReuse::kEachRow},
    {"ClassTokens", make<makeClassTokens>, RowReuse::kEachRow},
    {"PrependTokens", make<makePrependTokens>, RowReuse::kEachRow},
    {"AddPositions", make<makeAddPositions>, RowReuse::kRefused},
    {"AddRows", make<makeAddRows>, RowReuse::kRefused},
    {"WindowAttention", make<makeWindowAttention>, RowReuse::kRefused},
    {"KeepRows", make<makeKeepRows>, RowReuse::kRefused},
    {"MaskScores", make<makeMaskScores>, RowReuse::kAllRows},
    {"RestoreTokens", make<makeRestoreTokens>, RowReuse::kAllRows},
    {"PoolTokens", make<makePoolTokens>, RowReuse::kAllRows},
    {"AttentionPool", make<makeAttentionPool>, RowReuse::kAllRows},
    {"SegmentLabels", make<makeSegmentLabels>, RowReuse::kNoRows},
    {"SegmentLogits", make<makeSegmentLogits>, RowReuse::kNoRows},
    {"MergeReport", make<makeMergeReport>, RowReuse::kNoRows},
    {"HeadActivate", make<makeActivate>, RowReuse::kNoRows},
    {"HeadConcat", make<makeConcat>, RowReuse::kNoRows},
    {"HeadConvolve", make<makeConvolve>, RowReuse::kNoRows},
    {"HeadEinsum", make<makeEinsum>, RowReuse::kNoRows},
    {"HeadElementwise", make<makeElementwise>, RowReuse::kNoRows},
    {"HeadGather", make<makeGather>, RowReuse::kNoRows},
    {"HeadGridSample", make<makeGridSample>, RowReuse::kNoRows},
    {"HeadNormalize", make<makeNormalize>, RowReuse::kNoRows},
    {"HeadReduce", make<makeReduce>, RowReuse::kNoRows},
    {"HeadReshape", make<makeReshape>, RowReuse::kNoRows},
    {"HeadResize", make<makeResize>, RowReuse::kNoRows},
    {"HeadSoftmax", make<makeSoftmax>, RowReuse::kNoRows},
    {"HeadTopK", make<makeTopK>, RowReuse::kNoRows},
    {"HeadTranspose", make<makeTranspose>, RowReuse::kNoRows},
    {"HeadWindow", make<makeWindow>, RowReuse::kNoRows},
};

}  // namespace

void registerLayers() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const Operator& op : kOps) {
      cv::dnn::LayerFactory::registerLayer(std::string("ai.mpm.") + op.name, op.constructor);
      if (opencv::kHasNewEngine) cv::dnn::LayerFactory::registerLayer(op.name, op.constructor);
    }
  });
}

std::vector<std::string> operatorNames() {
  std::vector<std::string> names;
  for (const Operator& op : kOps) names.emplace_back(op.name);
  return names;
}

RowReuse rowReuseOf(const std::string& name) {
  for (const Operator& op : kOps)
    if (op.name == name) return op.reuse;
  return RowReuse::kRefused;
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
