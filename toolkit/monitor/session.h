// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/capture/capture.h"
#include "monitor/capture/inference.h"
#include "monitor/privacy.h"
#include "monitor/statistics/alarms.h"
#include "monitor/statistics/day_night.h"
#include "monitor/statistics/picture_quality.h"
#include "monitor/statistics/state_detector.h"
#include "monitor/store/snapshot.h"
#include "monitor/store/store_writer.h"
#include "monitor/tell/teller.h"
#include "vision/times/archive.h"

namespace mpm::monitor {

/// Options that stay the same from source to source.
struct SessionOptions {
  std::string model{};                               ///< empty: frames wait for InferenceWorker::setModel()
  EstimatorOptions inference{};                      ///< of every model; its reduction is that of the first one
  bool choose_reuse = false;                         ///< as in InferenceWorker
  std::shared_ptr<SharedModels> models{};            ///< the same
  std::string database{};                            ///< empty: nothing is stored
  StoreOptions store{};                              ///< its `now` is replaced by the one below
  SnapshotOptions snapshots{};                       ///< without a folder: no pictures
  std::vector<std::string> on_event{};               ///< as setEventCommand()
  std::shared_ptr<Teller> teller{};                  ///< who is told of what is stored; null: nobody
  std::string camera{};                              ///< the name for it: cameraName()
  std::string title{};                               ///< how people call it; empty: by its name
  std::function<UnixMs()> now = unixNow;             ///< the wall clock
  std::function<std::int64_t()> steady = steadyNow;  ///< CaptureOptions::steady
};

/// The source to watch, and how.
struct CameraPlan {
  vision::SourceSpec source{};  ///< stored as SourceSpec::name()
  double every_s = 1;           ///< at most one sample in this time; 0: one per frame
  /// Files, folders, demo: every frame is read, waits for the model and is a sample. Live sources never wait.
  bool every_frame = false;
  bool samples_only = false;  ///< the model runs on the frames that become samples, not on those between them
  double max_fps = 0;         ///< files, folders, demo: read no faster; 0: as fast as the model takes the frames
  double timeout_s = vision::SourceOptions{}.timeout_s;  ///< a live source that is silent for this long is reopened
  bool once = false;  ///< one sample: a camera adapts to the light first, and RecorderOptions::once
  /// Pictures and videos that say when they were taken (vision::isArchive): each is stored once in a series, at its own
  /// time. Its `done` is replaced where there is a store. nullopt: their time is that of reading.
  std::optional<vision::ArchiveOptions> archive{};
  /// An archive: all its pictures are measured, into a series of their own. What is stored stays.
  bool again = false;
  std::function<bool(const std::string& path)> chosen{};  ///< vision::SourceOptions::chosen
  bool resume_demo = false;  ///< demo: begin after the last stored sample, with frames every_s apart by its own clock
  NightRule night{};
  std::optional<vision::GeoPosition> place{};  ///< of the camera
  AlarmOptions alarms{};
  std::optional<int> summary_hour{};  ///< DailySummary; nullopt: none. Of an archive none is made
  QualityOptions quality{};
  StateOptions states{};
  PrivacyChoice privacy{};  ///< of all pictures that leave the session: callbacks, snapshots, recordings
  /// Measured in each sample. nullopt: those that the database has for the source.
  std::optional<std::vector<vision::Region>> regions{};
  SourceFactory factory{};  ///< opens the source instead of vision::openSource(); for tests

  bool isScene() const { return source.kind == vision::SourceKind::kDemo; }
  bool readsArchive() const { return archive && vision::isArchive(source, *archive); }
  /// The times of its frames say nothing about the clock of this machine.
  bool hasOwnClock() const { return readsArchive() || isScene(); }
  /// The clock of an archive's camera.
  std::optional<vision::CameraClock> archiveClock() const {
    return archive ? std::optional(archive->times.clock()) : std::nullopt;
  }
};

struct SessionStatus {
  CaptureStatus source;
  InferenceStatus inference;
  std::optional<WriterStatus> store;   ///< nullopt: nothing is to be stored
  bool live = true;                    ///< SourceSpec::isLive(), or no source is open yet
  bool finished = false;               ///< the source has ended, and all its frames have been through the model
  std::optional<Pace> pace{};          ///< of the samples as they come; nullopt: not known, or those of an archive
  double every_s = 0;                  ///< how often they are meant to come; 0: as they like
  std::optional<double> sample_age_s;  ///< since the last one; nullopt: there was none
  /// Pictures of a folder or archive: how many it has, and how many of them are samples, of this watch or an earlier
  /// one. 0: not known.
  std::int64_t pictures = 0, stored = 0;

  /// A camera has given no frame yet, and no attempt has failed: nobody knows whether it is there.
  bool opening() const { return live && source.frames_in == 0 && source.attempt == 0; }
  /// "opening", "online", "stalled" (also where frames come and no samples), "lost", "not_writing" (the disk), or
  /// "ended".
  const char* word() const;
  /// `source`, but kStalled where that is the word: frames come, and no samples.
  CaptureStatus shownSource() const;
  /// Part of it hangs for good: the supervisor should restart the process.
  bool stuck() const { return source.stuck() || inference.stuck() || (store && store->stuck()); }
};

/// One program's watch over its sources, one at a time: capture, model, samples, alarms, events, pictures, retention.
/// `mpm monitor` and the app drive it.
///
/// Threads: all methods but status(), addEvent() and dropPicture() are called on one thread. None waits for a source, a
/// model or a disk, except the constructor (StoreOptions::open_at_once), finish() and the destructor. Callbacks come
/// from other threads, several at a time, and on the caller's thread in tick(), setRules() and the constructor. They
/// may call status() and snapshots().save(); none comes after the destructor.
class Session {
 public:
  struct Callbacks {
    /// Each result, also of frames that are no sample, with what a sample of it says. On the model's thread, which
    /// waits.
    std::function<void(InferenceResult, Sample)> on_frame{};
    /// Each sample, before on_frame of its result. On the model's thread.
    std::function<void(const Sample&, const InferenceResult&)> on_sample{};
    std::function<void(const Event&)> on_event{};
    /// Each change of the source's state, before its event. On the capture's thread.
    std::function<void(const CaptureStatus&)> on_state{};
    std::function<void(const std::string& path, SnapshotWriter::Occasion)> on_picture{};  ///< one was written
    std::function<void(int files)> on_pictures_removed{};
  };

  /// Begins to read the model. Throws mpm::Error for options that make no sense, and as StoreWriter does.
  Session(SessionOptions options, Callbacks callbacks);
  ~Session();  ///< finish(), however long the disk takes; the command of events gets 5 s

  /// Closes the source before it. Throws mpm::Error for options that make no sense.
  void open(const CameraPlan& plan);
  void close();
  bool isOpen() const;
  std::string source() const;  ///< SourceSpec::name() of the open one; empty: none
  /// Whose the pictures of the open source are. nullopt: none is open, or its database was not opened yet.
  std::optional<PictureOwner> owner() const;
  /// What must not be seen of the open source. nullopt: none is open, or its database was not read yet; until then its
  /// pictures are blurred as a whole.
  std::optional<PrivacyOptions> privacy() const;
  /// The last frame of the open source as it came, also where no model has seen it yet.
  std::optional<CapturedFrame> lastFrame() const;
  /// Returns `frame`, which no model has seen, with its private parts hidden (CameraPlan::privacy).
  CapturedFrame shown(CapturedFrame frame) const;
  /// A frame of the source that is open now.
  bool owns(const CapturedFrame& frame) const;
  /// Another frame will come by itself: the source is neither paused nor lost nor at its end. Those that came before
  /// may still be at the model.
  bool framesCome() const;
  /// Call it once or twice a second: alarms, the clock, the disk.
  void tick();

  InferenceWorker& worker();  ///< for changes to the model, its reduction and edges; until finish()
  void setPaused(bool paused);
  bool paused() const;
  /// The file of the model that runs, or that is read first; a file that cannot be read does not count.
  std::string model() const;

  /// Replaces night rule, alarms, quality and privacy of the open source, from now on.
  void setRules(const CameraPlan& rules);
  /// Replaces the regions of the open source from the next sample on; stored at once. Throws mpm::Error as
  /// vision::check().
  void setRegions(const std::vector<vision::Region>& regions);
  /// Replaces the states of the open source from the next sample on. Throws mpm::Error as StateOptions::validate().
  void setStates(const StateOptions& states);
  void setRetention(double keep_days, double max_megabytes);  ///< of samples; as StoreOptions
  /// As StoreWriter::judge(), which waits: may be called on any thread. False also where nothing is stored.
  bool judge(const std::string& source, const NightRule& rule, const std::function<bool(double share)>& progress = {});
  void storeIn(const std::string& path);  ///< where the store has stopped; as StoreWriter
  void addEvent(const Event& event);      ///< stores it and calls on_event
  /// Takes back the picture that others were told, and tells no other one: something else is to be hidden.
  void dropPicture();
  /// Runs this program with its arguments for each event from now on, as EventCommand does; empty: none. Not for events
  /// of more than an hour ago, as those of the pictures of an archive are, unless the source is demo:.
  void setEventCommand(std::vector<std::string> arguments);

  SnapshotWriter& snapshots();
  /// The sample that this frame would be, by the regions of now.
  Sample measure(const InferenceResult& result) const;

  /// Stops the source, finishes the current frame, and waits at most this many seconds until all samples are stored.
  /// The command of events gets ten of its own. True when all are stored. Afterwards only status() and the destructor
  /// may be called.
  bool finish(double patience_s);
  SessionStatus status() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm::monitor
