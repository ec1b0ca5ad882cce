// SPDX-License-Identifier: Apache-2.0
#include "gui/models/merge_lookup.h"

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
  std::vector<int> alone(count);
  std::iota(alone.begin(), alone.end(), 0);
  for (std::size_t k = 0; k <= cluster_of_token.size(); ++k) {
    Step& step = steps_.emplace_back(Step{k == 0 ? alone : cluster_of_token[k - 1], {}});
    if (step.cluster_of_token.size() != count)
      throw Error("a merge map has " + std::to_string(step.cluster_of_token.size()) + " tokens, its grid " +
                  std::to_string(count));
    step.members.resize(count);
    for (std::size_t token = 0; token < count; ++token) {
      const int cluster = step.cluster_of_token[token];
      if (cluster < 0 || cluster >= static_cast<int>(count))
        throw Error("a merge map names a cluster that cannot exist");
      step.members[cluster].push_back(static_cast<int>(token));
    }
    while (!step.members.empty() && step.members.back().empty()) step.members.pop_back();
    for (std::size_t token = 0; token < count; ++token)
      if (merged_at_[token] == 0 && size(static_cast<int>(k), static_cast<int>(token)) > 1)
        merged_at_[token] = static_cast<int>(k);
  }
}

}  // namespace mpm::gui
