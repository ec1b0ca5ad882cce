// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/sample.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "vision/labels/classes.h"

namespace mpm::monitor {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::size_t indexOf(std::string_view key) {
  const Quantity* const found = findQuantity(key);
  return found ? static_cast<std::size_t>(found - quantities().data()) : quantities().size();
}

void addNumbers(Json& json, const RegionSample& region, const std::vector<std::string>& classes) {
  for (std::size_t q = 0; q < quantities().size(); ++q) {
    const Quantity& quantity = quantities()[q];
    if (region.region != 0 && !quantity.of_regions) continue;
    const auto value = region.value(q);
    json[quantity.key] = value ? Json(rounded(quantity, *value)) : Json();
  }
  JsonObject areas;
  for (const auto& [label, area] : region.areas) areas.set(vision::className(classes, label), area);
  json["area_fraction"] = areas.take();
}

}  // namespace

double keptShare(double share) {
  std::array<char, 32> text{};
  const auto [end, failed] = std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(share));
  double kept = share;
  std::from_chars(text.data(), end, kept);
  return kept;
}

std::optional<double> RegionSample::value(std::size_t quantity) const {
  return quantity < values.size() && !std::isnan(values[quantity]) ? std::optional(values[quantity]) : std::nullopt;
}

std::optional<double> RegionSample::value(std::string_view key) const { return value(indexOf(key)); }

void RegionSample::set(std::string_view key, std::optional<double> value) {
  values.resize(quantities().size(), kUnknown);
  values.at(indexOf(key)) = value.value_or(kUnknown);
}

RegionSample evaluate(const RegionInput& input) {
  RegionSample region;
  for (const Quantity& one : quantities())
    region.values.push_back(input.frame || one.of_regions ? one.measure(input).value_or(kUnknown) : kUnknown);
  return region;
}

const RegionSample* Sample::region(std::string_view name) const {
  const auto found = std::ranges::find_if(regions, [&](const RegionSample& one) { return one.name == name; });
  return found == regions.end() ? nullptr : &*found;
}

double rounded(const Quantity& quantity, double value) {
  const double scale = std::pow(10, quantity.meanDigits() + 2);
  return std::round(value * scale) / scale;
}

Json toJson(const ViewMotion& motion) {
  return {{"right_px", motion.right}, {"down_px", motion.down}, {"turn_degrees", motion.turn}, {"zoom", motion.zoom}};
}

Json toJson(const Sample& sample, const std::vector<std::string>& classes, const std::string& reduce) {
  Json json = {{"time", isoTime(sample.time, true)},
               {"unix_ms", sample.time},
               {"picture", sample.picture},
               {"night", sample.night ? Json(*sample.night) : Json()},
               {"reduce", reduce},
               {"token_counts", sample.token_counts}};
  addNumbers(json, sample.whole(), classes);
  json["motion"] = nullptr;
  if (sample.measured_offset) json["motion"] = toJson(*sample.measured_offset);
  JsonObject regions, states;
  for (std::size_t r = 1; r < sample.regions.size(); ++r) {
    Json numbers = Json::object();
    addNumbers(numbers, sample.regions[r], classes);
    regions.set(sample.regions[r].name, std::move(numbers));
  }
  for (const StateSample& one : sample.states) {
    states.set(one.name, {{"state", one.state},
                          {"probability", one.probability},
                          {"sure", one.sure},
                          {"counted", one.counted.empty() ? Json() : Json(one.counted)}});
  }
  json["regions"] = regions.take();
  json["states"] = states.take();
  return json;
}

// A number that a newer version wrote into the database is shown as "?".
const char* toString(Severity severity) {
  constexpr const char* kNames[] = {"info", "warning", "error"};
  const auto index = static_cast<unsigned>(severity);
  return index < std::size(kNames) ? kNames[index] : "?";
}

const char* toString(EventKind kind) {
  constexpr const char* kNames[] = {"session",     "source", "model",   "storage", "clock",   "alarm",
                                    "alarm ended", "view",   "reuse",   "quality", "command", "state",
                                    "heartbeat",   "tell",   "summary", "damaged"};
  static_assert(std::size(kNames) == kEventKinds);
  const auto index = static_cast<unsigned>(kind);
  return index < std::size(kNames) ? kNames[index] : "?";
}

Json toJson(const Event& event) {
  Json json = {{"time", isoTime(event.time, true)},
               {"event", toString(event.kind)},
               {"severity", toString(event.severity)},
               {"message", event.message}};
  if (event.facts.is_object()) json.update(event.facts);
  return json;
}

}  // namespace mpm::monitor
