// SPDX-License-Identifier: Apache-2.0
#include "page/stored_pictures.h"

#include "monitor/store/snapshot.h"
#include "mpm/error.hpp"
#include "vision/pictures/estimate_files.h"

namespace mpm::page {
namespace {

constexpr std::int64_t kUpdateMs = 10000;  // listing the pictures of a year takes longer than an answer may
constexpr std::pair<std::string_view, const char*> kViews[] = {{".png", "frame"},
                                                               {vision::EstimateFiles::kOverlay, "overlay"},
                                                               {vision::EstimateFiles::kDepthColors, "depth"},
                                                               {vision::EstimateFiles::kMerge, "merge_map"}};

}  // namespace

void StoredPictures::update() {
  if (updated_ && steadyNow() < *updated_ + kUpdateMs) return;
  paths_.clear();
  for (std::size_t f = 0; f < folders_.size(); ++f) try {
      for (const std::string& name : monitor::snapshotFiles(folders_[f]))
        if (name.ends_with(".png")) paths_[name + "-" + std::to_string(f)] = folders_[f] + "/" + name;
    } catch (const Error&) {  // no picture was written yet, or the disk is away
    }
  updated_ = steadyNow();
}

Json StoredPictures::latest(const std::string& source, UnixMs from, UnixMs to, std::size_t limit) {
  update();
  Json list = Json::array();
  std::string last;  // the stem of the picture at the end of the list
  const std::string first = fileTime(from, true);
  for (auto at = paths_.lower_bound(fileTime(to, true)); at != paths_.begin() && (--at)->first >= first;) {
    const auto& [id, path] = *at;
    std::string time = id.substr(0, monitor::kSnapshotTime);
    const std::string stem = path.substr(0, path.rfind('/') + 1 + time.size());
    std::string& of = sources_[stem];  // empty: its .json, which is written last, was not there yet
    if (of.empty()) of = monitor::snapshotSource(stem);
    if (of != source) continue;
    if (stem != last) {
      if (list.size() == limit) break;
      time[13] = time[16] = ':';  // as isoTime() writes it
      list.push_back({{"time", time}});
      last = stem;
    }
    for (const auto& [ending, view] : kViews)
      if (path.substr(stem.size()) == ending) list.back()[view] = id;
  }
  return list;
}

std::optional<std::string> StoredPictures::path(const std::string& id) {
  update();
  const auto found = paths_.find(id);
  return found == paths_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace mpm::page
