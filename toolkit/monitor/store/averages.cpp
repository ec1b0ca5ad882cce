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
      sums[c] += bucket.values[c].mean / 100 * static_cast<double>(bucket.values[c].samples);
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
  for (const std::string& name : latest.classes) query.series.push_back({.class_name = name});
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

const Spread& RegionMeans::value(std::string_view key) const {
  return values.at(static_cast<std::size_t>(findQuantity(key) - quantities().data()));
}

// All of them from one chart: it reads each sample once, however many classes and regions there are.
std::vector<RegionMeans> regionMeans(const StoreReader& store, const SourceRecord& source, UnixMs from, UnixMs to) {
  std::vector<vision::Region> regions;
  for (RegionRecord& one : store.regions(source.name))
    if (!one.region.ignore) regions.push_back(std::move(one.region));
  std::vector<std::string> classes, names = vision::namesOf(regions);
  names.insert(names.begin(), "");
  if (const auto sessions = store.sessions(source.id); !sessions.empty()) classes = sessions.back().classes;
  ChartQuery query{.source = source.id, .from = from, .to = to, .max_buckets = 9000};
  for (const std::string& name : names) {
    for (const Quantity& one : quantities()) query.series.push_back({.quantity = one.key, .region = name});
    for (const std::string& one : classes) query.series.push_back({.class_name = one, .region = name});
  }
  std::vector<Spread> all(query.series.size());
  for (const ChartBucket& bucket : store.chart(query).buckets)
    for (std::size_t s = 0; s < all.size(); ++s) addTo(all[s], bucket.values[s]);
  std::vector<RegionMeans> means;
  auto next = all.begin();
  for (const std::string& name : names) {
    RegionMeans region{.name = name, .values = {next, next + static_cast<std::ptrdiff_t>(quantities().size())}};
    next += static_cast<std::ptrdiff_t>(quantities().size());
    for (const std::string& one : classes)
      if (const double percent = (next++)->mean; percent > 0) region.areas.emplace_back(one, percent / 100);
    std::stable_sort(region.areas.begin(), region.areas.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (region.samples() > 0) means.push_back(std::move(region));
  }
  return means;
}

}  // namespace mpm::monitor
