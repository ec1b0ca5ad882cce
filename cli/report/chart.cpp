// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <utility>

#include "charts/draw_chart.h"
#include "cli/report/outputs.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "vision/labels/classes.h"
#include "vision/model_files.h"
#include "vision/pictures/pictures.h"

namespace mpm::cli {

using namespace charts;
using namespace monitor;

namespace {

// The colours of the model that measured, while its file is there.
std::map<std::string, std::uint32_t> colorsOf(const SeriesRecord& series) {
  std::map<std::string, std::uint32_t> colors;
  try {
    if (vision::modelDigest(series.model) != series.model_digest) return colors;
    const ModelInfo model = readModelInfo(series.model);
    const std::vector<cv::Vec3b> bgr = vision::classColors(model.facts, model.classes);
    const auto names = vision::classNames(model);
    for (std::size_t c = 0; c < names.size(); ++c)
      colors[names[c]] = static_cast<std::uint32_t>(bgr[c][2] << 16 | bgr[c][1] << 8 | bgr[c][0]);
  } catch (const Error&) {
  }
  return colors;
}

}  // namespace

cv::Mat reportChart(const StoreReader& store, const SourceReport& report) {
  constexpr std::size_t kInLane = 4;  // as many colours
  ChartDrawing drawing{.clock = report.clock};
  std::vector<std::string> shown = {"Tokens kept"};
  const auto add = [&](const char* key, const std::string& region, bool joins) {
    const Quantity& one = *findQuantity(key);
    drawing.series.push_back({.quantity = {.quantity = key, .region = region},
                              .name = region.empty() ? one.label : key + (" of " + region),
                              .unit = one.unit,
                              .decimals = one.meanDigits(),
                              .joins = joins,
                              .sparse = one.ofFrame()});
  };
  const auto colors = colorsOf(report.series);
  const auto addAreas = [&](const RegionMeans& of) {
    const std::vector<ClassArea> most = largest(of.areas, kInLane);
    for (const ClassArea& area : most) {
      const auto color = colors.find(area.name);
      drawing.series.push_back({.quantity = {.class_name = area.name, .region = of.name},
                                .name = of.name.empty() ? area.name : area.name + " in " + of.name,
                                .unit = "%",
                                .decimals = 1,
                                .joins = &area != &most.front(),
                                .color = color == colors.end() ? std::nullopt : std::optional(color->second)});
    }
  };
  add("tokens", "", false);
  if (report.value("rows").samples > 0) {
    shown.emplace_back("rows computed");
    add("rows", "", false);
    add("agreement", "", false);
  }
  if (!report.areas().empty()) shown.emplace_back("areas of classes");
  if (report.regions.size() > 1) shown.emplace_back("regions");
  if (!report.regions.empty()) addAreas(report.regions.front());
  for (std::size_t i = 1; i < report.regions.size(); ++i) add("gcc", report.regions[i].name, (i - 1) % kInLane != 0);
  for (std::size_t i = 1; i < report.regions.size(); ++i) addAreas(report.regions[i]);
  for (std::size_t i = 0; i < shown.size(); ++i)
    drawing.title += (i == 0 ? "" : i + 1 < shown.size() ? ", " : " and ") + shown[i];
  drawing.title += ", " + report.source.name;
  ChartQuery query{.source = report.source.id,
                   .from = report.span.from,
                   .to = report.span.to,
                   .max_buckets = 1170,
                   .clock = report.clock,
                   .only = report.series.id};
  for (const ChartSeries& series : drawing.series) query.series.push_back(series.quantity);
  drawing.chart = store.chart(query);
  drawing.bands = chartBands(store.stateChanges(report.series.id, report.span.from, report.span.to),
                             store.knownStates(report.source.id), report.outages);
  drawing.axis.from = static_cast<double>(report.span.from) / kSecondMs;
  drawing.axis.to = static_cast<double>(report.known_until) / kSecondMs;
  return chartPicture(std::move(drawing));
}

}  // namespace mpm::cli
