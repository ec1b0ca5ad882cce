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

std::vector<ClassArea> areasOf(const DayNightSums& sums, const SeriesRecord& series, bool whole_picture) {
  const int classes = static_cast<int>(series.classes.size());
  std::vector<double> shares, corrected, iou;
  for (int c = 0; c < classes; ++c) shares.push_back(shareOf(sums.area(c)).value_or(0));
  if (series.cross_validation && whole_picture) {
    corrected = evaluation::correctedShares(shares, *series.cross_validation);
    iou = series.cross_validation->iou();
  }
  std::vector<ClassArea> areas;
  for (int c = 0; c < classes; ++c) {
    if (sums.area(c).samples == 0) continue;
    ClassArea area{.name = series.classes[c],
                   .all = shares[c],
                   .day = shareOf(sums.of(Side::kDay).area(c)),
                   .night = shareOf(sums.of(Side::kNight).area(c))};
    if (!iou.empty()) {
      area.corrected = corrected[c];
      if (series.cross_validation->truePixels(c) > 0) area.iou = iou[c];
    }
    if (area.all > 0 || area.iou) areas.push_back(std::move(area));
  }
  return areas;
}

RegionMeans meansOf(const std::string& name, const DayNightSums& sums, const SeriesRecord& series) {
  RegionMeans means{.name = name};
  for (const Quantity& one : quantities()) {
    means.values.push_back(sums.spread(one.key));
    means.day.push_back(sums.of(Side::kDay).spread(one.key));
    means.night.push_back(sums.of(Side::kNight).spread(one.key));
  }
  means.areas = areasOf(sums, series, name.empty());
  return means;
}

}  // namespace

std::vector<ClassArea> meanClassAreas(const StoreReader& store, const SeriesRecord& series, UnixMs from, UnixMs to) {
  for (const RollupRow& all : store.rollup({.series = series.id, .from = from, .to = to})) {
    if (const auto whole = all.regions.find(""); whole != all.regions.end())
      return areasOf(whole->second, series, true);
  }
  return {};
}

std::vector<ClassArea> largest(std::vector<ClassArea> areas, std::size_t count) {
  std::erase_if(areas, [](const ClassArea& area) { return area.all == 0; });
  std::ranges::stable_sort(areas, std::ranges::greater(), &ClassArea::all);
  areas.resize(std::min(areas.size(), count));
  return areas;
}

const Spread& spreadOf(const std::vector<Spread>& values, std::string_view key) {
  return values.at(static_cast<std::size_t>(findQuantity(key) - quantities().data()));
}

bool RegionMeans::knowsNight() const {
  const auto any = [](const Spread& one) { return one.samples > 0; };
  return std::ranges::any_of(day, any) || std::ranges::any_of(night, any);
}

std::int64_t RegionMeans::notJudged() const {
  constexpr const char* kOfAll = "pixels";
  return spreadOf(values, kOfAll).samples - spreadOf(day, kOfAll).samples - spreadOf(night, kOfAll).samples;
}

bool knowsNight(const std::vector<RegionMeans>& means) { return std::ranges::any_of(means, &RegionMeans::knowsNight); }

std::vector<RegionMeans> regionMeans(const StoreReader& store, const SeriesRecord& series, UnixMs from, UnixMs to) {
  std::vector<RegionMeans> means;
  for (const RollupRow& all : store.rollup({.series = series.id, .from = from, .to = to, .regions = true}))
    for (const auto& [name, sums] : all.regions) means.push_back(meansOf(name, sums, series));
  std::erase_if(means, [](const RegionMeans& region) {
    return std::ranges::all_of(region.values, [](const Spread& one) { return one.samples == 0; });
  });
  return means;
}

}  // namespace mpm::monitor
