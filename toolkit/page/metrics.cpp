// SPDX-License-Identifier: Apache-2.0
#include "page/metrics.h"

#include <map>
#include <tuple>
#include <utility>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "monitor/capture/inference.h"
#include "monitor/statistics/picture_quality.h"

namespace mpm::page {

using namespace monitor;

namespace {

constexpr std::tuple<const char*, const char*, const char*> kMetrics[] = {
    {"mpm_build_info", "gauge", "1, with the version of the program."},
    {"mpm_camera_up", "gauge", "1 while samples of the camera come, 0 while they should; none when it has ended."},
    {"mpm_stored_samples", "gauge", "Samples of the latest series that the database keeps one by one."},
    {"mpm_last_frame_timestamp_seconds", "gauge", "Time of the last sample, since 1970."},
    {"mpm_tokens", "gauge", "Tokens after the last insertion."},
    {"mpm_class_area_ratio", "gauge", "Share of the pixels that a class covers."},
    {"mpm_rows_computed_ratio", "gauge", "Share of the rows that were computed, with reuse."},
    {"mpm_picture_flag", "gauge", "1 while the picture is dark, overexposed, blurred or fogged."},
    {"mpm_state", "gauge", "1 for the state that counts."},
    {"mpm_frames_total", "counter", "Frames that came from the camera."},
    {"mpm_stalls_total", "counter", "How often frames stopped coming."},
    {"mpm_reconnects_total", "counter", "How often frames came again after a loss."},
    {"mpm_outbox_waiting", "gauge", "Messages that no broker or server has confirmed yet."},
    {"mpm_inference_seconds", "histogram", "Time that the model took for a frame."}};

}  // namespace

std::string metricsText(const Json& cameras) {
  std::map<std::string, std::string> lines;  // by the name of the metric, which a scrape must not name twice
  std::string camera;
  const auto add = [&](const std::string& name, const Json& value, std::map<std::string, std::string> labels = {},
                       const char* part = "") {
    if (value.is_null()) return;
    if (!camera.empty()) labels["camera"] = camera;
    std::string text = name + part;
    for (char before = '{'; const auto& [label, of] : labels)
      text += std::exchange(before, ',') + label + "=" + toLine(visibleText(of, std::string::npos));  // in quotes
    lines[name] += text + "} " + numberText(value.get<double>()) + "\n";
  };
  add("mpm_build_info", 1, {{"version", cameras["version"].get<std::string>()}});
  for (const Json& one : cameras["cameras"]) {
    camera = one["name"];
    // What has ended is not missed.
    if (one["state"] != "ended" && one["state"] != "archive") add("mpm_camera_up", one["state"] == "online" ? 1 : 0);
    add("mpm_stored_samples", one["samples"]);
    if (one["last_ms"] > 0) add("mpm_last_frame_timestamp_seconds", one["last_ms"].get<double>() / 1000);
    if (const auto live = one.find("live"); live != one.end()) {
      for (const char* key : {"frames_total", "stalls_total", "reconnects_total", "outbox_waiting"})
        add(std::string("mpm_") + key, (*live)[key]);
      std::int64_t count = 0;
      for (std::size_t i = 0; i <= kTimeBounds.size(); ++i) {
        const bool bounded = i < kTimeBounds.size();
        count += (*live)["by_time"][i].get<std::int64_t>();
        add("mpm_inference_seconds", count, {{"le", bounded ? numberText(kTimeBounds[i]) : "+Inf"}}, "_bucket");
      }
      add("mpm_inference_seconds", count, {}, "_count");
      add("mpm_inference_seconds", (*live)["seconds"], {}, "_sum");
    }
    const Json& sample = one["sample"];
    if (sample.is_null()) continue;
    const auto addRegion = [&](const std::string& name, const Json& region) {
      add("mpm_tokens", region["tokens"], {{"region", name}});
      std::map<std::string, Json> areas;
      for (const auto& [of, share] : region["area_fraction"].items()) areas[of] = share;
      for (const Json& of : one["classes"])
        areas.try_emplace(of.get<std::string>(), 0);  // a class that is not in the picture, for means over time
      for (const auto& [of, share] : areas) add("mpm_class_area_ratio", share, {{"region", name}, {"class", of}});
    };
    addRegion("", sample);
    for (const auto& [name, region] : sample["regions"].items()) addRegion(name, region);
    if (!sample["rows"].is_null()) add("mpm_rows_computed_ratio", sample["rows"].get<double>() / 100);
    for (const char* flag : kQualityFlags) add("mpm_picture_flag", sample[flag], {{"flag", flag}});
    for (const auto& [name, of] : sample["states"].items())
      if (of["counted"].is_string()) add("mpm_state", 1, {{"name", name}, {"state", of["counted"].get<std::string>()}});
  }
  std::string text;
  for (const auto& [name, type, help] : kMetrics)
    text += std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n" + lines[name];
  return text;
}

}  // namespace mpm::page
