// SPDX-License-Identifier: Apache-2.0
// Merging steps of each method.
#include "kernels/cuda/group_merging.h"
#include "pairing_case.h"
#include "tokens.h"

namespace mpm::cuda::worlds {
namespace {

using mpm::worlds::MergeImage;
using mpm::worlds::MergeShape;

/// By every way that this device has to multiply.
void findNeighbours(Trial& trial, Neighbours (&by_way)[2]) {
  Random& random = trial.random;
  const int special = random.size(0, 2), dim = random.size(1, random.chance(6) ? 150 : 60);
  std::vector<int> rows = imageRows(random, special + 1, special + 60);
  if (random.chance(5)) rows = {special + random.size(129, 200)};  // more than one tile
  std::vector<float> all;
  int bad = 0;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    bool finite = true;
    const std::vector<float> values = mpm::worlds::rowsWithTies(trial, rows[b] - special, dim, finite);
    // A special row may hold any number.
    const std::vector<float> front(area(special, dim), std::numeric_limits<float>::quiet_NaN());
    all.insert(all.end(), front.begin(), front.end());
    all.insert(all.end(), values.begin(), values.end());
    if (!finite) bad = static_cast<int>(b) + 1;
  }
  const Packed x(rows, dim, Number::kFloat, all);
  std::vector<int> first;
  for (const bool warpgroups : {false, true}) {
    if (warpgroups && !hasWarpgroupProducts(stream().device())) continue;
    const Buffer<int> best = uploaded(stream(), std::vector<int>(size(x.ragged.total), -7)),
                      not_finite = uploaded(stream(), std::vector<int>{0});
    by_way[warpgroups].find(stream(), x.data(), dim, special, x.ragged, best.data(), not_finite.data());
    trial.require(now(not_finite)[0] == bad, "takes a NaN for a number, or a number for one");
    const std::vector<int> found = now(best);
    if (bad != 0) return;
    trial.require(first.empty() || found == first, "finds other neighbours by warpgroups");
    first = found;
    for (int b = 0; b < x.ragged.batch; ++b) {
      const int* const of_image = found.data() + x.offsets[size(b)];
      for (int i = 0; i < special; ++i) trial.require(of_image[i] == -7, "writes neighbours of special rows");
      const Reference image(x.image(x.values.rounded, b).rowRange(special, rows[size(b)]));
      mpm::worlds::checkMatches(trial, image, image, of_image + special, nullptr, true);
    }
  }
}

/// The memory of a call serves the next.
void tryNeighbours(Trial& trial) {
  Neighbours by_way[] = {Neighbours(false), Neighbours(true)};
  for (int call = 0; call < 2; ++call) findNeighbours(trial, by_way);
}

template <MergeGroups kGroups, class Merge>
void tryStep(Trial& trial, Merge& merge) {
  const MergeShape shape(trial.random, kGroups, 70);
  std::vector<MergeImage> images;
  for (int count = trial.random.size(1, 3); count > 0; --count) images.emplace_back(trial, shape);
  std::vector<RandomState> states;
  std::vector<int> rows;
  std::vector<float> x, metric, scores, shared;
  int bad = -1;
  for (const MergeImage& image : images) {
    if (!image.clear) return;
    if (!image.finite) bad = static_cast<int>(states.size());
    states.push_back(image.state);
    rows.push_back(image.rows);
    for (const auto& [from, to] :
         {std::pair(&image.x, &x), {&image.metric, &metric}, {&image.scores, &scores}, {&image.shared, &shared}})
      to->insert(to->end(), from->begin(), from->end());
  }
  const Packed packed(rows, shape.dim, Number::kFloat, x);
  const Buffer<float> device_metric = uploaded(stream(), metric), device_scores = uploaded(stream(), scores),
                      device_shared = uploaded(stream(), shared);
  Buffer<float> merged(stream(), x.size());
  TokenState state;
  readStates(state, states, shape.special);
  const Compared compared{device_metric.data(), shape.metric_dim, device_scores.data(), device_shared.data()};
  if constexpr (kGroups == MergeGroups::kMutualPairs) {
    merge.run(stream(), shape.rule, compared.metric, compared.metric_dim, packed.data(), shape.dim, state,
              merged.data());
  } else {
    merge.run(stream(), shape.rule, compared, packed.data(), shape.dim, state, merged.data());
  }
  if (bad >= 0) return trial.refuses([&] { state.countRows(); }, "image " + std::to_string(bad));
  const std::vector<int> live = state.countRows();
  const std::vector<int> offsets = fetched(stream(), state.rows().offsets, rows.size() + 1),
                         map = fetched(stream(), state.clusterOfPatch(), rows.size() * size(shape.patches)),
                         sizes = fetched(stream(), state.sizes(), rows.size() * size(shape.patches));
  const std::vector<float> found = fetched(stream(), merged.data(), area(offsets.back(), shape.dim));
  trial.require(state.rows().total == offsets.back(), "counts other rows");
  int longest = 0;
  for (std::size_t b = 0; b < images.size(); ++b) {
    longest = std::max(longest, shape.special + live[b]);
    if (offsets[b + 1] - offsets[b] != shape.special + live[b]) return trial.require(false, "counts other rows");
    images[b].check(trial, shape, live[b],
                    {found.data() + area(offsets[b], shape.dim), shape.special + live[b], shape.dim},
                    map.data() + b * size(shape.patches), sizes.data() + b * size(shape.patches));
  }
  trial.require(state.rows().longest == longest, "counts other rows");
  const bool whole = std::all_of(live.begin(), live.end(), [&](int rows_left) { return rows_left == shape.patches; });
  if constexpr (kGroups == MergeGroups::kWindows) {
    if (whole) return;
    trial.refuses([&] { merge.run(stream(), shape.rule, compared, packed.data(), shape.dim, state, merged.data()); },
                  "windows need the full grid");
  }
}

/// The memory of a step serves the next.
template <MergeGroups kGroups>
void tryMerge(Trial& trial) {
  std::conditional_t<kGroups == MergeGroups::kMutualPairs, MutualPairMerge, GroupMerge> merge;
  for (int step = 0; step < 2; ++step) tryStep<kGroups>(trial, merge);
}

}  // namespace

std::vector<Kernel> mergingKernels() {
  return {{"cuda::Neighbours", tryNeighbours},
          {"cuda::MutualPairMerge", tryMerge<MergeGroups::kMutualPairs>},
          {"cuda::GroupMerge even and odd rows", tryMerge<MergeGroups::kEvenOdd>},
          {"cuda::GroupMerge windows", tryMerge<MergeGroups::kWindows>},
          {"cuda::GroupMerge scored windows", tryMerge<MergeGroups::kScoredWindows>}};
}

}  // namespace mpm::cuda::worlds
