// SPDX-License-Identifier: Apache-2.0
#include "vision/times/archive.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <thread>
#include <vector>

#include "base/number_text.h"
#include "mpm/error.hpp"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

std::string nameOf(const std::string& path) { return fs::path(path).filename().string(); }

std::string picturesHave(std::size_t count) { return counted(count, "picture") + (count == 1 ? " has" : " have"); }

bool tooSoon(UnixMs time, std::optional<UnixMs> last, double every_s) {
  return last && time >= *last && time < *last + std::llround(kDue * every_s * kSecondMs);
}

// Size and date; nullopt: it cannot be asked.
using FileState = std::optional<std::pair<std::uintmax_t, fs::file_time_type>>;

FileState stateOf(const std::string& path) {
  std::error_code error;
  const std::pair state(fs::file_size(path, error), fs::last_write_time(path, error));
  return error ? std::nullopt : FileState(state);
}

struct TimedPicture {
  std::string path;
  UnixMs time;
};

class ArchiveSource final : public FrameSource {
 public:
  ArchiveSource(SourceSpec source, ArchiveOptions archive, const SourceOptions& options)
      : source_(std::move(source)), archive_(std::move(archive)), options_(options), times_(archive_.times) {
    std::vector<std::string> files;
    try {
      files = sourceFiles(source_);
    } catch (const Error&) {
      if (!archive_.follow) throw;
    }
    for (const std::string& file : files) known_[file] = stateOf(file);
    if (files.empty()) note("no picture yet in '" + source_.shownText() + "'");
    alone_ = files.size() == 1 && !archive_.follow;
    plan(files);
    if (listed_ == 0 && times_.listed() > 0 && !archive_.follow && !stopped(options_))
      throw Error("'" + archive_.times.list + "' names no picture of '" + source_.shownText() + "', such as '" +
                  fs::absolute(files.front()).lexically_normal().string() +
                  "': begin its lines with the name of a picture, or with its whole path");
    if (untimed_ > 0 && untimed_ == files.size() && !archive_.follow)
      throw Error("no picture of '" + source_.shownText() + "' has a time " + whereLooked() +
                  ": give a list with --times list:FILE, or take the dates of the files with --times modified");
  }

  std::optional<Frame> next() override {
    while (!stopped(options_)) {
      try {
        if (auto frame = images_ ? images_->next() : std::nullopt) {
          frame->unix_time = static_cast<double>(plan_[static_cast<std::size_t>(frame->index)].time) / kSecondMs;
          return frame;
        }
      } catch (const Error& error) {
        if (!options_.on_unreadable || alone_) throw;
        options_.on_unreadable(error.what());
        continue;
      }
      if (stopped(options_)) break;
      if (!archive_.follow) {
        if (untimed_ == 0) break;
        throw Error(std::to_string(untimed_) + " of " + counted(known_.size(), "picture") +
                    (untimed_ == 1 ? " has no time and was left out" : " have no time and were left out"));
      }
      look();
    }
    return std::nullopt;
  }

  std::optional<int> size() const override { return static_cast<int>(fresh_); }

 private:
  void note(const std::string& text) const {
    if (options_.on_note) options_.on_note(text);
  }

  // Says that the work goes on, at most twice a second.
  void working() {
    if (const auto now = steadyNow(); now - said_ >= 500) {
      said_ = now;
      note({});
    }
  }

  std::string whereLooked() const {
    const auto from = archive_.times.from;
    if (from == TimeFrom::kExif) return "in its EXIF";
    if (from == TimeFrom::kName) return "in its name";
    return "in its EXIF or its name";
  }

  // Adds these to what comes next, by their times.
  void plan(const std::vector<std::string>& files) {
    std::vector<TimedPicture> found;
    std::array<std::size_t, 4> from{};
    std::vector<std::string> untimed;
    std::size_t assumed = 0;
    const std::string* later = nullptr;  // a file whose name is before that of a picture of an earlier time
    std::string backwards, doubtful;
    std::size_t doubts = 0;
    UnixMs last = INT64_MIN;
    for (const std::string& file : files) {
      if (stopped(options_)) return;
      working();
      const auto time = times_.of(file);
      if (!time) {
        untimed.push_back(file);
        continue;
      }
      ++from[static_cast<std::size_t>(time->from)];
      assumed += time->assumed_zone;
      if (time->in_name && doubts++ == 0)
        doubtful = "'" + nameOf(file) + "', " + isoTime(time->time) + " by its EXIF and " + isoTime(*time->in_name) +
                   " by its name";
      if (time->time < last && backwards.empty())
        backwards = "'" + nameOf(file) + "' is before '" + nameOf(*later) + "'";
      last = time->time;
      later = &file;
      found.push_back({file, time->time});
    }
    std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.time < b.time; });
    untimed_ += untimed.size();
    if (!untimed.empty() && (!found.empty() || archive_.follow))
      note(counted(untimed.size(), "picture") + " without a time " + whereLooked() +
           (untimed.size() == 1 ? " is" : " are") + " left out, such as '" + nameOf(untimed.front()) +
           "': --times list:FILE gives them one");
    if (found.empty()) return;

    std::string text = counted(found.size(), "picture") + " from " + isoTime(found.front().time) + " to " +
                       isoTime(found.back().time) + ", by ";
    for (std::size_t i = 0, kinds = 0; i < from.size(); ++i)
      if (from[i] > 0)
        text += (kinds++ > 0 ? " and " : "") + std::string(toString(static_cast<TimeFrom>(i))) +
                (from[i] == found.size() ? "" : " (" + std::to_string(from[i]) + ")");
    if (assumed > 0)
      text += ", read as " + timeZoneText(times_.timeZone()) +
              (times_.machinesZone() ? ", the standard time of this machine (--time-zone)" : "");
    const std::size_t listed = from[static_cast<std::size_t>(TimeFrom::kList)];
    listed_ += listed;
    if (times_.listed() > 0 && listed < found.size())
      note(counted(found.size() - listed, "picture") + " not in the list '" + archive_.times.list + "'");
    if (times_.listed() > listed && !archive_.follow && !alone_)
      note(counted(times_.listed() - listed, "line") + " of '" + archive_.times.list + "' name" +
           (times_.listed() == listed + 1 ? "s" : "") + " no picture here");
    if (doubts > 0)
      note(picturesHave(doubts) + " a time in the EXIF that is more than a day from that in the name, such as " +
           doubtful + ": EXIF counts; --times name takes the name");
    if (!backwards.empty()) note("taken in the order of their times, not of their names: " + backwards);
    std::size_t equal = 0;
    std::string equal_example;
    for (std::size_t i = 1; i < found.size(); ++i)
      if (found[i].time == found[i - 1].time && equal++ == 0)
        equal_example =
            "'" + nameOf(found[i - 1].path) + "' and '" + nameOf(found[i].path) + "', " + isoTime(found[i].time);
    if (equal > 0) note(picturesHave(equal) + " the time of another, such as " + equal_example + ": all are kept");

    std::vector<TimedPicture> wanted;
    std::size_t done = 0, others = 0;
    std::string other;
    const TimedPicture* last_done = nullptr;
    for (TimedPicture& picture : found) {
      if (tooSoon(picture.time, last_taken_, archive_.every_s)) continue;
      last_taken_ = picture.time;
      if (options_.chosen && !options_.chosen(picture.path)) continue;
      working();
      const Done state = archive_.done ? archive_.done(picture.path, picture.time) : Done::kNo;
      if (state == Done::kOther && others++ == 0) other = nameOf(picture.path);
      if (state != Done::kYes) {
        wanted.push_back(std::move(picture));
      } else {
        ++done;
        last_done = &picture;
      }
    }
    const std::size_t chosen = wanted.size() + done;
    fresh_ = wanted.size();
    if (archive_.show_last && wanted.empty() && done > 0) wanted.push_back(*last_done);
    if (chosen < found.size()) text += "; " + std::to_string(chosen) + " chosen";
    if (done > 0) text += "; " + std::to_string(done) + " stored already";
    if (!alone_) note(text);
    if (others > 0)
      note(picturesHave(others) + " the name and time of a stored one and another content, such as '" + other +
           "': stored as well. Another camera needs its own --db");
    plan_ = std::move(wanted);
    std::vector<std::string> paths;
    for (const TimedPicture& picture : plan_) paths.push_back(picture.path);
    SourceOptions all = options_;
    all.chosen = nullptr;
    images_ = openImages(std::move(paths), all);
  }

  // Waits a little, then plans the files that are new and no longer change.
  void look() {
    for (int i = 0; i < static_cast<int>(archive_.look_s * 20) && !stopped(options_); ++i) {
      working();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    std::map<std::string, FileState> changing;
    std::vector<std::string> complete;
    try {
      for (const std::string& file : sourceFiles(source_)) {
        const FileState state = stateOf(file);
        if (!state || known_[file] == state) continue;
        if (changing_[file] == state) complete.push_back(file);
        changing[file] = state;
      }
      changing_ = std::move(changing);
      if (complete.empty()) return;
      if (!archive_.times.list.empty()) times_ = PictureTimes(archive_.times);
    } catch (const Error&) {  // no picture yet, a disk that is away for a while, a list that is being written
      return;
    }
    for (const std::string& file : complete) known_[file] = changing_[file];
    images_.reset();
    plan(complete);
  }

  SourceSpec source_;
  ArchiveOptions archive_;
  SourceOptions options_;
  PictureTimes times_;
  std::map<std::string, FileState> known_;     // files that were planned: a cut-off one comes again when it has grown
  std::map<std::string, FileState> changing_;  // since the last look
  std::vector<TimedPicture> plan_;
  std::unique_ptr<FrameSource> images_;  // of the plan
  std::optional<UnixMs> last_taken_;
  std::size_t untimed_ = 0, listed_ = 0, fresh_ = 0;  // fresh_: pictures of the plan that are not done
  std::int64_t said_ = 0;
  bool alone_ = false;
};

class DatedVideo final : public FrameSource {
 public:
  DatedVideo(const SourceSpec& source, ArchiveOptions archive, const SourceOptions& options)
      : name_(source.shownText()),
        archive_(std::move(archive)),
        options_(options),
        video_(openUnguarded(source, options)) {}

  std::optional<Frame> next() override {
    while (auto frame = video_->next()) {
      if (!frame->media_time) throw Error("'" + name_ + "' does not say when its frames come: --start needs that");
      const UnixMs time = *archive_.start + std::llround(*frame->media_time * kSecondMs);
      if (tooSoon(time, last_taken_, archive_.every_s)) continue;
      last_taken_ = time;
      if (archive_.done && archive_.done({}, time) == Done::kYes) {
        if (options_.on_note) options_.on_note({});
        continue;
      }
      frame->unix_time = static_cast<double>(time) / kSecondMs;
      return frame;
    }
    return std::nullopt;
  }

  std::optional<int> size() const override { return archive_.every_s > 0 ? std::nullopt : video_->size(); }

 private:
  std::string name_;
  ArchiveOptions archive_;
  SourceOptions options_;
  std::unique_ptr<FrameSource> video_;
  std::optional<UnixMs> last_taken_;
};

}  // namespace

bool isArchive(const SourceSpec& source, const ArchiveOptions& options) {
  using enum SourceKind;
  return source.kind == kImage || source.kind == kFolder || source.kind == kGlob ||
         (source.kind == kVideo && options.start);
}

std::unique_ptr<FrameSource> openArchive(const SourceSpec& source, const ArchiveOptions& archive,
                                         const SourceOptions& options) {
  if (source.kind == SourceKind::kVideo) return std::make_unique<DatedVideo>(source, archive, options);
  return std::make_unique<ArchiveSource>(source, archive, options);
}

}  // namespace mpm::vision
