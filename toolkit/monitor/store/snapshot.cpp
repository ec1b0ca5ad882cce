// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/snapshot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <opencv2/imgcodecs.hpp>
#include <string_view>
#include <thread>
#include <utility>

#include "base/atomic_file.h"
#include "base/json_file.h"
#include "base/open_file.h"
#include "base/visible_text.h"
#include "evaluation/numbers.h"
#include "monitor/clocks.h"
#include "mpm/error.hpp"
#include "vision/labels/classes.h"
#include "vision/pictures/estimate_files.h"
#include "vision/pictures/pictures.h"
#include "vision/sources/source.h"
#include "vision/times/due.h"

namespace mpm::monitor {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxDescription = 1U << 20;  // bytes of the .json of a picture

std::string toText(const Json& json) { return toLines(json) + '\n'; }

// `owner`: masked(). Adds whose a picture is, and what is hidden in it.
void addFacts(Json& json, const InferenceResult& result, const PictureOwner& owner) {
  json["source"] = owner.source;
  json["camera"] = owner.camera;
  json["database"] = owner.database;
  if (result.hidden_by)
    json["hides"] = {{"regions", result.hidden_by->regionsDigest()}, {"blur", result.hidden_by->blurred}};
}

std::string describe(const InferenceResult& result, const Sample& sample, const PictureOwner& owner) {
  Json json = mpm::monitor::toJson(sample, vision::classNames(*result.model), toString(result.model->reduction));
  json["place"] = mpm::monitor::toJson(sample.view_offset);
  addFacts(json, result, owner);
  json["model"] = result.model_path;
  json["ms"] = evaluation::toJson(result.estimate.ms);
  if (!result.estimate.depth.empty()) json["depth"] = vision::depthJson(result.estimate, *result.model);
  return toText(json);
}

// As it is stored.
PictureOwner masked(PictureOwner owner) {
  owner.source = vision::redactCredentials(owner.source);
  return owner;
}

bool isOf(const PictureOwner& owner, const std::string& stem) {
  const auto found = snapshotOwner(stem);
  return found && found->sameAs(owner);
}

// Where a picture of this moment goes: without an ending, in a folder that exists.
std::string stemFor(const std::string& folder, UnixMs time, const PictureOwner& owner) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::error_code not_seen;
  if (!fs::is_directory(folder, not_seen))
    throw Error("cannot make the folder '" + folder + "'" + (error ? ": " + error.message() : ""));
  for (;; ++time) {
    std::string stem = (fs::path(folder) / fileTime(time, true)).string();
    if (!fs::exists(stem + ".json", not_seen) || isOf(owner, stem)) return stem;
  }
}

// Removes what was written of a picture whose last file failed: retention finds whose it is by its .json.
struct UnlessWhole {
  std::string stem;

  ~UnlessWhole() {
    using Ending = vision::EstimateFiles;
    std::error_code error;
    if (fs::exists(stem + ".json", error) || error) return;
    for (const char* ending : {".png", Ending::kOverlay, Ending::kIds, Ending::kSegments, Ending::kDepth,
                               Ending::kDepthColors, Ending::kMerge})
      fs::remove(stem + ending, error);
  }
};

// A frame of a recording: the picture and whose it is.
std::string writeRecorded(const std::string& folder, const InferenceResult& result, const PictureOwner& owner) {
  const std::string stem = stemFor(folder, result.frame.time, owner);
  const UnlessWhole part{stem};
  vision::writePicture(stem + ".png", result.frame.image, result.readers());
  Json json = Json::object();
  addFacts(json, result, owner);
  writeFileAtomically(stem + ".json", toText(json), false, result.readers());
  return stem + ".png";
}

std::string stemOf(const std::string& name) { return name.substr(0, kSnapshotTime); }

bool isOf(const PictureOwner& owner, const std::string& folder, const std::string& name) {
  return isOf(owner, (fs::path(folder) / stemOf(name)).string());
}

// A name that writeSnapshot() gives: "2026-06-01T12-00-00.250Z_overlay.png".
bool isSnapshotFile(std::string_view name) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd-dd-dd.dddZ";
  if (name.size() < kForm.size() || !std::equal(kForm.begin(), kForm.end(), name.begin(), [](char form, char is) {
        return form == 'd' ? is >= '0' && is <= '9' : is == form;
      }))
    return false;
  name.remove_prefix(kForm.size());
  for (const char* part : {"", "_overlay", "_segments", "_depth", "_depth_colors", "_merge"}) {
    for (const char* type : {".png", ".json"})
      if (name == std::string(part) + type) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> snapshotFiles(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error, not_seen;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (const std::string name = entry->path().filename().string();
        isSnapshotFile(name) && !entry->is_symlink(not_seen))
      names.push_back(name);
  }
  if (error) throw Error("cannot read folder '" + folder + "': " + error.message());
  std::ranges::sort(names);
  return names;
}

bool PictureOwner::sameAs(const PictureOwner& other) const {
  return utf8Text(source) == utf8Text(other.source) && database == other.database;  // a file holds the former
}

UnixMs snapshotTime(const std::string& name) {
  std::string time = stemOf(name);
  time[13] = time[16] = ':';  // as isoTime() writes it
  return vision::timeOfIso(time).value_or(0);
}

std::optional<PictureOwner> snapshotOwner(const std::string& stem) {
  try {
    return readStored(stem).owner;
  } catch (const Error&) {
    return std::nullopt;
  }
}

namespace {

// Of a region, or of the whole picture.
std::map<std::string, double> areasIn(const JsonValue& measured) {
  std::map<std::string, double> areas;
  if (const auto shares = measured.find("area_fraction"))
    for (const auto& [name, share] : shares->json().items()) areas[name] = shares->at(name).number();
  return areas;
}

}  // namespace

StoredFrame readStored(const std::string& stem) {
  const JsonValue json = readJsonFile(stem + ".json", kMaxDescription);
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found ? found->text() : std::string();
  };
  StoredFrame frame{.time = snapshotTime(fs::path(stem).filename().string()), .stem = stem};
  frame.owner = {.source = json.at("source").text(), .database = text("database"), .camera = text("camera")};
  if (const auto flag = json.find("flagged"); flag && flag->json().is_number()) frame.flagged = flag->number() != 0;
  if (const auto place = json.find("place")) {
    frame.view_offset = {.right = place->at("right_px").number(),
                         .down = place->at("down_px").number(),
                         .turn = place->at("turn_degrees").number(),
                         .zoom = place->at("zoom").number()};
  }
  if (const auto counts = json.find("token_counts"))
    for (const JsonValue& count : counts->list()) frame.token_counts.push_back(count.number());
  if (const auto ms = json.find("ms")) frame.ms = ms->at("total").number();
  frame.areas[""] = areasIn(json);
  if (const auto regions = json.find("regions"))
    for (const auto& [name, measured] : regions->json().items()) frame.areas[name] = areasIn(regions->at(name));
  if (const auto hides = json.find("hides")) {
    frame.hides_regions = hides->at("regions").text();
    for (const JsonValue& name : hides->at("blur").list()) frame.blurs.push_back(name.text());
  }
  return frame;
}

bool standsForDay(const std::string& stem, const std::string& ending) try {
  std::error_code error;
  return fs::exists(stem + ending, error) && !readStored(stem).flagged;
} catch (const Error&) {  // removed meanwhile, or damaged
  return false;
}

cv::Size requireOrdinary(const std::string& path) {
  constexpr std::uint64_t kMaxBytes = 256U << 20, kMaxPixels = 100'000'000;
  constexpr std::size_t kHeader = 24;  // of a PNG, with its width and height
  try {
    const OpenFile file(path);
    if (file.size() > kMaxBytes) throw Error("it is larger than " + std::to_string(kMaxBytes >> 20) + " MiB");
    std::array<unsigned char, kHeader> header{};
    if (file.size() < kHeader) return {};
    file.read(0, header.data(), header.size());
    const auto number = [&](std::size_t at) {
      std::uint64_t value = 0;
      for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | header[i];
      return value;
    };
    const std::uint64_t width = number(16), height = number(20);
    if (width * height > kMaxPixels)
      throw Error("it has more than " + std::to_string(kMaxPixels / 1'000'000) + " million pixels");
    return {static_cast<int>(width), static_cast<int>(height)};
  } catch (const Error& error) {
    throw Error("cannot read '" + path + "': " + error.what());
  }
}

PrivacyOptions StoredFrame::showsOf(const PrivacyOptions& hidden) const {
  PrivacyOptions shown = hidden;
  if (hides_regions == hidden.regionsDigest()) shown.hidden.clear();
  std::erase_if(shown.blurred, [&](const std::string& name) { return std::ranges::count(blurs, name) > 0; });
  return shown;
}

cv::Mat StoredFrame::picture(const std::string& ending, const PrivacyOptions& hidden) const {
  const auto read = [&](const std::string& path) {
    requireOrdinary(path);
    return vision::readPicture(path);
  };
  const cv::Mat stored = read(stem + ending);
  const PrivacyOptions shown = showsOf(hidden);
  if (!shown.on()) return stored;
  const cv::Size size = ending == ".png" ? stored.size() : read(stem + ".png").size();
  return hiddenPicture(stored, size, time, view_offset, shown);
}

std::string writeSnapshot(const std::string& folder, const InferenceResult& result, const Sample& sample,
                          const PictureOwner& whose, const OverlayStyle& style, bool merge_map) {
  const PictureOwner owner = masked(whose);
  const std::string stem = stemFor(folder, result.frame.time, owner);
  const UnlessWhole part{stem};
  const Readers readers = result.readers();
  vision::writePicture(stem + ".png", result.frame.image, readers);
  const bool chosen = style.colors.size() >= static_cast<std::size_t>(result.model->classes);
  const vision::EstimateFiles files = vision::estimateFiles(
      result.estimate, result.frame.image, *result.model,
      chosen ? style.colors : vision::classColors(result.model->facts, result.model->classes), style.opacity);
  for (const auto& [ending, picture] : files.pictures) vision::writePicture(stem + ending, picture, readers);
  if (merge_map && !result.estimate.cluster_of_token.empty()) {
    cv::Mat merged = vision::mergePicture(result.frame.image, result.estimate);
    if (!result.hidden.empty()) merged.setTo(cv::Scalar::all(0), result.hidden);
    vision::writePicture(stem + vision::EstimateFiles::kMerge, merged, readers);
  }
  for (const auto& [ending, text] : files.texts) writeFileAtomically(stem + ending, text, false, readers);
  writeFileAtomically(stem + ".json", describe(result, sample, owner), false, readers);
  return stem + ".png";
}

std::vector<Snapshot> snapshots(const std::string& folder, const PictureOwner& whose, UnixMs from, UnixMs to) {
  const PictureOwner owner = masked(whose);
  std::vector<Snapshot> result;
  for (const std::string& name : snapshotFiles(folder)) {
    if (const UnixMs time = snapshotTime(name); name == stemOf(name) + ".png" && time >= from && time < to)
      if (isOf(owner, folder, name)) result.push_back({time, (fs::path(folder) / stemOf(name)).string()});
  }
  return result;
}

int forgetSnapshots(const std::string& folder, UnixMs now, double keep_days, double min_free_megabytes,
                    const PictureOwner& whose) {
  const PictureOwner owner = masked(whose);
  const std::vector<std::string> names = snapshotFiles(folder);
  std::error_code error;
  const auto isOurs = [&](const std::string& name) { return isOf(owner, folder, name); };
  const auto last = std::find_if(names.rbegin(), names.rend(), isOurs);
  const std::string newest = last == names.rend() ? "" : stemOf(*last);
  const std::string limit = keep_days > 0 ? fileTime(now - static_cast<UnixMs>(keep_days * kDayMs), true) : "";
  const auto full = [&] { return min_free_megabytes > 0 && freeMegabytes(folder) < min_free_megabytes; };
  int gone = 0;
  for (auto name = names.begin(); name != names.end() && stemOf(*name) < newest && (*name < limit || full());) {
    const auto end = std::find_if(name, names.end(), [&](const std::string& n) { return stemOf(n) != stemOf(*name); });
    if (isOurs(*name)) {
      for (auto file = end; file != name;)  // the .json last: it says whose the others are
        gone += fs::remove(fs::path(folder) / *--file, error) ? 1 : 0;
    }
    name = end;
  }
  return gone;
}

double freeMegabytes(const std::string& folder) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error) throw Error("cannot read the free space at '" + folder + "': " + error.message());
  return static_cast<double>(space.available) / 1e6;
}

struct SnapshotWriter::Impl {
  static constexpr std::size_t kMaxWaiting = 4;
  static constexpr std::chrono::seconds kMaxWait{30};  // for a disk that may not answer
  static constexpr std::int64_t kLookAgainMs = 30000;  // reading a large folder takes longer than writing a picture

  struct Picture {
    InferenceResult result;
    Sample sample;  // of a recording: empty
    std::string source;
    Occasion occasion;
    bool first = false;  // of a source, of which there may be a time-lapse of an earlier run
  };

  SnapshotOptions options;
  OverlayStyle style;
  Callbacks callbacks;
  std::function<UnixMs()> now;

  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<Picture> waiting;
  Recording recording;
  std::string lapse_of;  // the source
  // When they came, by the steady clock, and the times of their frames.
  std::optional<std::pair<std::int64_t, UnixMs>> last_lapse;
  std::pair<std::int64_t, UnixMs> last_sample{};
  std::optional<std::int64_t> slow_reported;  // when, by the steady clock
  bool hangs = false;                         // the disk: no picture of an archive waits for it until it answers

  // Used by the thread alone.
  std::int64_t next_look = 0;         // for what is too old
  std::optional<SettledClock> clock;  // from the first look on
  std::jthread thread;                // last: it writes what waits before the rest goes

  bool push(Picture picture) {  // the mutex is held
    if (waiting.size() >= kMaxWaiting) return false;
    waiting.push_back(std::move(picture));
    changed.notify_all();
    return true;
  }

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, stop, [&] { return !waiting.empty(); });
      if (waiting.empty()) return;
      const Picture picture = waiting.front();  // it counts as waiting until it is written
      const SnapshotOptions how = options;
      const OverlayStyle drawn = style;
      lock.unlock();
      std::string path, problem;
      try {
        path = write(picture, how, drawn);
      } catch (const std::exception& error) {
        problem = error.what();
      }
      lock.lock();
      waiting.pop_front();
      hangs = false;
      changed.notify_all();
      if (!path.empty() && picture.occasion == Occasion::kRecording) ++recording.written;
      lock.unlock();
      if (!problem.empty() && callbacks.on_failed) callbacks.on_failed(problem, picture.occasion);
      if (!path.empty() && callbacks.on_written) callbacks.on_written(path, picture.occasion);
      lock.lock();
    }
  }

  std::string write(const Picture& picture, const SnapshotOptions& how, const OverlayStyle& drawn) {
    const PictureOwner owner =
        masked(callbacks.ownerOf ? callbacks.ownerOf(picture.source) : PictureOwner{picture.source});
    std::string problem;
    std::error_code not_seen;
    if (fs::is_directory(how.folder, not_seen)) {
      if (picture.first && isEarly(picture, owner, how)) return "";
      try {  // old pictures may be what fills the disk: they go first, and a failure here must not cost the new picture
        removeOld(picture, owner, how);
      } catch (const std::exception& error) {
        problem = error.what();
      }
      if (picture.occasion != Occasion::kAsked && freeMegabytes(how.folder) < how.reserve_megabytes) {
        throw Error("less than " + std::to_string(std::lround(how.reserve_megabytes)) + " MB are free at '" +
                    how.folder + "': no recording and no time-lapse until there is more");
      }
    }
    static std::mutex naming;  // cameras may share a folder, and a name is taken once its .json is there
    const std::lock_guard lock(naming);
    std::string path = picture.occasion == Occasion::kRecording
                           ? writeRecorded(how.folder, picture.result, owner)
                           : writeSnapshot(how.folder, picture.result, picture.sample, owner, drawn, how.merge_maps);
    if (!problem.empty()) throw Error(problem);
    return path;
  }

  // The time-lapse goes on where an earlier run of the program left it, also one of `mpm monitor --once`, which may be
  // one of many in each interval: the last pictures say when the next one is due.
  bool isEarly(const Picture& picture, const PictureOwner& owner, const SnapshotOptions& how) {
    constexpr std::size_t kMost = 10;
    const double minutes = how.every_minutes.value_or(0);
    const auto names = snapshotFiles(how.folder);
    std::vector<UnixMs> before;  // the newest first
    std::string seen;
    for (auto name = names.rbegin(); name != names.rend() && before.size() < kMost; ++name) {
      const UnixMs age = picture.sample.time - snapshotTime(*name);
      if (static_cast<double>(age) > kMost * minutes * kMinuteMs) break;
      // One of the same time is this picture itself, which an earlier run measured.
      if (age > 0 && std::exchange(seen, stemOf(*name)) != stemOf(*name) && isOf(owner, how.folder, *name))
        before.push_back(snapshotTime(*name));
    }
    vision::Due due(60 * minutes);
    for (auto time = before.rbegin(); time != before.rend(); ++time) due.take(*time);
    if (due.at(picture.sample.time)) return false;
    const UnixMs on_time = *due.next() - std::llround(minutes * kMinuteMs);  // of the last one
    const std::lock_guard lock(mutex);
    last_lapse = {picture.result.frame.steady - (picture.sample.time - on_time), on_time};
    return true;
  }

  void removeOld(const Picture& picture, const PictureOwner& owner, const SnapshotOptions& how) {
    if (!clock) {  // when the newest picture was taken, the clock was right
      const auto stored = snapshotFiles(how.folder);
      clock.emplace(stored.empty() ? std::nullopt : std::optional(snapshotTime(stored.back())));
    }
    // A demo has its own time.
    const UnixMs time = std::min(now(), picture.result.frame.time);
    const std::int64_t steady = steadyNow();
    double days = clock->believes(time, steady) ? how.keep_days : 0;
    if (picture.occasion != Occasion::kAsked && steady < next_look) days = 0;
    const bool full = how.min_free_megabytes > 0 && freeMegabytes(how.folder) < how.min_free_megabytes;
    if (days == 0 && !full) return;
    next_look = steady + kLookAgainMs;
    const int files = forgetSnapshots(how.folder, time, days, full ? how.min_free_megabytes : 0, owner);
    if (files > 0 && callbacks.on_removed) callbacks.on_removed(files);
  }
};

SnapshotWriter::SnapshotWriter(SnapshotOptions options, Callbacks callbacks, std::function<UnixMs()> now)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  impl_->callbacks = std::move(callbacks);
  impl_->now = std::move(now);
  impl_->thread = std::jthread([impl = impl_.get()](const std::stop_token& stop) { impl->run(stop); });
}

SnapshotWriter::~SnapshotWriter() = default;

void SnapshotWriter::setOptions(SnapshotOptions options) {
  const std::lock_guard lock(impl_->mutex);
  impl_->options = std::move(options);
}

void SnapshotWriter::setStyle(OverlayStyle style) {
  const std::lock_guard lock(impl_->mutex);
  impl_->style = std::move(style);
}

void SnapshotWriter::setRecording(bool on) {
  const std::lock_guard lock(impl_->mutex);
  impl_->recording = {.on = on};
}

SnapshotWriter::Recording SnapshotWriter::recording() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->recording;
}

void SnapshotWriter::add(const InferenceResult& result, const Sample* sample, const std::string& source) {
  std::unique_lock lock(impl_->mutex);
  if (impl_->recording.on && !impl_->push({result, {}, source, Occasion::kRecording})) ++impl_->recording.left_out;
  if (!sample || !impl_->options.every_minutes || impl_->options.folder.empty()) return;
  const auto step = static_cast<std::int64_t>(*impl_->options.every_minutes * kMinuteMs);
  const std::int64_t steady = result.frame.steady;
  const bool needed = result.frame.needed;
  // Of an archive, pictures that go back in time are measured again.
  if (impl_->lapse_of != source || (needed && sample->time < impl_->last_sample.second)) impl_->last_lapse.reset();
  impl_->lapse_of = source;
  const auto before = std::exchange(impl_->last_sample, {steady, sample->time});
  // Pictures of an archive are as far apart as they were taken, however fast they come.
  const std::int64_t between = std::max(steady - before.first, sample->time - before.second);
  // A sample that comes a little early is nearer to the moment than the next one will be.
  const std::int64_t due = step - std::clamp<std::int64_t>(between / 2, 0, step / 10);
  const auto& last = impl_->last_lapse;
  if (last && steady - last->first < due && sample->time - last->second < due) return;
  // A camera gives another frame soon. Of an archive each picture comes once, and as fast as it is taken.
  const auto wait = [&](std::size_t most) {
    if (needed && !impl_->hangs)
      impl_->hangs = !impl_->changed.wait_for(lock, Impl::kMaxWait, [&] { return impl_->waiting.size() <= most; });
  };
  wait(Impl::kMaxWaiting - 1);
  const bool first = !last;
  if (impl_->push({result, *sample, source, Occasion::kTimeLapse, first})) {
    impl_->last_lapse = {steady, sample->time};
    if (first) wait(0);  // whether it is early decides which ones follow
    return;
  }
  // The next sample may still come in time.
  const bool missed = last && std::max(steady - last->first, sample->time - last->second) + between >= due + step;
  if (!missed || (impl_->slow_reported && steady - *impl_->slow_reported < kDayMs)) return;
  impl_->slow_reported = steady;
  const std::string problem =
      "pictures of the time-lapse are left out: they come faster than '" + impl_->options.folder + "' takes them";
  lock.unlock();
  if (impl_->callbacks.on_failed) impl_->callbacks.on_failed(problem, Occasion::kTimeLapse);
}

bool SnapshotWriter::save(const InferenceResult& result, const Sample& sample, const std::string& source) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->push({result, sample, source, Occasion::kAsked});
}

}  // namespace mpm::monitor
