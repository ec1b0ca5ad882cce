// SPDX-License-Identifier: Apache-2.0
#include "opencv2/mpm.hpp"
#include "opencv2/ts.hpp"

PERF_TEST(Mpm, Merge1024Tokens) {
  cv::Mat tokens(1024, 192, CV_32F);
  declare.in(tokens, WARMUP_RNG);
  const std::span<const float> values(tokens.ptr<float>(), tokens.total());
  TEST_CYCLE() mpm::mutualPairMerge(values, 0, 192);
  SANITY_CHECK_NOTHING();
}

CV_PERF_TEST_MAIN(mpm)
