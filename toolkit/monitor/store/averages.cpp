// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/averages.h"

#include <algorithm>
#include <functional>

#include "evaluation/confusion_matrix.h"

namespace mpm::monitor {
namespace {

std::optional<double> shareOf(const Spread& percent) {
  return percent.samples > 0 ? std::optional(percent.mean / 100) : std::nullopt;
}

// The areas in each of these regions. One chart gives them all: it reads each sample once, however many there are.
std::vector<std::vector<ClassArea>> areasIn(const std::vector<std::string>& regions, const StoreReader& store,
                                            std::int64_t source, UnixMs from, UnixMs to) {
  std::vector<std::vector<ClassArea>> areas(regions.size());
  const std::vector<SessionRecord> sessions = store.sessions(source);
  if (sessions.empty()) return areas;
  const SessionRecord& latest = sessions.back();
  const auto other = std::find_if(sessions.rbegin(), sessions.rend(), [&](const SessionRecord& session) {
    return session.classes != latest.classes || session.model_digest != latest.model_digest;
  });
  // The samples of a scene have a clock of their own, which may be long before the time of its session.
  if (other != sessions.rend() && other->ended && *other->ended < to) from = std::max(from, *other->ended);

  ChartQuery query{.source = source, .from = from, .to = to};
  for (const std::string& region : regions)
    for (const std::string& name : latest.classes) query.series.push_back({.class_name = name, .region = region});
  std::vector<Spread> all(query.series.size()), day = all, night = all;
  store.visitHours(query, [&](const ChartBucket& bucket) {
    for (std::size_t s = 0; s < all.size(); ++s) {
      addTo(all[s], bucket.values[s]);
      if (bucket.night) addTo((*bucket.night < 0.5 ? day : night)[s], bucket.values[s]);
    }
  });
  std::size_t s = 0;
  for (std::size_t r = 0; r < regions.size(); ++r) {
    std::vector<double> shares, corrected, iou;
    for (std::size_t c = 0; c < latest.classes.size(); ++c) shares.push_back(shareOf(all[s + c]).value_or(0));
    if (latest.cross_validation && regions[r].empty()) {
      corrected = evaluation::correctedShares(shares, *latest.cross_validation);
      iou = latest.cross_validation->iou();
    }
    for (std::size_t c = 0; c < shares.size(); ++c, ++s) {
      if (all[s].samples == 0) continue;
      ClassArea area{.name = latest.classes[c], .all = shares[c], .day = shareOf(day[s]), .night = shareOf(night[s])};
      if (!iou.empty()) {
        area.corrected = corrected[c];
        if (latest.cross_validation->truePixels(static_cast<int>(c)) > 0) area.iou = iou[c];
      }
      if (area.all > 0 || area.iou) areas[r].push_back(std::move(area));
    }
  }
  return areas;
}

}  // namespace

std::vector<ClassArea> classAreas(const StoreReader& store, std::int64_t source, UnixMs from, UnixMs to) {
  return areasIn({""}, store, source, from, to).front();
}

std::vector<ClassArea> largest(std::vector<ClassArea> areas, std::size_t count) {
  std::erase_if(areas, [](const ClassArea& area) { return area.all == 0; });
  std::ranges::stable_sort(areas, std::ranges::greater(), &ClassArea::all);
  areas.resize(std::min(areas.size(), count));
  return areas;
}

const Spread& RegionMeans::value(std::string_view key) const {
  return values.at(static_cast<std::size_t>(findQuantity(key) - quantities().data()));
}

std::vector<RegionMeans> regionMeans(const StoreReader& store, const SourceRecord& source, UnixMs from, UnixMs to) {
  std::vector<vision::Region> regions;
  for (RegionRecord& one : store.regions(source.name))
    if (!one.region.ignore) regions.push_back(std::move(one.region));
  std::vector<std::string> names = vision::namesOf(regions);
  names.insert(names.begin(), "");
  auto areas = areasIn(names, store, source.id, from, to);
  ChartQuery query{.source = source.id, .from = from, .to = to};
  std::vector<RegionMeans> means;
  for (const std::string& name : names) {
    for (const Quantity& one : quantities()) query.series.push_back({.quantity = one.key, .region = name});
    const std::vector<Spread> none(quantities().size());
    means.push_back(
        {.name = name, .values = none, .day = none, .night = none, .areas = std::move(areas[means.size()])});
  }
  store.visitHours(query, [&](const ChartBucket& bucket) {
    auto value = bucket.values.begin();
    for (RegionMeans& region : means)
      for (std::size_t q = 0; q < region.values.size(); ++q, ++value) {
        addTo(region.values[q], *value);
        if (bucket.night) addTo((*bucket.night < 0.5 ? region.day : region.night)[q], *value);
      }
  });
  std::erase_if(means, [](const RegionMeans& region) { return region.samples() == 0; });
  return means;
}

}  // namespace mpm::monitor
