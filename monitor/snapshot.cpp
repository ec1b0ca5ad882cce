// SPDX-License-Identifier: Apache-2.0
#include "monitor/snapshot.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <vector>

#include "mpm/error.hpp"
#include "mpm/pictures.hpp"
#include "mpm/source.hpp"
#include "mpm/whole_file.hpp"

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
  for (const auto& [label, area] : sample.areas) {
    const auto index = static_cast<std::size_t>(label);
    const auto& classes = result.model->facts.classes;
    areas[index < classes.size() ? classes[index].name : "class_" + std::to_string(label)] = area;
  }
  const StageTimes& ms = result.segmentation.ms;
  const Json json = {{"time", isoTime(sample.time, true)},
                     {"source", withoutCredentials(source)},
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

}  // namespace

std::string writeSnapshot(const std::string& folder, const InferenceResult& result, const Sample& sample,
                          const std::string& source, double opacity, const std::vector<cv::Vec3b>& colors) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::error_code not_seen;
  if (!fs::is_directory(folder, not_seen))
    throw Error("cannot make the folder '" + folder + "'" + (error ? ": " + error.message() : ""));
  const std::string stem = (fs::path(folder) / stemOf(result.frame.time)).string();
  writePicture(stem + ".png", result.frame.image);
  if (!result.segmentation.labels.empty()) {
    const bool chosen = colors.size() >= static_cast<std::size_t>(result.model->classes);
    writePicture(stem + "_overlay.png",
                 overlayPicture(result.frame.image, result.segmentation.labels,
                                chosen ? colors : classColors(result.model->facts, result.model->classes), opacity));
  }
  writeWholeFile(stem + ".json", describe(result, sample, source) + '\n');
  return stem + ".png";
}

int forgetSnapshots(const std::string& folder, UnixMs now, double keep_days, double min_free_megabytes) {
  static const std::regex ours(R"(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z(_overlay)?\.(png|json))");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (const std::string name = entry->path().filename().string(); std::regex_match(name, ours)) names.push_back(name);
  if (error) throw Error("cannot read folder '" + folder + "': " + error.message());
  std::sort(names.begin(), names.end());  // by time, which the name begins with

  const std::string limit = keep_days > 0 ? stemOf(now - static_cast<UnixMs>(keep_days * kDayMs)) : "";
  const auto full = [&] { return min_free_megabytes > 0 && freeMegabytes(folder) < min_free_megabytes; };
  const std::string newest = names.empty() ? "" : names.back().substr(0, stemOf(now).size());
  int gone = 0;
  for (const std::string& name : names) {
    if (name.starts_with(newest) || (name >= limit && !full())) break;
    gone += fs::remove(fs::path(folder) / name, error) ? 1 : 0;
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
