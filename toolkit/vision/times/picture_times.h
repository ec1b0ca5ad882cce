// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "vision/time.h"

namespace mpm::vision {

/// Where the time of a picture comes from.
enum class TimeFrom {
  kList,
  kExif,      ///< DateTimeOriginal, with SubSecTimeOriginal and OffsetTimeOriginal
  kName,      ///< timeInName()
  kModified,  ///< when the file was written last
};

struct TimeOptions {
  /// nullopt: a list if there is one, else EXIF, else the name of the file. Never when the file was written, unless it
  /// is asked for: a copy has another time.
  std::optional<TimeFrom> from{};
  std::string list{};              ///< path of a list; empty: none
  std::optional<int> time_zone{};  ///< minutes east of UTC of times without offset; nullopt: machineTimeZone()

  int zone() const { return time_zone ? *time_zone : machineTimeZone(); }

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

/// DateTimeOriginal of a JPEG or PNG file; nullopt: it has none.
std::optional<WrittenTime> exifTime(const std::string& path);

/// The times of pictures.
class PictureTimes {
 public:
  /// Throws mpm::Error as readTimeList().
  explicit PictureTimes(TimeOptions options);

  /// The time of this image file; nullopt: it has none. A picture that its list lacks has the time of its EXIF or name.
  std::optional<PictureTime> of(const std::string& path) const;
  int timeZone() const { return time_zone_; }
  bool machinesZone() const { return !options_.time_zone; }
  /// How many pictures the list names.
  std::size_t listed() const { return list_.size(); }

 private:
  TimeOptions options_;
  int time_zone_;
  std::map<std::string, WrittenTime> list_;
};

}  // namespace mpm::vision
