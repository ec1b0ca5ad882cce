// SPDX-License-Identifier: Apache-2.0
#include "cli/frames.h"

#include <algorithm>
#include <utility>

#include "base/number_text.h"
#include "mpm/error.hpp"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "vision/time.h"

namespace mpm::cli {

using namespace program;

Frames::Frames(FrameOptions options, bool show_progress) : options_(std::move(options)), show_progress_(show_progress) {
  images_only_ = std::ranges::all_of(options_.sources, [](const std::string& source) {
    return vision::parseSourceSpec(source).kind == vision::SourceKind::kImage;
  });
  open();
  progress_.emplace(show_progress_, size(), "frame");
}

void Frames::open() {
  vision::SourceOptions options{.timeout_s = options_.timeout_s,
                                .stop = &interrupted(),
                                .chosen = options_.chosen,
                                .apply_exif_rotation = options_.apply_exif_rotation};
  if (options_.leave_out)
    options.on_unreadable = [this](const std::string& why) {
      ++left_out_;
      progress_->note("left out: " + why);
      progress_->step();
    };
  opened_ = vision::openSource(options_.sources[source_], options);
}

std::optional<vision::Frame> Frames::next() {
  if (std::exchange(in_hand_, false)) progress_->step();
  while (!interrupted() && (options_.max_frames == 0 || read_ < options_.max_frames)) {
    if (std::optional<vision::Frame> frame = opened_->next()) {
      ++read_;
      in_hand_ = true;
      return frame;
    }
    if (source_ + 1 == options_.sources.size()) break;
    ++source_;
    if (!interrupted()) open();
  }
  progress_.reset();  // the next output starts on a new line
  return std::nullopt;
}

std::optional<int> Frames::size() const {
  const auto count = static_cast<int>(options_.sources.size());
  std::optional<int> frames = count == 1 ? opened_->size() : std::nullopt;
  if (count > 1 && images_only_) frames = count;
  if (options_.max_frames > 0) frames = std::min(frames.value_or(options_.max_frames), options_.max_frames);
  return frames;
}

void Frames::requireAll() const {
  if (left_out_ > 0)
    throw Error(std::to_string(left_out_) + " of " + counted(read_ + left_out_, "picture") + " could not be read");
}

void addMoment(const vision::Frame& frame, Json& json) {
  if (frame.unix_time) {
    json["time"] = isoTime(std::llround(*frame.unix_time * kSecondMs), true);
    if (frame.night) json["film"] = frame.film;
  }
  if (frame.night) json["night"] = *frame.night;
  if (frame.sun_elevation) json["sun_elevation"] = std::round(*frame.sun_elevation * 1e3) / 1e3;
}

}  // namespace mpm::cli
