// SPDX-License-Identifier: Apache-2.0
#include "gui/models/merge_lookup.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "mpm/error.hpp"

namespace mpm::gui {

MergeLookup::MergeLookup(Size2 grid, const std::vector<std::vector<int>>& cluster_of_token, const Schedule& schedule)
    : grid_(grid), schedule_(schedule) {
  if (cluster_of_token.size() != schedule.size())
    throw Error("a frame has " + std::to_string(cluster_of_token.size()) + " merge maps, its schedule " +
                std::to_string(schedule.size()) + " insertions");
  const std::size_t count = static_cast<std::size_t>(grid.height) * grid.width;
  merged_at_.assign(count, 0);
  steps_.resize(cluster_of_token.size() + 1);
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    Step& step = steps_[k];
    if (k == 0) {
      step.cluster_of_token.resize(count);
      std::iota(step.cluster_of_token.begin(), step.cluster_of_token.end(), 0);
    } else {
      step.cluster_of_token = cluster_of_token[k - 1];
    }
    if (step.cluster_of_token.size() != count)
      throw Error("a merge map has " + std::to_string(step.cluster_of_token.size()) + " tokens, its grid " +
                  std::to_string(count));
    const auto [lowest, highest] = std::minmax_element(step.cluster_of_token.begin(), step.cluster_of_token.end());
    const int clusters = count == 0 ? 0 : *highest + 1;
    if (count > 0 && (*lowest < 0 || *highest >= static_cast<int>(count)))
      throw Error("a merge map names a cluster that cannot exist");

    step.first_member.assign(clusters + 1, 0);
    for (int cluster : step.cluster_of_token) ++step.first_member[cluster + 1];
    std::partial_sum(step.first_member.begin(), step.first_member.end(), step.first_member.begin());
    step.member.resize(count);
    std::vector<int> next(step.first_member.begin(), step.first_member.end() - 1);
    for (std::size_t token = 0; token < count; ++token)
      step.member[next[step.cluster_of_token[token]]++] = static_cast<int>(token);

    for (std::size_t token = 0; token < count; ++token)
      if (merged_at_[token] == 0 && size(static_cast<int>(k), static_cast<int>(token)) > 1)
        merged_at_[token] = static_cast<int>(k);
  }
}

std::span<const int> MergeLookup::members(int step, int cluster) const {
  const Step& s = steps_[step];
  return {s.member.data() + s.first_member[cluster], s.member.data() + s.first_member[cluster + 1]};
}

}  // namespace mpm::gui
