// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vision/camera_clock.h"
#include "vision/times/name_times.h"

namespace mpm::vision {

/// Where the time of a picture comes from.
enum class TimeFrom {
  kList,
  kExif,      ///< exifTime()
  kName,      ///< NameTimes
  kModified,  ///< when the file was written last
};

struct TimeOptions {
  /// nullopt: a list if there is one, else EXIF, else the name of the file. Never when the file was written, unless it
  /// is asked for: a copy has another time.
  std::optional<TimeFrom> from{};
  std::string list{};  ///< path of a list; empty: none
  /// The clock that times without offset were read from; nullopt: the standard time of this machine.
  std::optional<CameraClock> time_zone{};

  CameraClock clock() const { return time_zone ? *time_zone : CameraClock::ofMachine().standardTime(unixNow()); }

  friend bool operator==(const TimeOptions&, const TimeOptions&) = default;
};

/// "auto", "exif", "name", "modified", or "list:FILE". Throws mpm::Error for another text. The time zone is not set.
TimeOptions parseTimes(const std::string& text);
/// The inverse.
std::string toString(const TimeOptions& options);

struct PictureTime {
  UnixMs time = 0;
  TimeFrom from = TimeFrom::kName;
  bool assumed_zone = false;  ///< it was written without an offset
  /// What the name says where EXIF counts and is more than a day away: a camera whose clock was reset.
  std::optional<UnixMs> in_name{};
};

/// "a list", "EXIF", "the name", "the date of the file".
const char* toString(TimeFrom from);

/// A list of names and times: comma-separated values, one picture a line: its name or the end of its path, then year,
/// month, day, hour, minute and second, or one time as readTime() reads it. A first line without a digit behind the
/// name is a header; "#" begins a comment. Throws mpm::Error that names file and line for another line, for a name that
/// comes twice, and for an empty list.
std::map<std::string, WrittenTime> readTimeList(const std::string& path);

/// DateTimeOriginal of a JPEG or PNG file, else DateTimeDigitized, with the fraction of its second. Its offset is that
/// of OffsetTimeOriginal, OffsetTime or OffsetTimeDigitized (0x9010 to 0x9012), else the whole hours of TimeZoneOffset
/// (0x882A). nullopt: it has none.
std::optional<WrittenTime> exifTime(const std::string& path);

/// The times of pictures.
class PictureTimes {
 public:
  /// Throws mpm::Error as readTimeList().
  explicit PictureTimes(TimeOptions options);

  /// Looks at the names of all pictures of a source: they tell which numbers in a name are times.
  void learn(const std::vector<std::string>& files) { names_.learn(files); }

  /// The time of this image file; nullopt: it has none. A picture that its list lacks has the time of its EXIF or name.
  std::optional<PictureTime> of(const std::string& path) const;
  const CameraClock& clock() const { return clock_; }
  bool machinesZone() const { return !options_.time_zone; }
  /// How many pictures the list names.
  std::size_t listed() const { return list_.size(); }

 private:
  TimeOptions options_;
  CameraClock clock_;
  NameTimes names_{};
  std::map<std::string, WrittenTime> list_;
};

}  // namespace mpm::vision
