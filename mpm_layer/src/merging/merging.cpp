// SPDX-License-Identifier: Apache-2.0
#include "mpm/merging.hpp"

#include <algorithm>
#include <string>

#include "merging/merge_tokens.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

MatrixView<const float> asRows(std::span<const float> values, int special, int dim, const char* function) {
  if (dim <= 0 || special < 0 || values.size() % static_cast<std::size_t>(std::max(dim, 1)) != 0 ||
      values.size() / dim < static_cast<std::size_t>(special)) {
    throw Error(std::string(function) + ": " + std::to_string(values.size()) + " values are not " +
                std::to_string(special) + " special rows and more of " + std::to_string(dim) +
                " columns; pass {special + N, dim} row-major");
  }
  return {values.data(), static_cast<int>(values.size() / dim), dim};
}

void requireIds(const MergeMap& map, const char* function) {
  const auto valid = [&](int cluster) { return cluster >= 0 && cluster < map.clusters; };
  if (map.clusters < 0 || !std::all_of(map.cluster_of_token.begin(), map.cluster_of_token.end(), valid)) {
    throw Error(std::string(function) + ": a token of the map is in none of its " + std::to_string(map.clusters) +
                " clusters");
  }
}

}  // namespace

MergedTokens mutualPairMerge(std::span<const float> tokens, int special, int dim) {
  const auto rows = asRows(tokens, special, dim, "mutualPairMerge");
  const int n = rows.rows - special;
  std::vector<float> before(TokenState<float>::size(n)), after(before.size());
  resetState({before.data(), n});
  MergedTokens result;
  result.tokens.resize(tokens.size());
  if (!mergeTokens({}, rows, special, {before.data(), n}, {result.tokens.data(), rows.rows, dim}, {after.data(), n},
                   Serial()))
    throw Error("mutualPairMerge: a token holds a NaN or an infinity; look for it in the layers before");
  const TokenState<const float> state{after.data(), n};
  result.map.clusters = state.live();
  result.map.cluster_of_token.assign(state.clusterOfToken(), state.clusterOfToken() + n);
  result.tokens.resize(static_cast<std::size_t>(special + state.live()) * dim);
  return result;
}

MergeMap compose(const MergeMap& first, const MergeMap& second) {
  if (static_cast<int>(second.cluster_of_token.size()) != first.clusters) {
    throw Error("compose: the second map is for " + std::to_string(second.cluster_of_token.size()) +
                " tokens, the first leaves " + std::to_string(first.clusters));
  }
  requireIds(first, "compose");
  requireIds(second, "compose");
  MergeMap both;
  both.clusters = second.clusters;
  both.cluster_of_token.reserve(first.cluster_of_token.size());
  for (const int cluster : first.cluster_of_token) both.cluster_of_token.push_back(second.cluster_of_token[cluster]);
  return both;
}

std::vector<int> clusterSizes(const MergeMap& map) {
  requireIds(map, "clusterSizes");
  std::vector<int> sizes(map.clusters);
  for (const int cluster : map.cluster_of_token) ++sizes[cluster];
  return sizes;
}

std::vector<float> restoreTokens(std::span<const float> merged, int special, int dim, const MergeMap& map) {
  const auto rows = asRows(merged, special, dim, "restoreTokens");
  if (rows.rows != special + map.clusters) {
    throw Error("restoreTokens: " + std::to_string(rows.rows - special) + " merged tokens, but the map has " +
                std::to_string(map.clusters) + " clusters");
  }
  requireIds(map, "restoreTokens");
  std::vector<float> restored((special + map.cluster_of_token.size()) * dim);
  float* out = std::copy_n(merged.data(), static_cast<std::size_t>(special) * dim, restored.data());
  for (const int cluster : map.cluster_of_token) out = std::copy_n(rows.row(special + cluster), dim, out);
  return restored;
}

}  // namespace mpm
