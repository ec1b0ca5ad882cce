// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "program/terminal/output.h"
#include "vision/sources/source.h"

namespace mpm::cli {

/// Which frames a verb reads.
struct FrameOptions {
  std::vector<std::string> sources{};
  int max_frames = 0;  ///< 0: all
  double timeout_s = vision::SourceOptions{}.timeout_s;
  bool leave_out = true;  ///< pictures of a folder that cannot be read; false: such a picture is an error
  bool apply_exif_rotation = true;
  std::function<bool(const std::string& path)> chosen{};  ///< vision::SourceOptions::chosen
};

/// The frames of the sources, one source after the other, with "frame 12 of 400" and the time left on stderr. Ends when
/// a person interrupts.
class Frames {
 public:
  /// Opens the first source.
  Frames(FrameOptions options, bool show_progress);

  std::optional<vision::Frame> next();
  /// Makes room for a line on the same terminal, above the progress.
  void clearProgress() const { progress_->clear(); }

  int read() const { return read_; }
  /// Which source the last frame is of.
  std::size_t source() const { return source_; }
  /// Another number when frames of another camera or film begin. Single pictures are frames of one.
  std::size_t series() const { return images_only_ ? 0 : source_; }
  /// How many there will be, when it is known.
  std::optional<int> size() const;
  /// Classes of the labels of the frames; vision::FrameSource::classNames().
  std::vector<std::string> classNames() const { return opened_->classNames(); }
  /// Throws mpm::Error when pictures were left out: the result is not of all that was asked for.
  void requireAll() const;

 private:
  void open();

  FrameOptions options_;
  bool show_progress_;
  bool images_only_ = false;  // every source is one image
  std::unique_ptr<vision::FrameSource> opened_;
  std::optional<program::Progress> progress_;
  std::size_t source_ = 0;
  int read_ = 0, left_out_ = 0;
  bool in_hand_ = false;  // a frame that progress does not count yet
};

/// Adds "time" (ISO 8601, UTC), "film", "night" and "sun_elevation" (degrees) of the frame, those that its source
/// knows.
void addMoment(const vision::Frame& frame, Json& json);

}  // namespace mpm::cli
