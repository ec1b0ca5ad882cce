// SPDX-License-Identifier: Apache-2.0
#include "evaluation/bootstrap.h"

#include "vision/random.h"

namespace mpm::cli {

std::vector<double> bootstrap(int count, const std::function<double(const std::vector<int>& pictures)>& statistic) {
  constexpr int kSamples = 1000;
  std::vector<double> values;
  if (count < 2) return values;
  std::vector<int> pictures(static_cast<std::size_t>(count));
  vision::Draws draws(static_cast<std::uint64_t>(count));
  for (int sample = 0; sample < kSamples; ++sample) {
    for (int& picture : pictures) picture = draws.integer(count);
    values.push_back(statistic(pictures));
  }
  return values;
}

}  // namespace mpm::cli
