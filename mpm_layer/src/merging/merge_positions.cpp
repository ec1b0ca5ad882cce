// SPDX-License-Identifier: Apache-2.0
#include "merging/merge_positions.h"

namespace mpm {

std::vector<float> patchWeights(std::span<const TokenState<const float>> states) {
  const auto patches = static_cast<std::size_t>(states[0].patches);
  std::vector<float> weights(patches, 1.0f);
  std::vector<int> row(patches), members;  // the row of each patch, and how many earlier rows each row was made of
  for (std::size_t i = 0; i < patches; ++i) row[i] = static_cast<int>(i);
  for (const TokenState<const float>& state : states) {
    std::vector<bool> counted(patches, false);
    members.assign(patches, 0);
    for (std::size_t i = 0; i < patches; ++i) {
      const auto before = static_cast<std::size_t>(row[i]);
      row[i] = static_cast<int>(state.clusterOfToken()[i]);
      if (!counted[before]) ++members[row[i]];
      counted[before] = true;
    }
    for (std::size_t i = 0; i < patches; ++i) weights[i] /= static_cast<float>(members[row[i]]);
  }
  return weights;
}

}  // namespace mpm
