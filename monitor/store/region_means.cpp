// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/region_means.h"

#include <algorithm>

namespace mpm::monitor {

std::vector<RegionMeans> regionMeans(const StoreReader& store, const SourceRecord& source, UnixMs from, UnixMs to) {
  using enum Quantity::Kind;
  std::vector<vision::Region> regions;
  for (RegionRecord& one : store.regions(source.name))
    if (!one.region.ignore) regions.push_back(std::move(one.region));
  std::vector<std::string> classes;
  if (const auto sessions = store.sessions(source.id); !sessions.empty()) classes = sessions.back().classes;
  std::vector<RegionMeans> means;
  for (const std::string& name : vision::namesOf(regions)) {
    ChartQuery query{.source = source.id, .from = from, .to = to, .max_buckets = 9000};
    for (const Quantity::Kind kind : {kGcc, kRcc, kExg, kBrightness, kTokens})
      query.quantities.push_back({kind, -1, "", name});
    for (const std::string& one : classes) query.quantities.push_back({kClassArea, -1, one, name});
    std::vector<Spread> all(query.quantities.size());
    for (const ChartBucket& bucket : store.chart(query).buckets)
      for (std::size_t q = 0; q < all.size(); ++q) addTo(all[q], bucket.values[q]);
    if (all[0].samples == 0) continue;
    RegionMeans region{.name = name,
                       .samples = all[0].samples,
                       .gcc = all[0].mean,
                       .rcc = all[1].mean,
                       .exg = all[2].mean,
                       .brightness = all[3].mean};
    if (all[4].samples > 0) region.tokens = all[4].mean;
    for (std::size_t c = 0; c < classes.size(); ++c)
      if (all[5 + c].mean > 0) region.areas.emplace_back(classes[c], all[5 + c].mean);
    std::stable_sort(region.areas.begin(), region.areas.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    means.push_back(std::move(region));
  }
  return means;
}

}  // namespace mpm::monitor
