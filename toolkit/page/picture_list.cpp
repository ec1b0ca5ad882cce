// SPDX-License-Identifier: Apache-2.0
#include "page/picture_list.h"

#include <algorithm>
#include <cmath>

#include "monitor/statistics/region_meter.h"
#include "monitor/statistics/view_detector.h"
#include "mpm/error.hpp"
#include "page/asked.h"
#include "vision/pictures/estimate_files.h"

namespace mpm::page {

using namespace monitor;

namespace {

constexpr std::int64_t kUpdateMs = 10000;  // listing the pictures of a year takes longer than an answer may
constexpr std::pair<std::string_view, const char*> kViews[] = {{".png", "frame"},
                                                               {vision::EstimateFiles::kOverlay, "overlay"},
                                                               {vision::EstimateFiles::kDepthColors, "depth"},
                                                               {vision::EstimateFiles::kMerge, "merge_map"}};

// PictureList::latest()'s "moved"; null: the view had not moved.
Json movedPoints(const StoredFrame& frame) {
  const ViewMotion& offset = frame.view_offset;
  if (offset.right == 0 && offset.down == 0 && offset.turn == 0 && offset.zoom == 1) return {};
  const cv::Size size = requireOrdinary(frame.stem + ".png");
  if (size.empty() || !followsView({}, offset, size)) return {};
  const cv::Matx23d to = matrixOf(offset, size);  // whose pixel centres are whole numbers
  const double width = size.width, height = size.height;
  return {{to(0, 0), to(0, 1) * height / width, (to(0, 2) + 0.5 * (1 - to(0, 0) - to(0, 1))) / width},
          {to(1, 0) * width / height, to(1, 1), (to(1, 2) + 0.5 * (1 - to(1, 0) - to(1, 1))) / height}};
}

}  // namespace

Json PictureList::latest(const PictureOwner& owner, UnixMs from, UnixMs to, std::size_t limit) {
  update();
  Json list = Json::array();
  std::string last;  // the stem of the picture at the end of the list
  const std::string first = fileTime(from, true);
  for (auto at = paths_.lower_bound(fileTime(to, true)); at != paths_.begin() && (--at)->first >= first;) {
    const auto& [id, path] = *at;
    std::string time = id.substr(0, kSnapshotTime);
    const std::string stem = path.substr(0, path.rfind('/') + 1 + time.size());
    const auto& facts = factsOf(stem);
    if (!facts || !facts->owner.sameAs(owner)) continue;
    if (stem != last) {
      if (list.size() == limit) break;
      time[13] = time[16] = ':';  // as isoTime() writes it
      list.push_back({{"time", time}});
      if (!facts->moved.is_null()) list.back()["moved"] = facts->moved;
      last = stem;
    }
    for (const auto& [ending, view] : kViews)
      if (path.substr(stem.size()) == ending) list.back()[view] = id;
  }
  return list;
}

Json PictureList::nearest(const PictureOwner& owner, UnixMs from, UnixMs to, UnixMs at) {
  std::vector<std::pair<UnixMs, UnixMs>> times;  // how far away each is, and when it was taken
  for (const auto& [id, time] : frames(from, to)) times.emplace_back(std::abs(time - at), time);
  std::ranges::sort(times);
  for (const auto& [away, time] : times)
    if (Json found = latest(owner, time, time + 1, 1); !found.empty()) return found;
  return Json::array();
}

std::vector<DayPicture> PictureList::ofDays(const PictureOwner& owner, UnixMs from, UnixMs to,
                                            const DayPictures& days) {
  const auto all = frames(from, to);
  std::vector<UnixMs> times;
  for (const auto& [id, time] : all) times.push_back(time);
  const auto good = [&](std::size_t i) {
    const std::string& path = paths_.at(all[i].first);
    const auto facts = factsOf(path.substr(0, path.size() - kEndOfFrame.size()));
    return facts && facts->owner.sameAs(owner) && !facts->flagged;
  };
  std::vector<DayPicture> chosen;
  for (const std::size_t i : days.choose(times, good)) chosen.push_back({all[i].second, all[i].first});
  return chosen;
}

std::pair<StoredFrame, std::string> PictureList::find(const std::string& id) {
  update();
  const auto found = paths_.find(id);
  if (found == paths_.end()) throw Refusal(404, "no such picture is stored");
  const std::size_t end = found->second.rfind('/') + 1 + kSnapshotTime;
  return {readStored(found->second.substr(0, end)), found->second.substr(end)};
}

std::vector<std::pair<std::string, UnixMs>> PictureList::frames(UnixMs from, UnixMs to) {
  update();
  std::vector<std::pair<std::string, UnixMs>> all;
  const auto end = paths_.lower_bound(fileTime(to, true));
  for (auto at = paths_.lower_bound(fileTime(from, true)); at != end; ++at) {
    if (at->first.find(std::string(kEndOfFrame) + "-", kSnapshotTime) == kSnapshotTime)
      all.emplace_back(at->first, snapshotTime(at->first));
  }
  return all;
}

const std::optional<PictureList::Facts>& PictureList::factsOf(const std::string& stem) {
  auto& facts = facts_[stem];
  if (!facts) {
    try {
      const StoredFrame frame = readStored(stem);
      facts = {frame.owner, frame.flagged, movedPoints(frame)};
    } catch (const Error&) {
    }
  }
  return facts;
}

void PictureList::update() {
  if (updated_ && steadyNow() < *updated_ + kUpdateMs) return;
  paths_.clear();
  for (int number = 0; const std::string& folder : folders_()) {
    try {
      const std::string of_folder = "-" + std::to_string(number++);
      for (const std::string& name : snapshotFiles(folder))
        if (name.ends_with(".png")) paths_[name + of_folder] = folder + "/" + name;
    } catch (const Error&) {  // no picture was written yet, or the disk is away
    }
  }
  updated_ = steadyNow();
}

}  // namespace mpm::page
