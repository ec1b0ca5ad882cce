// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/snapshot.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <vector>

#include "base/atomic_file.h"
#include "mpm/error.hpp"
#include "vision/classes.h"
#include "vision/pictures.h"
#include "vision/source.h"

namespace mpm::monitor {
namespace {

namespace fs = std::filesystem;

std::string stemOf(UnixMs time) {
  std::string stem = isoTime(time, true);
  std::replace(stem.begin(), stem.end(), ':', '-');  // not allowed in names on other systems' disks
  return stem;
}

std::string describe(const InferenceResult& result, const Sample& sample, const std::string& source) {
  using Json = nlohmann::ordered_json;
  Json areas = Json::object();
  const std::vector<std::string> names = vision::classNames(*result.model);
  for (const auto& [label, area] : sample.areas) areas[vision::className(names, label)] = area;
  const StageTimes& ms = result.segmentation.ms;
  const Json json = {{"time", isoTime(sample.time, true)},
                     {"source", vision::redactCredentials(source)},
                     {"model", result.model_path},
                     {"schedule", result.model->schedule},
                     {"tokens", sample.tokens},
                     {"area_fraction", areas},
                     {"night", sample.night ? Json(*sample.night) : Json(nullptr)},
                     {"brightness_0_255", sample.brightness},
                     {"ms",
                      {{"total", ms.total},
                       {"preprocess", ms.preprocess},
                       {"backbone", ms.backbone},
                       {"merge", ms.merge},
                       {"restore", ms.restore},
                       {"head", ms.head},
                       {"postprocess", ms.postprocess}}}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

// As describe() wrote it; empty: there is none.
std::string sourceOf(const std::string& stem) {
  std::ifstream file(stem + ".json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  const auto source = json.is_object() ? json.find("source") : json.end();
  return source != json.end() && source->is_string() ? source->get<std::string>() : "";
}

}  // namespace

std::string writeSnapshot(const std::string& folder, const InferenceResult& result, const Sample& sample,
                          const std::string& source, double opacity, const std::vector<cv::Vec3b>& colors) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::error_code not_seen;
  if (!fs::is_directory(folder, not_seen))
    throw Error("cannot make the folder '" + folder + "'" + (error ? ": " + error.message() : ""));
  const auto stemAt = [&](UnixMs time) { return (fs::path(folder) / stemOf(time)).string(); };
  UnixMs time = result.frame.time;
  while (fs::exists(stemAt(time) + ".json", not_seen) && sourceOf(stemAt(time)) != vision::redactCredentials(source))
    ++time;
  const std::string stem = stemAt(time);
  vision::writePicture(stem + ".png", result.frame.image);
  if (!result.segmentation.labels.empty()) {
    const bool chosen = colors.size() >= static_cast<std::size_t>(result.model->classes);
    vision::writePicture(
        stem + "_overlay.png",
        vision::overlayPicture(result.frame.image, result.segmentation.labels,
                               chosen ? colors : vision::classColors(result.model->facts, result.model->classes),
                               opacity));
  }
  writeFileAtomically(stem + ".json", describe(result, sample, source) + '\n');
  return stem + ".png";
}

int forgetSnapshots(const std::string& folder, UnixMs now, double keep_days, double min_free_megabytes,
                    const std::string& source) {
  static const std::regex ours(R"(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z(_overlay)?\.(png|json))");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (const std::string name = entry->path().filename().string(); std::regex_match(name, ours)) names.push_back(name);
  if (error) throw Error("cannot read folder '" + folder + "': " + error.message());
  std::sort(names.begin(), names.end());  // by time, which the name begins with

  const auto stem = [size = stemOf(now).size()](const std::string& name) { return name.substr(0, size); };
  const auto isOurs = [&](const std::string& name) {
    return source.empty() || sourceOf((fs::path(folder) / stem(name)).string()) == vision::redactCredentials(source);
  };
  const auto last = std::find_if(names.rbegin(), names.rend(), isOurs);
  const std::string newest = last == names.rend() ? "" : stem(*last);
  const std::string limit = keep_days > 0 ? stemOf(now - static_cast<UnixMs>(keep_days * kDayMs)) : "";
  const auto full = [&] { return min_free_megabytes > 0 && freeMegabytes(folder) < min_free_megabytes; };
  int gone = 0;
  for (auto name = names.begin(); name != names.end() && stem(*name) < newest && (*name < limit || full());) {
    const auto end = std::find_if(name, names.end(), [&](const std::string& n) { return stem(n) != stem(*name); });
    if (isOurs(*name))
      for (auto file = end; file != name;)  // the .json last: it says whose the others are
        gone += fs::remove(fs::path(folder) / *--file, error) ? 1 : 0;
    name = end;
  }
  return gone;
}

double freeMegabytes(const std::string& folder) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error) throw Error("cannot tell how much is free at '" + folder + "': " + error.message());
  return static_cast<double>(space.available) / 1e6;
}

}  // namespace mpm::monitor
