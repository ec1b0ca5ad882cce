// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/watch/camera.h"

namespace mpm::monitor {

struct CameraStatus {
  std::string name{}, title{};                    ///< CameraConfig::title, or empty
  std::string database{}, snapshots{}, source{};  ///< a file, a folder; the source as the database names it
  SessionStatus session{};                        ///< the last one, if it ended or failed
  std::optional<Sample> sample{};                 ///< the last one of this process
  bool started = false;                           ///< the model is there and the source was opened, or this failed
  bool over = false;                              ///< it is watched no more, or failed and had no frame since
  std::string failure{};                          ///< why it could not be watched to its end

  bool failed() const { return over && !failure.empty(); }
  /// SessionStatus::word(); of a camera that is over "lost" where it failed, else "ended".
  const char* word() const;
};

/// True when only a new process can help: the thread of the models hangs, or each camera does.
bool stuck(const std::vector<CameraStatus>& cameras);

/// Watches several cameras: a Session on a thread of its own for each, which share their models (SharedModels). What a
/// camera, its disk or its database does keeps no other one waiting. One that fails is tried again every 30 s, unless
/// it is alone.
///
/// Threads: status() may be called on any thread, the other methods on one.
class Fleet {
 public:
  struct Callbacks {  ///< called on other threads, several at a time; none comes after finish()
    std::function<void(const Camera&, const Event&)> on_event{};  ///< must be there
    std::function<void(const Camera&, const Sample&, const InferenceResult&)> on_sample{};
  };
  struct Changes {
    int started = 0, restarted = 0, ended = 0, unchanged = 0;
  };

  explicit Fleet(Callbacks callbacks);
  ~Fleet();  ///< finish(), however long the disks take

  /// Watches these from now on, each with a name, a model and a database of its own; their SessionOptions::models is
  /// that of the Fleet. A camera that is as before goes on without
  /// a gap, unless it failed. Does not wait: a camera whose database another one has begins when that one has ended.
  Changes set(std::vector<Camera> cameras);

  /// Stores and reports an event of each camera that is watched now.
  void addEvent(const Event& event);

  /// The cameras of set(), in their order.
  std::vector<CameraStatus> status() const;

  /// Ends all cameras and waits until their samples are stored. False: a disk has not answered for a long time, and the
  /// destructor would wait for it.
  bool finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm::monitor
