// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_file.h"
#include "monitor/store/calendar.h"
#include "monitor/store/snapshot.h"
#include "vision/time.h"

namespace mpm::page {

/// The snapshots, time-lapses and recordings in folders (SnapshotWriter), by ids. The folder listing is cached for 10
/// s. Not thread-safe.
class PictureList {
 public:
  explicit PictureList(std::function<std::set<std::string>()> folders) : folders_(std::move(folders)) {}

  /// The latest of an owner in [from, to), the newest first: a list of {"time", "frame", "overlay", "depth",
  /// "merge_map", "moved"}. The middle four have the id of the picture, where there is one; "moved", if the view had
  /// moved, the two rows of a matrix that takes points of regions to their places, in shares of width and height.
  Json latest(const monitor::PictureOwner& owner, UnixMs from, UnixMs to, std::size_t limit);

  /// The same of the one that is nearest to a time; an empty list: there is none.
  Json nearest(const monitor::PictureOwner& owner, UnixMs from, UnixMs to, UnixMs at);

  /// Of each day the one that is nearest to its moment and not flagged, with its id.
  std::vector<monitor::DayPicture> ofDays(const monitor::PictureOwner& owner, UnixMs from, UnixMs to,
                                          const monitor::DayPictures& days);

  /// The picture that is listed under this id, and the ending of its file.
  std::pair<monitor::StoredFrame, std::string> find(const std::string& id);

 private:
  static constexpr std::string_view kEndOfFrame = ".png";
  struct Facts {
    monitor::PictureOwner owner{};
    bool flagged = false;
    Json moved{};
  };

  // The ids and times of all frames in [from, to), ascending.
  std::vector<std::pair<std::string, UnixMs>> frames(UnixMs from, UnixMs to);

  // nullopt: its .json, which is written last, was not there yet.
  const std::optional<Facts>& factsOf(const std::string& stem);

  void update();

  std::function<std::set<std::string>()> folders_;
  std::optional<std::int64_t> updated_{};                // steady
  std::map<std::string, std::string> paths_{};           // by id: the name of the file, then the number of its folder
  std::map<std::string, std::optional<Facts>> facts_{};  // by the path without its ending
};

}  // namespace mpm::page
