// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <opencv2/core.hpp>
#include <set>
#include <string>

#include "monitor/capture/inference.h"
#include "monitor/store/store_writer.h"
#include "monitor/tell/home_assistant.h"
#include "monitor/watch/camera_config.h"

namespace mpm::monitor {

/// Tells the broker and the server of a watch file what its cameras store: the outbox of each database in order, each
/// message until it is confirmed. Each camera has a connection and a thread of its own for each server. After a failure
/// it tries again after 1, 2, 5, 10, then every 30 s; the failure is an event, and so is its end, also where set() or a
/// camera that begins anew made another connection meanwhile. A new Teller has forgotten the failure, and reports it
/// again. A message that is refused again and again is given up, which is an event. Nothing of an event or sample that
/// is older than an hour is told, but of a scene. Thread-safe.
class Teller {
 public:
  /// Tells nobody yet. `file`: the watch file; the broker remembers its cameras for the next start (CameraClaims).
  /// Empty: it does not. `stays`: for the broker the cameras stay online when it ends, as between runs of `mpm monitor
  /// --once`.
  explicit Teller(const std::string& file = "", bool stays = false);
  ~Teller();

  /// Who is told from now on; the same tables again change nothing. Reads the secrets. Throws mpm::Error, and changes
  /// nothing, for what makes no sense, a file that cannot be read, and a table whose library this build lacks.
  void set(const FileTables& tables);
  /// The cameras of the file, before the first one is added and whenever they change. What the broker keeps of another
  /// one is removed: of one that is watched, at its end().
  void setCameras(const std::set<std::string>& names);
  /// For the StoreWriter of this camera. Throws as set().
  OutboxOptions outbox(const std::string& camera);
  /// Sends what is in the outbox of this database of a camera from now on. `report` gets the events about its sending.
  void add(const std::string& camera, const std::string& database, StoreWriter& store,
           std::function<void(const Event&)> report);
  /// Waits at most this many seconds until its outbox is empty or a server does not take it; then forgets the store.
  /// The camera stays, because it may be tried again.
  void remove(const std::string& camera, const StoreWriter& store, double patience_s);
  /// The camera is not watched any more, and its connections end. Its status is "ended", or stays where another one of
  /// its name begins. Its stores were removed.
  void end(const std::string& camera, bool replaced = false);

  void setFacts(const std::string& camera, const CameraFacts& facts);
  /// CameraStatus::word(). Ignored before outbox() and after end().
  void setStatus(const std::string& camera, const std::string& status);
  /// An object: which alarms ring, by their texts.
  void setAlarms(const std::string& camera, const Json& alarms);
  /// Takes the overlay of this frame if one is wanted and the last one is a minute old.
  void setPicture(const std::string& camera, const InferenceResult& result);
  /// Takes the picture of this camera back, from the broker too, until another one comes.
  void dropPicture(const std::string& camera);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm::monitor
