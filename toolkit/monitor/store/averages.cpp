// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/averages.h"

#include <algorithm>
#include <cmath>

#include "evaluation/cross_validation.h"

namespace mpm::monitor {
namespace {

// A mean area of each class over some samples.
struct Areas {
  std::vector<double> sums;
  std::int64_t samples = 0;

  void add(const ChartBucket& bucket) {
    for (std::size_t c = 0; c < sums.size(); ++c)
      sums[c] += bucket.values[c].mean * static_cast<double>(bucket.values[c].samples);
    samples += bucket.samples;
  }
  std::optional<double> mean(std::size_t c) const {
    if (samples == 0) return std::nullopt;
    return sums[c] / static_cast<double>(samples);
  }
};

}  // namespace

std::vector<ClassArea> classAreas(const StoreReader& store, std::int64_t source, UnixMs from, UnixMs to) {
  const std::vector<SessionRecord> sessions = store.sessions(source);
  if (sessions.empty()) return {};
  const SessionRecord& latest = sessions.back();
  const auto other = std::find_if(sessions.rbegin(), sessions.rend(), [&](const SessionRecord& session) {
    return session.classes != latest.classes || session.model_digest != latest.model_digest;
  });
  // The samples of a scene have a clock of their own, which may be long before the time of its session.
  if (other != sessions.rend() && other->ended && *other->ended < to) from = std::max(from, *other->ended);

  const std::size_t classes = latest.classes.size();
  ChartQuery query{.source = source, .from = from, .to = to, .max_buckets = 9000};
  for (const std::string& name : latest.classes) query.quantities.push_back({SeriesKey::Kind::kClassArea, -1, name});
  const Areas none{.sums = std::vector<double>(classes)};
  Areas all = none, day = none, night = none;
  for (const ChartBucket& bucket : store.chart(query).buckets) {
    all.add(bucket);
    (bucket.night < 0.5 ? day : night).add(bucket);
  }
  if (all.samples == 0) return {};

  std::vector<double> shares, corrected, iou;
  for (std::size_t c = 0; c < classes; ++c) shares.push_back(*all.mean(c));
  if (latest.cross_validation) {
    corrected = evaluation::correctedShares(shares, *latest.cross_validation);
    iou = latest.cross_validation->iou();
  }
  std::vector<ClassArea> areas;
  for (std::size_t c = 0; c < classes; ++c) {
    ClassArea area{.name = latest.classes[c], .all = shares[c], .day = day.mean(c), .night = night.mean(c)};
    if (!iou.empty()) {
      area.corrected = corrected[c];
      if (!std::isnan(iou[c])) area.iou = iou[c];
    }
    if (area.all > 0 || area.iou) areas.push_back(std::move(area));
  }
  return areas;
}

std::vector<RegionMeans> regionMeans(const StoreReader& store, const SourceRecord& source, UnixMs from, UnixMs to) {
  using enum SeriesKey::Kind;
  std::vector<vision::Region> regions;
  for (RegionRecord& one : store.regions(source.name))
    if (!one.region.ignore) regions.push_back(std::move(one.region));
  std::vector<std::string> classes;
  if (const auto sessions = store.sessions(source.id); !sessions.empty()) classes = sessions.back().classes;
  std::vector<RegionMeans> means;
  for (const std::string& name : vision::namesOf(regions)) {
    ChartQuery query{.source = source.id, .from = from, .to = to, .max_buckets = 9000};
    for (const SeriesKey::Kind kind : {kGcc, kRcc, kExg, kBrightness, kTokens})
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
