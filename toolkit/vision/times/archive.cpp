// SPDX-License-Identifier: Apache-2.0
#include "vision/times/archive.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "mpm/error.hpp"
#include "vision/pictures/pictures.h"
#include "vision/sources/sources.h"
#include "vision/times/due.h"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

std::string nameOf(const std::string& path) { return fs::path(path).filename().string(); }

std::string picturesHave(std::size_t count) { return counted(count, "picture") + (count == 1 ? " has" : " have"); }

// The choice of --every among pictures in the order of their times, beside those that were taken before. Of several
// that may take one turn the last counts that is not late: of a picture each minute one in exactly so many minutes.
class Thinning {
 public:
  // `taken`: in their order; it must outlive this.
  Thinning(double every_s, const std::vector<UnixMs>& taken) : due_(every_s), taken_(taken) {}

  // `later`: the first time after `time` that a picture has; nullopt: there is none. True also where a picture of this
  // time was taken before.
  bool takes(UnixMs time, std::optional<UnixMs> later) {
    if (time > now_) step_ = now_ == INT64_MIN ? 0 : time - now_;
    now_ = std::max(now_, time);
    if (!later && step_ > 0) later = time + step_;  // more pictures may come, as far apart as those before
    for (; at_ < taken_.size() && taken_[at_] <= time; ++at_) due_.take(taken_[at_]);
    if (at_ > 0 && taken_[at_ - 1] == time) return true;
    const UnixMs latest = at_ < taken_.size() ? taken_[at_] - due_.least() : INT64_MAX;
    if (time > latest || !due_.at(time)) return false;
    if (later && due_.next() && *later <= std::min(latest, *due_.next())) return false;
    due_.take(time);
    return true;
  }

 private:
  Due due_;
  const std::vector<UnixMs>& taken_;
  std::size_t at_ = 0;                 // of taken_: the first that due_ does not know
  UnixMs now_ = INT64_MIN, step_ = 0;  // of pictures: the time of the last, and since the one before; 0: not known
};

// Size and date; nullopt: it cannot be asked.
using FileState = std::optional<std::pair<std::uintmax_t, fs::file_time_type>>;

FileState stateOf(const std::string& path) {
  std::error_code error;
  const std::pair state(fs::file_size(path, error), fs::last_write_time(path, error));
  return error ? std::nullopt : FileState(state);
}

struct FoundPicture {
  std::string path;
  PictureTime time;

  TimedPicture timed() const { return {path, time.time}; }
};

// Which of the names of one picture is taken. The name of the latest picture leads to another one soon.
bool isBetterName(const std::string& name, const std::string& than) {
  const auto rank = [](const std::string& path) {
    const std::string stem = fs::path(path).stem().string();
    return timeInName(stem) ? 2 : stem.find_first_of("0123456789") != std::string::npos ? 1 : 0;
  };
  return rank(name) > rank(than);
}

// Compares files. Each is opened once for its digest, however many it is compared with.
class Contents {
 public:
  bool areOne(const std::string& a, const std::string& b) {
    std::error_code error;
    if (fs::file_size(a, error) != fs::file_size(b, error) || error) return false;
    if (digestOf(a) == 0 || digestOf(a) != digestOf(b)) return false;
    std::ifstream first(a, std::ios::binary), second(b, std::ios::binary);
    using Bytes = std::istreambuf_iterator<char>;
    return first && second && std::equal(Bytes(first), {}, Bytes(second), {});
  }

 private:
  std::int64_t digestOf(const std::string& file) {  // of parts of it
    const auto [known, is_new] = digests_.emplace(file, 0);
    if (is_new) known->second = pictureDigest(file);
    return known->second;
  }

  std::map<std::string, std::int64_t> digests_;
};

class ArchiveSource final : public FrameSource {
 public:
  ArchiveSource(SourceSpec source, ArchiveOptions archive, const SourceOptions& options)
      : source_(std::move(source)), archive_(std::move(archive)), options_(options), times_(archive_.times) {
    std::vector<std::string> files;
    try {
      files = pictureFiles(source_);
    } catch (const Error&) {
      if (!archive_.follow) throw;
    }
    for (const std::string& file : files) known_[file] = stateOf(file);
    if (files.empty()) note("no picture yet in '" + source_.shownText() + "'");
    alone_ = files.size() == 1 && !archive_.follow;
    times_.learn(files);
    plan(files);
    if (listed_ == 0 && times_.listed() > 0 && !archive_.follow && !stopped(options_)) {
      throw Error("'" + archive_.times.list + "' names no picture of '" + source_.shownText() + "', such as '" +
                  fs::absolute(files.front()).lexically_normal().string() +
                  "': begin its lines with the name of a picture, or with its whole path");
    }
    if (untimed_ > 0 && untimed_ == files.size() && !archive_.follow) {
      throw Error("no picture of '" + source_.shownText() + "' has a time " + whereLooked() +
                  ": give a list with --times list:FILE, or take the dates of the files with --times modified");
    }
  }

  std::optional<Frame> next() override {
    while (!stopped(options_)) {
      try {
        if (auto frame = images_ ? images_->next() : std::nullopt) {
          next_ = static_cast<std::size_t>(frame->index);
          frame->unix_time = static_cast<double>(plan_[next_++].time.time) / kSecondMs;
          return frame;
        }
      } catch (const Error& error) {
        if (!options_.on_unreadable || alone_) throw;
        options_.on_unreadable(error.what(), plan_.at(next_++).time.time);
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
    std::vector<FoundPicture> found;
    std::vector<std::string> untimed;
    const std::string* later = nullptr;  // a file whose name is before that of a picture of an earlier time
    std::string backwards;
    UnixMs last = INT64_MIN;
    for (const std::string& file : files) {
      if (stopped(options_)) return;
      working();
      const auto time = times_.of(file);
      if (!time) {
        untimed.push_back(file);
        continue;
      }
      if (time->time < last && backwards.empty())
        backwards = "'" + nameOf(file) + "' is before '" + nameOf(*later) + "'";
      last = time->time;
      later = &file;
      found.push_back({file, *time});
    }
    std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.time.time < b.time.time; });
    leaveOutCopies(found, untimed);
    untimed_ += untimed.size();
    if (!untimed.empty() && (!found.empty() || archive_.follow)) {
      note(counted(untimed.size(), "picture") + " without a time " + whereLooked() +
           (untimed.size() == 1 ? " is" : " are") + " left out, such as '" + nameOf(untimed.front()) +
           "': --times list:FILE gives them one");
    }
    if (const auto on_listed = std::exchange(archive_.on_listed, nullptr)) {
      std::vector<TimedPicture> listed;
      for (const FoundPicture& picture : found) listed.push_back(picture.timed());
      on_listed(listed);
    }
    if (const auto done_times = std::exchange(archive_.done_times, nullptr)) taken_ = done_ = done_times();
    if (found.empty()) return;

    listed_ += static_cast<std::size_t>(
        std::ranges::count_if(found, [](const FoundPicture& one) { return one.time.from == TimeFrom::kList; }));
    const Notes notes = notesOf(found, backwards);
    for (const std::string& text : notes.doubts) note(text);
    std::string text = notes.summary;
    std::vector<FoundPicture> wanted;
    std::size_t done = 0, others = 0;
    std::string other;
    const FoundPicture *latest = nullptr, *latest_done = nullptr;
    const std::vector<bool> takes = thinOut(found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      FoundPicture& picture = found[i];
      const UnixMs time = picture.time.time;
      if (!takes[i] || (options_.chosen && !options_.chosen(picture.path))) continue;
      working();
      const Done state = archive_.done ? archive_.done(picture.timed()) : Done::kNo;
      // Of two pictures of one time `every` takes one.
      if (state == Done::kNo && archive_.every_s > 0 && std::ranges::binary_search(done_, time)) continue;
      if (state == Done::kOther && others++ == 0) other = nameOf(picture.path);
      latest = &picture;
      if (state != Done::kYes) {
        wanted.push_back(std::move(picture));
      } else {
        ++done;
        latest_done = &picture;
      }
    }
    const std::size_t chosen = wanted.size() + done;
    fresh_ = wanted.size();
    if (archive_.show_last && latest_done && latest_done == latest) wanted.push_back(*latest_done);
    if (chosen < found.size()) text += "; " + std::to_string(chosen) + " chosen";
    if (done > 0) text += "; " + std::to_string(done) + " stored already";
    if (!alone_) note(text);
    if (others > 0) {
      note(picturesHave(others) + " the name and time of a stored one and another content, such as '" + other +
           "': stored as well. Another camera needs its own --db");
    }
    plan_ = std::move(wanted);
    std::vector<std::string> paths;
    for (const FoundPicture& picture : plan_) paths.push_back(picture.path);
    SourceOptions all = options_;
    all.chosen = nullptr;
    all.on_unreadable = nullptr;  // next() reports it, with its time
    next_ = 0;
    images_ = openImages(std::move(paths), all);
  }

  // What people should know of pictures that were found.
  struct Notes {
    std::string summary;                // how many, from when to when, and where their times are from
    std::vector<std::string> doubts{};  // what may be wrong with the times
  };

  // `found`: by time, at least one. `backwards`: two names that are not in the order of their times; empty: none.
  Notes notesOf(const std::vector<FoundPicture>& found, const std::string& backwards) const {
    std::array<std::size_t, 4> from{};
    std::size_t assumed = 0, doubts = 0, equal = 0;
    std::string doubtful, equal_example;
    for (const auto& [file, time] : found) {
      ++from[static_cast<std::size_t>(time.from)];
      assumed += time.assumed_zone;
      if (time.in_name && doubts++ == 0) {
        doubtful = "'" + nameOf(file) + "', " + isoTime(time.time) + " by its EXIF and " + isoTime(*time.in_name) +
                   " by its name";
      }
    }
    for (std::size_t i = 1; i < found.size(); ++i) {
      if (found[i].time.time == found[i - 1].time.time && equal++ == 0) {
        equal_example =
            "'" + nameOf(found[i - 1].path) + "' and '" + nameOf(found[i].path) + "', " + isoTime(found[i].time.time);
      }
    }

    Notes notes{.summary = counted(found.size(), "picture") + " from " + isoTime(found.front().time.time) + " to " +
                           isoTime(found.back().time.time) + ", by "};
    for (std::size_t i = 0, kinds = 0; i < from.size(); ++i) {
      if (from[i] > 0) {
        notes.summary += (kinds++ > 0 ? " and " : "") + std::string(toString(static_cast<TimeFrom>(i))) +
                         (from[i] == found.size() ? "" : " (" + std::to_string(from[i]) + ")");
      }
    }
    if (assumed > 0) {
      notes.summary += ", read as " + times_.clock().name() +
                       (times_.machinesZone() ? ", the standard time of this machine (--time-zone)" : "");
    }
    const std::size_t listed = from[static_cast<std::size_t>(TimeFrom::kList)];
    if (times_.listed() > 0 && listed < found.size()) {
      notes.doubts.push_back(counted(found.size() - listed, "picture") + " not in the list '" + archive_.times.list +
                             "'");
    }
    if (times_.listed() > listed && !archive_.follow && !alone_) {
      notes.doubts.push_back(counted(times_.listed() - listed, "line") + " of '" + archive_.times.list + "' name" +
                             (times_.listed() == listed + 1 ? "s" : "") + " no picture here");
    }
    if (doubts > 0) {
      notes.doubts.push_back(picturesHave(doubts) +
                             " a time in the EXIF that is more than a day from that in the name, such as " + doubtful +
                             ": EXIF counts; --times name takes the name");
    }
    if (!backwards.empty())
      notes.doubts.push_back("taken in the order of their times, not of their names: " + backwards);
    if (equal > 0)
      notes.doubts.push_back(picturesHave(equal) + " the time of another, such as " + equal_example + ": all are kept");
    return notes;
  }

  // Which of these are taken by `every`, beside those that were taken before.
  std::vector<bool> thinOut(const std::vector<FoundPicture>& found) {
    std::vector<bool> takes(found.size(), true);
    if (archive_.every_s <= 0) return takes;
    Thinning thinning(archive_.every_s, taken_);
    std::vector<UnixMs> fresh;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const UnixMs time = found[i].time.time;
      const auto later = std::find_if(found.begin() + static_cast<std::ptrdiff_t>(i), found.end(),
                                      [&](const FoundPicture& other) { return other.time.time > time; });
      takes[i] = thinning.takes(time, later == found.end() ? std::nullopt : std::optional(later->time.time));
      if (takes[i]) fresh.push_back(time);
    }
    std::vector<UnixMs> all;
    std::ranges::set_union(taken_, fresh, std::back_inserter(all));
    taken_ = std::move(all);
    return takes;
  }

  // One picture under two names is one: files of one content at one time, and a copy of any picture that has no time.
  // Such a copy is often the latest picture, and is written again and again.
  void leaveOutCopies(std::vector<FoundPicture>& found, std::vector<std::string>& untimed) {
    std::size_t copies = 0;
    std::string example;
    const auto leaveOut = [&](const std::string& copy, const std::string& of) {
      if (copies++ == 0) example = "'" + nameOf(copy) + "' of '" + nameOf(of) + "'";
    };
    Contents contents;
    std::vector<FoundPicture> kept;
    for (FoundPicture& picture : found) {
      const auto& [path, state] = *known_.find(picture.path);
      const std::string* const name = &path;
      // A camera whose clock is lost at each start gives all its pictures one time.
      const std::pair place(picture.time.time, state ? state->first : 0);
      const auto [first, end] = by_time_.equal_range(place);
      const auto same = std::find_if(first, end, [&](const auto& other) {
        return *other.second != picture.path && contents.areOne(*other.second, picture.path);
      });
      if (same == end) {
        if (std::none_of(first, end, [&](const auto& other) { return other.second == name; }))
          by_time_.emplace(place, name);
        kept.push_back(std::move(picture));
        continue;
      }
      const auto before = std::ranges::find(kept.rbegin(), kept.rend(), *same->second, &FoundPicture::path);
      if (before != kept.rend() && isBetterName(picture.path, before->path)) {
        leaveOut(before->path, picture.path);
        *before = std::move(picture);
        same->second = name;
      } else {
        leaveOut(picture.path, *same->second);
      }
    }
    found = std::move(kept);
    if (!untimed.empty() && !by_time_.empty()) {
      std::multimap<std::uintmax_t, const std::string*> by_size;
      for (const auto& [place, name] : by_time_)
        if (const FileState& state = known_[*name]) by_size.emplace(state->first, name);
      std::erase_if(untimed, [&](const std::string& file) {
        const FileState state = stateOf(file);
        if (!state) return false;
        const auto [first, end] = by_size.equal_range(state->first);
        const auto same = std::find_if(first, end, [&](const auto& one) { return contents.areOne(*one.second, file); });
        if (same != end) leaveOut(file, *same->second);
        return same != end;
      });
    }
    if (copies > 0 && !std::exchange(said_copies_, true)) {
      note(counted(copies, "picture") + (copies == 1 ? " is a copy of another, " : " are copies of others, such as ") +
           example + ": each counts once");
    }
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
      const std::vector<std::string> files = pictureFiles(source_);
      for (const std::string& file : files) {
        const FileState state = stateOf(file);
        if (!state || known_[file] == state) continue;
        if (changing_[file] == state) complete.push_back(file);
        changing[file] = state;
      }
      changing_ = std::move(changing);
      if (complete.empty()) return;
      if (!archive_.times.list.empty()) times_ = PictureTimes(archive_.times);
      times_.learn(files);
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
  // Names in known_ of the pictures that have a time, by it and by the size of the file.
  std::multimap<std::pair<UnixMs, std::uintmax_t>, const std::string*> by_time_;
  std::vector<FoundPicture> plan_;
  std::size_t next_ = 0;                 // of plan_: the picture that images_ reads next
  std::unique_ptr<FrameSource> images_;  // of the plan
  std::vector<UnixMs> done_;             // ArchiveOptions::done_times
  std::vector<UnixMs> taken_;            // with `every`, in their order: when those were that are done or were planned
  std::size_t untimed_ = 0, listed_ = 0, fresh_ = 0;  // fresh_: pictures of the plan that are not done
  std::int64_t said_ = 0;
  bool alone_ = false, said_copies_ = false;
};

class DatedVideo final : public FrameSource {
 public:
  DatedVideo(const SourceSpec& source, ArchiveOptions archive, const SourceOptions& options)
      : name_(source.shownText()),
        archive_(std::move(archive)),
        options_(options),
        video_(openUnguarded(source, options)) {}

  std::optional<Frame> next() override {
    while (auto frame = read()) {
      const UnixMs time = timeOf(*frame);
      if (const auto on_listed = std::exchange(archive_.on_listed, nullptr)) on_listed({{{}, time}});
      if (archive_.every_s > 0) {
        if (!thinning_) {
          if (archive_.done_times) done_ = archive_.done_times();
          thinning_.emplace(archive_.every_s, done_);
        }
        ahead_ = readAhead();
        if (!thinning_->takes(time, ahead_ ? std::optional(timeOf(*ahead_)) : std::nullopt)) continue;
      }
      if (archive_.done && archive_.done({{}, time}) == Done::kYes) {
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
  UnixMs timeOf(const Frame& frame) const {
    if (!frame.media_time) throw Error("'" + name_ + "' does not say when its frames come: --start needs that");
    return *archive_.start + std::llround(*frame.media_time * kSecondMs);
  }

  std::optional<Frame> read() {
    if (ahead_) return std::exchange(ahead_, std::nullopt);
    if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
    return video_->next();
  }

  // A video that is cut off fails behind its last frame, which counts.
  std::optional<Frame> readAhead() {
    try {
      return video_->next();
    } catch (const Error&) {
      failed_ = std::current_exception();
      return std::nullopt;
    }
  }

  std::string name_;
  ArchiveOptions archive_;
  SourceOptions options_;
  std::unique_ptr<FrameSource> video_;
  std::vector<UnixMs> done_;  // with `every`: ArchiveOptions::done_times
  std::optional<Thinning> thinning_;
  std::optional<Frame> ahead_;  // with `every`: the frame behind the one that next() gave
  std::exception_ptr failed_;   // in place of that frame
};

}  // namespace

bool isArchive(const SourceSpec& source, const ArchiveOptions& options) {
  return source.isImages() || (source.kind == SourceKind::kVideo && options.start);
}

std::vector<std::string> pictureFiles(const SourceSpec& source) {
  std::vector<std::string> files = sourceFiles(source);
  struct Name {
    std::size_t index = 0;
    bool link = false;
  };
  std::map<std::pair<dev_t, ino_t>, Name> names;
  std::vector<bool> drop(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    struct stat file {};
    if (::lstat(files[i].c_str(), &file) != 0) continue;
    const bool link = S_ISLNK(file.st_mode);
    if (link && ::stat(files[i].c_str(), &file) != 0) {
      drop[i] = true;
      continue;
    }
    const auto [same, fresh] = names.try_emplace({file.st_dev, file.st_ino}, Name{i, link});
    if (fresh) continue;
    const bool better = link != same->second.link ? !link : isBetterName(files[i], files[same->second.index]);
    drop[better ? same->second.index : i] = true;
    if (better) same->second = {i, link};
  }
  if (std::ranges::count(drop, true) == std::ssize(files)) return files;  // who opens them says why they cannot be read
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (!drop[i]) kept.push_back(std::move(files[i]));
  return kept;
}

std::unique_ptr<FrameSource> openArchive(const SourceSpec& source, const ArchiveOptions& archive,
                                         const SourceOptions& options) {
  if (source.kind == SourceKind::kVideo) return std::make_unique<DatedVideo>(source, archive, options);
  return std::make_unique<ArchiveSource>(source, archive, options);
}

}  // namespace mpm::vision
