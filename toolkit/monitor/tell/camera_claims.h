// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "monitor/tell/channel.h"
#include "monitor/watch/camera_config.h"

namespace mpm::monitor {

/// The topics of one camera.
struct CameraTopics {
  CameraTopics(const Mqtt& mqtt, const std::string& camera);
  /// Those below `base` that a broker keeps.
  static std::vector<std::string> keptBelow(const std::string& base);

  std::string base;    ///< all others but `config` are below it
  std::string config;  ///< where Home Assistant looks for the camera; empty: it is told nothing
};

/// Which cameras of a prefix belong to which watch file. Each file has a retained topic, PREFIX/WATCH/ID, that lists
/// its cameras for its next start. A start takes its cameras out of the lists of other files, so a camera that moved
/// from one file to another belongs to the latter; then it empties the topics of cameras of its own list that its file
/// names no more, unless their status says that a program watches them. No camera is named WATCH: names are in small
/// letters. Thread-safe.
class CameraClaims {
 public:
  /// The ID of a watch file: the same for each start on this machine.
  static std::string idOf(const std::string& file);

  /// `stays`: the status of a camera stays "online" between runs (`mpm monitor --once`), and says nothing. What is to
  /// be sent goes into `topics`.
  CameraClaims(const Mqtt& mqtt, const std::string& id, bool stays, CurrentTopics& topics);

  /// The cameras of the file.
  void setCameras(const std::set<std::string>& names);
  /// The file is about another broker or prefix from now on.
  void withdraw();

  /// What is to be heard of the broker.
  Subscription subscription();
  /// The broker has said what it keeps, and what follows from it is in the topics.
  bool settled() const { return settled_; }

 private:
  // By camera: its CameraTopics::config.
  using Configs = std::map<std::string, std::string>;
  struct List {
    Configs cameras{};
    bool stays = false;
    bool operator==(const List&) const = default;
  };
  static List read(const std::string& payload, const std::string& prefix);
  static std::string text(const List& list);

  void take(const std::string& topic, const std::string& payload);
  std::set<std::string> takenOver() const;
  void takeOver();
  void settle();

  const Mqtt mqtt_;
  const std::string prefix_, own_;  // the topic of this file
  const bool stays_;
  CurrentTopics& topics_;
  std::atomic<bool> settled_ = false;
  std::mutex mutex_;
  Configs cameras_{};                              // guarded by the mutex, as is what follows
  List left_{};                                    // cameras that the file had, and whose topics may be there
  std::map<std::string, List> others_{};           // by topic
  std::map<std::string, std::string> statuses_{};  // by camera
};

}  // namespace mpm::monitor
