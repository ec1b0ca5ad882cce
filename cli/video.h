// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/videoio.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "monitor/store/calendar.h"
#include "monitor/store/store_reader.h"
#include "vision/camera_clock.h"
#include "vision/sources/source.h"

namespace mpm::cli {

/// A video that is there completely or not at all. The ending of its name says what kind it is.
class VideoFile {
 public:
  /// Throws UsageError for another ending, mpm::Error when nothing can be written to `path`.
  VideoFile(std::string path, double frames_per_second, Readers readers = Readers::kByUmask);

  /// `picture`: CV_8UC3, all of one size; `name`: of the frame, for errors. Throws mpm::Error for another size, and
  /// when OpenCV cannot make a video of this kind.
  void add(const cv::Mat& picture, const std::string& name);
  /// Without it the path stays unchanged. Throws mpm::Error when the file lacks a part, as on a full disk.
  void finish();

 private:
  std::string path_;
  double frames_per_second_;
  AtomicFile whole_;
  cv::VideoWriter writer_;  // destroyed before `whole_`, whose file it writes
  int backend_ = cv::CAP_ANY;
  cv::Size size_;
  int frames_ = 0;
};

struct FilmOptions {
  std::string path;    ///< .mp4, .mkv, .mov or .avi
  std::string folder;  ///< of the snapshots; empty: the pictures of an archive themselves
  monitor::DayMoment moment{};
  std::optional<vision::GeoPosition>
      place;                    ///< of the camera. Without one, noon is 12:00, and no height of the sun is known
  std::string ending = ".png";  ///< of the file of a snapshot: its picture, or a vision::EstimateFiles
  bool date = false;            ///< written into each picture
  vision::CameraClock clock{};  ///< of the days and dates
  UnixMs from = 0, to = 0;      ///< pictures in [from, to)
  std::int64_t series = 0;      ///< of an archive: the SeriesRecord::id whose samples say which pictures are flagged

  /// Takes over "date", "overlay" or "merge", or several with commas between them: sets `ending` and `date`. Throws
  /// mpm::Error for another text.
  void show(const std::string& text);
};

/// What a film shows of its time.
struct FilmDays {
  int shown = 0, without = 0;  ///< `without`: between the first and the last, no picture or flagged ones alone
};

/// One stored picture a day of a source as a video, which is there whole or not at all. Flagged pictures are left out.
/// All pictures get the size of the first one, with black bars where their shape is another. Throws mpm::Error when
/// there is no picture, or one cannot be read. Where something of the source must not be seen, others than the owner
/// and the group of the film cannot read it.
FilmDays writeFilm(const monitor::StoreReader& store, const monitor::SourceRecord& source, const FilmOptions& options);

}  // namespace mpm::cli
