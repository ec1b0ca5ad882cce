// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/capture/inference.h"
#include "monitor/privacy.h"
#include "monitor/store/sample.h"
#include "vision/time.h"

namespace mpm::monitor {

/// How the classes are drawn over a frame.
struct OverlayStyle {
  double opacity = 0.5;
  std::vector<cv::Vec3b> colors{};  ///< BGR, by class; fewer than the model has: the model's own
};

/// Whose a stored picture is: that of a source in a database. Two cameras may have one stream, and show other parts of
/// it.
struct PictureOwner {
  std::string source{};    ///< SourceRecord::name; what is written and looked for has no credentials
  std::string database{};  ///< StoreReader::id(); "": nothing is stored of the source
  std::string camera{};    ///< cameraName(), for people: a camera may get another name and keeps its pictures

  bool sameAs(const PictureOwner& other) const;
};

/// Writes the frame as NAME.png, its vision::EstimateFiles and NAME.json beside it; with `merge_map` also
/// vision::mergePicture() if tokens were merged. NAME is the time of the frame, "2026-11-03T17-04-05.250Z", or a little
/// later where another owner has that name. Makes the folder. Each file is complete or absent; where something is
/// hidden in the frame (InferenceResult::hidden_by), others than the owner and the group of the files cannot read them.
/// Returns the path of NAME.png. Throws mpm::Error.
std::string writeSnapshot(const std::string& folder, const InferenceResult& result, const Sample& sample,
                          const PictureOwner& owner, const OverlayStyle& style = {}, bool merge_map = false);

/// A picture of a folder of snapshots.
struct Snapshot {
  UnixMs time = 0;     ///< of its frame
  std::string stem{};  ///< its files without their endings: ".png", "_overlay.png", ".json"
};

/// What NAME.json says of a stored picture: the inverse of what writeSnapshot() and a recording write.
struct StoredFrame {
  UnixMs time = 0;  ///< of the frame
  std::string stem{};
  PictureOwner owner{};
  ViewMotion view_offset{};  ///< where the view had moved to
  bool flagged = false;
  std::vector<double> token_counts{};  ///< Sample::token_counts; of a recording empty, as what follows
  double ms = 0;                       ///< StageTimes::total; 0: not known
  /// Shares of the pixels of each class, 0..1, by the name of the region; "": of the whole picture.
  std::map<std::string, std::map<std::string, double>> areas{};
  std::string hides_regions{};       ///< PrivacyOptions::regionsDigest() of what is black in it; "": nothing
  std::vector<std::string> blurs{};  ///< classes

  /// What of `hidden` can be seen in it, as it was stored before that was to be hidden.
  PrivacyOptions showsOf(const PrivacyOptions& hidden) const;
  /// The pixels of its file with this ending, ".png" or one of vision::EstimateFiles, without what is hidden now.
  /// Throws mpm::Error as requireOrdinary() and vision::readPictureFile().
  cv::Mat picture(const std::string& ending, const PrivacyOptions& hidden) const;
};
/// The size of a stored picture, a PNG. Throws mpm::Error naming one that would take gigabytes of memory: a file of
/// some kilobytes may unpack to them.
cv::Size requireOrdinary(const std::string& path);
/// `stem`: the path of a picture without its ending. Throws mpm::Error.
StoredFrame readStored(const std::string& stem);
/// Whether it may stand for its day in a calendar or a film: its file with this ending is there, what it was is known,
/// and it was not flagged. `stem`: as in readStored().
bool standsForDay(const std::string& stem, const std::string& ending);

/// Those of this owner in [from, to), by time. Throws mpm::Error.
std::vector<Snapshot> snapshots(const std::string& folder, const PictureOwner& owner, UnixMs from, UnixMs to);

/// Removes snapshots of an owner (only files that writeSnapshot() names) older than `keep_days`, then the oldest ones
/// while the disk has less than `min_free_megabytes`; 0: no such limit. NAME.json says whose a picture is: several
/// monitors may write into one folder. The newest always stays. Returns the number of removed files. Throws
/// mpm::Error.
int forgetSnapshots(const std::string& folder, UnixMs now, double keep_days, double min_free_megabytes,
                    const PictureOwner& owner);

/// The names of all files of snapshots and recordings in a folder, by time. Links do not count. Throws mpm::Error.
std::vector<std::string> snapshotFiles(const std::string& folder);
/// How many letters of such a name are its time, as fileTime() writes it.
inline constexpr std::size_t kSnapshotTime = std::string_view("2026-11-03T17-04-05.250Z").size();
/// When the picture was taken that has such a name.
UnixMs snapshotTime(const std::string& name);
/// The owner of a picture, from its NAME.json; `stem`: the path without its ending. nullopt: not known.
std::optional<PictureOwner> snapshotOwner(const std::string& stem);

/// Free space on the disk of an existing folder. Throws mpm::Error.
double freeMegabytes(const std::string& folder);

/// Which pictures are written, and how long they stay.
struct SnapshotOptions {
  std::string folder{};                   ///< empty: no pictures
  std::optional<double> every_minutes{};  ///< time-lapse: one sample in this time; 0: each one; nullopt: none
  double keep_days = 0;           ///< remove older pictures of the source, unless the clock may be wrong; 0: never
  double min_free_megabytes = 0;  ///< remove its oldest pictures while the disk has less free space; 0: never
  double reserve_megabytes = 0;   ///< time-lapse and recording leave this much of the disk to the samples
  bool merge_maps = false;        ///< as `merge_map` of writeSnapshot()
};

/// Snapshots, time-lapse and recording: writes pictures and removes old ones on its own thread. Thread-safe.
class SnapshotWriter {
 public:
  enum class Occasion { kAsked, kTimeLapse, kRecording };
  struct Callbacks {  ///< called on the writer's thread
    std::function<void(const std::string& path, Occasion occasion)> on_written{};
    /// Once a day at most on the thread of add(): the disk is too slow for the time-lapse.
    std::function<void(const std::string& problem, Occasion occasion)> on_failed{};
    std::function<void(int files)> on_removed{};  ///< by retention
    /// Whose the pictures of this source are; without it they are of no database. May throw mpm::Error where that is
    /// not known yet: then the picture is not written.
    std::function<PictureOwner(const std::string& source)> ownerOf{};
  };
  struct Recording {
    bool on = false;
    int written = 0, left_out = 0;  ///< frames; left out because several waited for the disk
  };

  /// `now`: the wall clock.
  SnapshotWriter(SnapshotOptions options, Callbacks callbacks, std::function<UnixMs()> now = unixNow);
  ~SnapshotWriter();  ///< writes the pictures that wait

  void setOptions(SnapshotOptions options);
  void setStyle(OverlayStyle style);
  /// Writes every frame without its overlay, until it is switched off; begins to count anew.
  void setRecording(bool on);
  Recording recording() const;

  /// For each new frame: records it, and writes it where the time-lapse is due. `sample`: null for a frame that is
  /// none. Where the frame is needed (CapturedFrame::needed), the time-lapse waits for the disk, 30 seconds at most.
  /// What else comes too fast is left out, and on_failed() hears of it. The time-lapse begins anew with another source,
  /// and where needed frames go back in time.
  void add(const InferenceResult& result, const Sample* sample, const std::string& source);
  /// Writes this frame. False: several pictures wait for the disk already.
  bool save(const InferenceResult& result, const Sample& sample, const std::string& source);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm::monitor
