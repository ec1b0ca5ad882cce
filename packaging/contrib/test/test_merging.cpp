// SPDX-License-Identifier: Apache-2.0
#include <opencv2/dnn/layer.details.hpp>

#include "test_precomp.hpp"

namespace {

TEST(Mpm, MutualPairsBecomeTheirMeanAndComeBack) {
  const std::vector<float> tokens = {1, 0, 0, 1, 1, 0.5F, 0, 3};  // 0 and 2 are each other's most similar, and 1 and 3
  const mpm::MergedTokens merged = mpm::mutualPairMerge(tokens, 0, 2);
  EXPECT_EQ(merged.map.cluster_of_token, (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(merged.tokens, (std::vector<float>{1, 0.25F, 0, 2}));
  EXPECT_EQ(mpm::restoreTokens(merged.tokens, 0, 2, merged.map), (std::vector<float>{1, 0.25F, 0, 2, 1, 0.25F, 0, 2}));
}

TEST(Mpm, RegistersItsLayers) {
  mpm::registerLayers();
  EXPECT_TRUE(cv::dnn::LayerFactory::isLayerRegistered("ai.mpm.MutualPairMerge"));
}

}  // namespace
