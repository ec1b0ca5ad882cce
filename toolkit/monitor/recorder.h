// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "monitor/capture/inference.h"
#include "monitor/clocks.h"
#include "monitor/statistics/alarms.h"
#include "monitor/statistics/day_night.h"
#include "monitor/statistics/picture_quality.h"
#include "monitor/statistics/region_meter.h"
#include "monitor/statistics/state_detector.h"
#include "monitor/statistics/view_detector.h"
#include "monitor/store/store_writer.h"

namespace mpm::monitor {

struct RecorderOptions {
  std::string source{};      ///< vision::SourceSpec::name()
  double every_s = 1;        ///< at most one sample in this time; 0: one per frame
  bool every_frame = false;  ///< each frame is a sample, whatever every_s
  bool once = false;         ///< one sample a run; runs of up to a minute come as they like, so there are no gaps
  /// The clock of the camera of an archive: sessions begin with the time of a picture. nullopt: no archive.
  std::optional<vision::CameraClock> archive_clock{};
  std::string archive_times{};  ///< SessionInfo::times of an archive
  /// Frames have times of their own, as those of an archive and of the scene demo:. Alarms and states go by them.
  bool own_clock = false;
  NightRule night{};
  std::optional<vision::GeoPosition> place{};  ///< of the camera
  AlarmOptions alarms{};
  QualityOptions quality{};
  StateOptions states{};
  /// What must not be seen, PrivacyOptions::json(), and where it lies in the picture of a result (ViewDetector). Called
  /// within add() and measure(). nullopt: what is stored of the source stays, until setPrivacy() says what that is.
  std::optional<std::string> privacy{};
  std::function<cv::Mat(const InferenceResult& result, const ViewMotion& offset)> hidden{};
};

/// What the results of this model share. `digest`: modelDigest() of its file. `settings`: settingsOf().
Measuring measuringOf(const ModelInfo& model, const std::string& digest, const std::string& settings);

/// Turns results into samples, sessions and events of a store. The store may be null: then samples are only returned.
/// Area alarms follow the class names of each new model. A view that moved is an event; one that moved far
/// begins a new session. Thread-safe.
class Recorder {
 public:
  Recorder(RecorderOptions options, StoreWriter* store, std::function<void(const Event&)> on_event = {});

  /// The sample that was recorded, if this frame was one's turn. `dropped`: of the source so far.
  std::optional<Sample> add(const InferenceResult& result, std::int64_t dropped);
  /// The sample that this frame would be, but for what goes on from sample to sample: quality, reuse, states.
  Sample measure(const InferenceResult& result);
  /// From now on add() does nothing: the source is closed.
  void close();
  /// Call it every second or so: alarms about missing frames, jumps of the clock, a disk that does not answer. Does
  /// nothing while add() measures a large picture, so that a window does not wait for that.
  void tick(const CaptureStatus& status, UnixMs time, std::int64_t steady);

  /// Replaces RecorderOptions::privacy; another one lets go of what was learned of the view, also of what is stored.
  /// Whether it is another one.
  bool setPrivacy(const std::string& privacy);
  /// How often samples have come; nullopt: not known yet, or they come as they like. Does not wait.
  std::optional<Pace> pace() const {
    const double usual_s = usual_s_;
    return usual_s > 0 ? std::optional(Pace{usual_s}) : std::nullopt;
  }
  /// For how many seconds there was no sample; nullopt: there was none yet. Does not wait.
  std::optional<double> sampleAge(std::int64_t steady) const {
    const std::int64_t last = arrived_;
    return last > 0 ? std::optional(static_cast<double>(steady - last) / kSecondMs) : std::nullopt;
  }
  /// Its alarms, by their texts, and whether each rings: an object. nullopt until setRecalled() or the first frame: one
  /// of an earlier watch may still ring.
  std::optional<Json> alarms() const;

  /// Sets the view that the source had at an earlier watch, and of an archive since when it has been that one; ignored
  /// after the first frame.
  void setView(ViewReference view, std::optional<UnixMs> since = {});
  /// Goes on where an earlier watch ended: alarms that rang ring on, states and the quality of pictures count on, and
  /// nothing of that is told again. Alarms that were taken out end. `samples`: the last ones; `alarms`: where they
  /// stood. `now`, `steady`: one moment. Ignored after the first frame.
  void resume(const std::vector<Sample>& samples, const std::vector<AlarmState>& alarms, UnixMs now,
              std::int64_t steady);

  /// All that an earlier watch left was given, as far as there is any.
  void setRecalled();

  /// The samples to come, of an archive, begin a series of their own, also where they are measured as others were.
  void measureAgain();

  /// Sets the regions that are measured from the next sample on. Throws mpm::Error as vision::check().
  void setRegions(const std::vector<vision::Region>& regions);
  /// Those of an earlier watch, reported as an event that is not stored; ignored once there are others.
  void setStoredRegions(const std::vector<vision::Region>& regions);

  /// Replaces those rules that differ. An alarm that stays goes on, also where it rings.
  void setRules(const NightRule& night, const std::optional<vision::GeoPosition>& place, const AlarmOptions& alarms,
                const QualityOptions& quality, UnixMs now);
  /// Sets the states that are read from the next sample on; results need features. If a head is another one, a new
  /// session begins, see StoreWriter::beginSession(). Throws mpm::Error as StateOptions::validate().
  void setStates(const StateOptions& states);
  /// Stores once more which alarms ring: the store goes on in another database (StoreWriter::storeIn()).
  void storeAlarms();

 private:
  // What goes on from sample to sample.
  struct Chain {
    explicit Chain(const RecorderOptions& options);

    DayNight day_night;
    Alarms alarms;
    QualityDetector quality;
    StateDetector states;
    ViewDetector view;
    std::optional<UnixMs> view_since{};  // the first picture of the view that it knows
    std::optional<bool> night{};
    std::int64_t pixels = 0;       // Sample::pixels of the last sample
    std::optional<UnixMs> last{};  // its time
  };

  // Where the view lies in a picture.
  struct SeenView {
    ViewChange change = ViewChange::kNone;
    std::optional<ViewMotion> motion{};  // nullopt: not sure
    ViewMotion offset{};
  };

  Sample measure(const InferenceResult& result, const FrameFacts& facts, const ViewMotion& offset,
                 std::vector<Event>& events);
  bool isOfNewestView(UnixMs time) const;
  SeenView locate(const InferenceResult& result);
  void turnTo(UnixMs time);
  void turnToNewest();
  HiddenAt hiddenIn(const InferenceResult& result) const;
  void store(const std::optional<Sample>& sample, const std::vector<Event>& events);
  void tell(const std::vector<Event>& events) const;
  std::optional<Event> heartbeat(UnixMs time, std::int64_t steady);
  std::optional<Event> lookAtDisk(UnixMs time, std::int64_t steady);

  RecorderOptions options_;
  StoreWriter* store_;
  std::function<void(const Event&)> on_event_;
  mutable std::timed_mutex mutex_;
  Chain chain_;
  std::optional<Chain> newest_;  // of the newest picture of an archive, while older ones are measured
  std::vector<AlarmState> stored_alarms_;
  bool alarms_known_ = false;  // those of an earlier watch are among them
  ClockDetector clock_;
  bool disk_reported_ = false;                    // that it does not answer
  std::optional<std::int64_t> disk_reported_at_;  // steady ms
  bool open_ = true;
  int session_ = -1;
  struct {
    std::string path, digest;
  } model_;                               // of the session
  bool again_ = false;                    // the next session begins a series of its own
  std::vector<std::string> classes_;      // of the last model
  std::optional<std::int64_t> next_due_;  // steady ms
  PaceMeter pace_;                        // by the clock that never jumps
  std::atomic<double> usual_s_ = 0;
  std::atomic<std::int64_t> arrived_ = 0;  // steady ms: the last sample
  std::int64_t dropped_ = 0;
  std::int64_t samples_ = 0;                              // since the last heartbeat
  bool beat_ = false;                                     // there was one
  std::optional<std::int64_t> beats_at_;                  // steady ms: the next one
  std::optional<std::vector<std::string>> region_names_;  // once they were given
  RegionMeter regions_;
  bool look_failed_ = false;  // and this was reported
  ReuseDetector reuse_;
  std::optional<double> agreement_;  // Sample::agreement, since the last sample
};

}  // namespace mpm::monitor
