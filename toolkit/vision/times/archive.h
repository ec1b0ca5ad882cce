// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vision/sources/source.h"
#include "vision/times/picture_times.h"

namespace mpm::vision {

/// Whether a picture was stored before.
enum class Done {
  kNo,
  kYes,
  kOther,  ///< one of its name and time, with another content
};

/// A picture of an archive; a frame of a video has no path.
struct TimedPicture {
  std::string path;
  UnixMs time = 0;
};

struct ArchiveOptions {
  TimeOptions times{};
  std::optional<UnixMs> start{};  ///< of a video: when its first frame was taken
  double every_s = 0;             ///< at most one picture in this time, by the pictures' times (Due); 0: all
  bool follow = false;            ///< of a folder or glob: never ends, and waits for new pictures
  double look_s = 2;              ///< with `follow`: between two looks. A file counts once two find it the same
  bool show_last = false;         ///< the last picture comes again where it is done: it is what there is to look at
  /// Called once, before `done`, with all pictures that are there by then, in the order of their times; with the first
  /// frame of a video. Null: not called.
  std::function<void(const std::vector<TimedPicture>& pictures)> on_listed{};
  /// Whether this picture is done already. Null: none is.
  std::function<Done(const TimedPicture& picture)> done{};
  /// The times of all that is done, in their order, asked once and after `on_listed`: with `every_s` no picture is
  /// taken too near to one of them. Null: none is done.
  std::function<std::vector<UnixMs>()> done_times{};
};

/// Whether openArchive() knows times of what this source gives.
bool isArchive(const SourceSpec& source, const ArchiveOptions& options);

/// sourceFiles(), each picture under one name: not under that of a link to it (Motion keeps lastsnap.jpg) or of a
/// further hard link. A name with a time is preferred. A link that leads nowhere is left out.
std::vector<std::string> pictureFiles(const SourceSpec& source);

/// The pictures of an image, folder or glob in the order of their times, or the frames of a video that began at
/// options.start; Frame::unix_time is set. The pictures of --shard, SourceOptions::chosen, are chosen last, so that the
/// parts of all machines are the whole. Says through SourceOptions::on_note what it found: how many pictures, where
/// their times come from, the time zone that it assumed, pictures of one time, names that have another order. A copy of
/// another picture, of the same time or without one, is left out.
///
/// A picture without time is left out: next() throws mpm::Error that counts them, after the last picture. Throws
/// mpm::Error when none has a time, and as openSource() and readTimeList() do.
std::unique_ptr<FrameSource> openArchive(const SourceSpec& source, const ArchiveOptions& archive,
                                         const SourceOptions& options);

}  // namespace mpm::vision
