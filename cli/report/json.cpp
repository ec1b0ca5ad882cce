// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "cli/report/outputs.h"
#include "evaluation/numbers.h"

namespace mpm::cli {

using namespace monitor;

namespace {

Json summaryJson(const Summary& summary, const std::optional<double>& change) {
  if (summary.samples == 0) return nullptr;
  return {{"samples", summary.samples},
          {"mean", summary.mean},
          {"median", summary.median},
          {"p90", summary.p90},
          {"min", summary.min},
          {"max", summary.max},
          {"change_since_yesterday", evaluation::orNull(change)}};
}

// Means, and the least and the largest values.
Json spreadsJson(const std::vector<Spread>& values) {
  Json json = {{"samples", spreadOf(values, "pixels").samples}};
  for (std::size_t q = 0; q < quantities().size(); ++q) {
    const Quantity& one = quantities()[q];
    if (values[q].samples == 0) continue;
    json[one.key] = rounded(one, values[q].mean);
    json["min"][one.key] = rounded(one, values[q].min);
    json["max"][one.key] = rounded(one, values[q].max);
  }
  return json;
}

}  // namespace

Json reportJson(const SourceReport& report) {
  const SeriesRecord& series = report.series;
  const auto orNull = [&](const std::string& text) { return report.empty() ? Json() : Json(text); };
  Json all_series = Json::array();
  for (const SeriesRecord& one : report.all_series) {
    all_series.push_back({{"number", one.number},
                          {"model", one.model},
                          {"model_digest", one.model_digest},
                          {"reduce", one.reduce},
                          {"precision", one.precision},
                          {"settings", one.settings}});
  }
  Json json = {{"source", report.source.name},
               {"from", orNull(isoTime(report.span.from, true))},
               {"to", orNull(isoTime(report.span.to - 1, true))},
               {"from_local", orNull(report.clock.localTime(report.span.from))},
               {"to_local", orNull(report.clock.localTime(report.span.to - 1))},
               {"clock", report.clock.name()},
               {"samples", report.samples},
               {"model", series.model},
               {"model_digest", series.model_digest},
               {"reduce", series.reduce},
               {"precision", series.precision},
               {"settings", series.settings},
               {"series", series.number},
               {"all_series", std::move(all_series)},
               {"stretches", Json::array()},
               {"night_where", knowsNight(report.regions) ? Json(nightText(report)) : Json()},
               {"methods", orNull(methodsText(report))},
               {"comparable", {{"samples", report.comparable_samples}, {"days", report.comparable_days}}},
               {"day", summaryJson(report.statistics.day, report.statistics.day_change)},
               {"night", summaryJson(report.statistics.night, report.statistics.night_change)},
               {"night_minus_day", nullptr},
               {"mean", nullptr},
               {"quality", {{"pictures", report.value("flagged").samples}, {"left_out", report.flagged("flagged")}}},
               {"areas", Json::object()},
               {"regions", Json::object()},
               {"states", Json::object()},
               {"outages", Json::array()}};
  for (const Outage& one : report.outages) json["outages"].push_back(toJson(one));
  for (const Stretch& one : report.stretches) {
    json["stretches"].push_back({{"series", one.series.number},
                                 {"model", one.series.model},
                                 {"model_digest", one.series.model_digest},
                                 {"reduce", one.series.reduce},
                                 {"precision", one.series.precision},
                                 {"settings", one.series.settings},
                                 {"from", isoTime(one.from, true)},
                                 {"to", isoTime(one.to, true)},
                                 {"samples", one.samples}});
  }
  for (const StateSeries& one : report.states) {
    Json changes = Json::array();
    for (const auto& [time, state] : one.changes)
      changes.push_back({{"time", isoTime(time, true)}, {"state", state.empty() ? Json() : Json(state)}});
    json["states"][one.name] = {{"samples", one.samples}, {"sure", one.sure}, {"changes", changes}};
  }
  for (const char* flag : kQualityFlags) json["quality"][flag] = report.flagged(flag);
  for (const ClassArea& area : report.areas()) {
    json["areas"][area.name] = {{"all", area.all},
                                {"day", evaluation::orNull(area.day)},
                                {"night", evaluation::orNull(area.night)},
                                {"corrected", evaluation::orNull(area.corrected)},
                                {"iou", evaluation::orNull(area.iou)}};
  }
  for (const RegionMeans& region : report.regions) {
    Json means = spreadsJson(region.values);
    if (region.knowsNight()) means.update({{"day", spreadsJson(region.day)}, {"night", spreadsJson(region.night)}});
    for (const ClassArea& area : region.areas)
      if (area.all > 0) means["area_fraction"][area.name] = area.all;
    (region.name.empty() ? json["mean"] : json["regions"][region.name]) = std::move(means);
  }
  if (const auto& difference = report.statistics.difference) {
    json["night_minus_day"] = {{"tokens", difference->tokens},
                               {"plus_minus_95", evaluation::orNull(difference->plus_minus)},
                               {"block", difference->block == Difference::Block::kPeriod ? "period" : "hour"},
                               {"day_blocks", difference->day_blocks},
                               {"night_blocks", difference->night_blocks}};
  }
  return json;
}

}  // namespace mpm::cli
