// SPDX-License-Identifier: Apache-2.0
#include "monitor/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "base/visible_text.h"
#include "monitor/capture/followed_files.h"
#include "monitor/daily_summary.h"
#include "monitor/event_command.h"
#include "monitor/recorder.h"
#include "monitor/statistics/view_detector.h"
#include "monitor/watch/camera_config.h"
#include "monitor/watch/model_settings.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "vision/model_files.h"
#include "vision/pictures/pictures.h"
#include "vision/time.h"

namespace mpm::monitor {
namespace {

// Nobody is told of what is older: it was in the pictures of an archive. The scene demo: has a clock of its own.
constexpr std::int64_t kPastMs = kHourMs;
constexpr std::int64_t kOwnerPatienceMs = 10000;  // for a database to open

std::string nameOf(const std::string& path) { return std::filesystem::path(path).filename().string(); }
std::uint64_t keyOf(const std::string& name, UnixMs time) { return mpm::hash(hashBytes(name), time); }

// The pictures of an archive that the database had when it was opened, in the series that goes on.
struct StoredPictures {
  // Hashes of name and time; the same with the digest; of time and digest. Set before the source gives its first frame.
  std::unordered_set<std::uint64_t> named, whole, contents;
  std::vector<UnixMs> times;               // in their order
  std::atomic<std::int64_t> left_out = 0;  // pictures of the source that are among them

  // By the time and the name, and only then by content, which has to be read. A digest of 0 is not known. One content
  // at one time is one picture, under whatever name: a copy, or a link that leads to another picture now.
  vision::Done state(const vision::TimedPicture& picture) const {
    const auto& [path, time] = picture;
    if (!std::ranges::binary_search(times, time)) return vision::Done::kNo;
    const std::uint64_t key = keyOf(nameOf(path), time);
    const std::int64_t digest = path.empty() ? 0 : vision::pictureDigest(path);
    if (digest != 0 && contents.contains(mpm::hash(mpm::hash(static_cast<std::uint64_t>(time)), digest)))
      return vision::Done::kYes;
    if (!named.contains(key)) return vision::Done::kNo;
    const bool same = digest == 0 || whole.contains(mpm::hash(key, digest)) || whole.contains(mpm::hash(key, 0));
    return same ? vision::Done::kYes : vision::Done::kOther;
  }
};

// What must not be seen of one source: what is said, over what is stored of it. Until it is known what is stored, whole
// pictures are blurred. Thread-safe.
class Hiding {
 public:
  explicit Hiding(const PrivacyChoice& said) : said_(said) { hideAll(); }

  // What is stored of the source. Returns what counts now.
  PrivacyOptions setStored(const PrivacyOptions& stored) {
    const std::lock_guard lock(mutex_);
    options_ = said_.over(stored);
    privacy_.reset();
    if (options_->on()) privacy_.emplace(*options_);
    return *options_;
  }
  // What is said from now on: over what counted until now. nullopt: it is not known yet what is stored.
  std::optional<PrivacyOptions> say(const PrivacyChoice& said) {
    std::unique_lock lock(mutex_);
    said_ = said;
    if (!options_) return std::nullopt;
    const PrivacyOptions before = *options_;
    lock.unlock();
    return setStored(before);
  }
  std::optional<PrivacyOptions> options() const {
    const std::lock_guard lock(mutex_);
    return options_;
  }
  // `place`: where the view is now; null: where it was last.
  void hide(InferenceResult& result, const ViewMotion* place, const std::function<void(const std::string&)>& report) {
    const std::lock_guard lock(mutex_);
    if (place) place_ = *place;
    if (privacy_) privacy_->hide(result, place_, report);
  }
  cv::Mat hiddenIn(const InferenceResult& result, const ViewMotion& place) {
    const std::lock_guard lock(mutex_);
    return privacy_ ? privacy_->hiddenIn(result, place) : cv::Mat();
  }

 private:
  // No model has a class of this name.
  void hideAll() { privacy_.emplace(PrivacyOptions{.blurred = {"*"}}); }

  mutable std::mutex mutex_;
  PrivacyChoice said_;
  std::optional<PrivacyOptions> options_;  // nullopt: not known yet
  std::optional<Privacy> privacy_;
  ViewMotion place_;  // of the last sample
};

// States as they are read now, and their files. The files are looked at on the worker's thread alone.
struct FollowedStates {
  const StateOptions options;
  std::vector<FollowedFiles> files{};  // of each of StateOptions::files

  explicit FollowedStates(StateOptions states) : options(std::move(states)) {
    for (const std::string& file : options.files) files.push_back(FollowedFiles({file}, FollowedFiles::Read::kEarlier));
  }
  FollowedStates(StateOptions states, std::vector<FollowedFiles> followed)
      : options(std::move(states)), files(std::move(followed)) {}
};

// One source, from open() to close().
struct OpenSource {
  std::string source;    // without credentials
  int stream = 0;        // of its frames
  bool counted = false;  // all its frames are to be samples
  bool scene = false;    // demo:
  bool archive = false;  // its samples come as fast as the model takes them
  double every_s = 0;
  std::shared_ptr<FollowedStates> states;  // guarded by Session::Impl::states_mutex
  std::shared_ptr<const StoredPictures> before;
  std::shared_ptr<Recorder> recorder;
  std::shared_ptr<Hiding> hiding;
  std::atomic<std::int64_t> samples = 0;
  bool ended = false;  // it came to its end, and its session is over
  std::int64_t opened = steadyNow();
  std::optional<DailySummary> summary{};  // of the writer's thread
  CaptureThread capture;
};

// What the database says must not be seen of a source; of one that is not stored: nothing. Throws mpm::Error where that
// cannot be read.
PrivacyOptions storedPrivacy(const std::string& database, const std::string& source) try {
  std::error_code unseen;
  if (!std::filesystem::exists(database, unseen) && !unseen) return {};
  return readPrivacy(StoreReader(database).privacy(source));
} catch (const EmptyDatabase&) {  // its writer is about to fill it
  return {};
}

// SessionInfo::times: a later run may begin in another folder.
std::string timesText(vision::TimeOptions times) {
  std::error_code ignored;
  if (!times.list.empty()) times.list = std::filesystem::absolute(times.list, ignored).lexically_normal().string();
  return toString(times);
}

// Calls `read` with what the database has of a source, if anything. The writer meets the same problem as this reader,
// and repairs or reports it.
template <typename Read>
void readSource(const std::string& database, const std::string& source, Read read) {
  try {
    const StoreReader store(database);
    for (const SourceRecord& record : store.sources())
      if (record.name == source) read(store, record);
  } catch (const Error&) {
  }
}

// How the pictures of a source will be measured. nullopt: there is no model, or one that cannot be read, which the
// worker reports.
std::optional<Measuring> measuringBy(const InferenceWorker::Wanted& by) try {
  if (by.model.empty()) return std::nullopt;
  const std::string digest = vision::modelDigest(by.model);
  if (by.info) return measuringOf(*by.info, digest, by.settings);
  const ModelInfo info = readModelInfo(by.model, by.options.convert());
  return measuringOf(info, digest, settingsOf(by.model, info, by.options));
} catch (const Error&) {
  return std::nullopt;
}

void readPictures(const StoreReader& store, std::int64_t series, StoredPictures& pictures) {
  store.pictures(series, [&](const std::string& name, UnixMs time, std::int64_t digest) {
    const std::uint64_t key = keyOf(name, time);
    pictures.named.insert(key);
    pictures.whole.insert(mpm::hash(key, digest));
    pictures.contents.insert(mpm::hash(mpm::hash(static_cast<std::uint64_t>(time)), digest));
    pictures.times.push_back(time);
  });
  std::ranges::sort(pictures.times);
}

// Reads what must not be seen of a source as its database has it: until then, and where that fails, whole pictures are
// blurred. Says through SourceOptions::on_note what is hidden. Returns it as the database has it from now on.
std::string takeStoredPrivacy(const std::string& database, const std::string& source, Hiding& hiding,
                              const std::weak_ptr<Recorder>& recorder, const vision::SourceOptions& how) try {
  const auto before = hiding.options();  // nothing is left to the database
  if (before) return before->json();
  const PrivacyOptions stored = storedPrivacy(database, source), now = hiding.setStored(stored);
  const std::string json = now.json();
  const bool as_stored = json == stored.json();
  if (now.on() && how.on_note)
    how.on_note(now.text() + (as_stored ? ", as stored with the source: 'none' for hide or blur ends it" : ""));
  if (const auto still = recorder.lock()) still->setPrivacy(json);
  return json;
} catch (const Error& error) {
  if (how.on_note)
    how.on_note(std::string("whole pictures are blurred, as what they must not show is stored in ") + error.what());
  return "";
}

// What the times of an archive differ in from those in the database: its clock, or a picture that is stored with
// another time, as its times are read by another rule. Empty: in nothing. `listed`: the pictures that are there now. A
// picture is known by its name and content, and has another time only if none is there that has the stored one:
// counters of cameras begin anew, and pictures of the same dark are equal.
std::string differenceOfTimes(const StoreReader& store, std::int64_t series, const SourceRecord& record,
                              const std::string& zone, const std::vector<vision::TimedPicture>& listed) {
  if (!record.time_zone.empty() && record.time_zone != zone)
    return "they were read by the clock of " + record.time_zone + " before, and are by that of " + zone + " now";
  std::unordered_set<std::uint64_t> there;
  std::unordered_set<UnixMs> times;
  for (const auto& [path, time] : listed) there.insert(keyOf(nameOf(path), time));
  std::unordered_multimap<std::uint64_t, std::pair<UnixMs, std::int64_t>> missing;  // by the hash of their names
  store.pictures(series, [&](const std::string& name, UnixMs time, std::int64_t digest) {
    times.insert(time);
    if (digest != 0 && !there.contains(keyOf(name, time))) missing.emplace(hashBytes(name), std::pair(time, digest));
  });
  const auto difference = [](const std::string& what, UnixMs before, UnixMs now) {
    return what + " was of " + isoTime(before) + " before, and is of " + isoTime(now) + " now";
  };
  for (const auto& [path, time] : listed) {
    if (path.empty() && !times.empty() && !times.contains(time))
      return difference("the first frame", *std::ranges::min_element(times), time);
    const auto [first, end] = missing.equal_range(hashBytes(nameOf(path)));
    if (first == end || path.empty()) continue;
    const std::int64_t digest = vision::pictureDigest(path);
    for (auto stored = first; stored != end; ++stored)
      if (stored->second.second == digest) return difference("'" + nameOf(path) + "'", stored->second.first, time);
  }
  return "";
}

// Gives the recorder what an earlier watch of the source left: its regions, and where its view and its rules stood. The
// pictures of an archive that begin a new series are looked at from the first one on. `privacy`: what must not be seen
// of it now. A view that was learned with more on show does not count. `own_clock`: its times say nothing about the
// clock of this machine.
void recall(const StoreReader& store, const SourceRecord& record, const std::weak_ptr<Recorder>& recorder,
            const std::string& privacy, bool new_series, std::optional<std::int64_t> series, UnixMs now,
            bool own_clock) {
  constexpr int kSamples = 5000;  // an hour and more of samples each second
  const auto regions = currentRegions(store, record.name);
  auto view = new_series ? std::nullopt : store.view(record.name);
  if (view && store.privacy(record.name) != privacy) view = withoutEdges(std::move(*view));
  const auto samples = new_series ? std::vector<Sample>()
                                  : store.lastSamples(record.id, kSamples, own_clock ? INT64_MAX : now + 1, series);
  const auto still = recorder.lock();
  if (!still) return;
  if (view) still->setView(std::move(*view));
  if (!regions.empty()) still->setStoredRegions(regions);
  if (!new_series) still->resume(samples, store.alarms(record.id), now, steadyNow());
}

}  // namespace

const char* SessionStatus::word() const {
  using enum CaptureState;
  if (source.state == kEnded && source.message.empty()) return "ended";
  if (source.state == kRetrying || source.state == kEnded || (source.attempt > 0 && source.state != kLive))
    return "lost";
  // The model may hang, or the source wait for it.
  const bool silent = !finished && pace && sample_age_s && *sample_age_s > pace->aliveFor();
  return source.state == kStalled || silent ? "stalled" : store && !store->writing ? "not_writing" : "online";
}

struct Session::Impl {
  SessionOptions options;
  Callbacks callbacks;
  std::shared_ptr<FrameMailbox> frames = std::make_shared<FrameMailbox>();
  int streams = 0;
  bool paused = false;
  bool stays = false;  // its last picture, until the next run with --once
  std::mutex showing;
  bool shows = true;  // pictures are told; guarded by `showing`

  mutable std::mutex mutex;
  std::shared_ptr<OpenSource> watch;      // guarded by the mutex: several threads look at it
  std::shared_ptr<EventCommand> command;  // the same; null: none
  bool had_source = false;                // the same
  std::vector<Event> early{};             // the same: before the first source
  CameraFacts facts{};                    // that are told
  bool picture_failed = false;            // and this was reported; of the thread that writes pictures
  mutable std::mutex states_mutex;        // not held while files are read

  // In this order: each outlives those that hand something to it.
  std::optional<StoreWriter> store;
  std::optional<SnapshotWriter> snapshots;
  std::optional<InferenceWorker> worker;

  std::shared_ptr<OpenSource> openSource() const {
    const std::lock_guard lock(mutex);
    return watch;
  }

  void report(const Event& event) const {
    if (callbacks.on_event) callbacks.on_event(event);
    std::unique_lock lock(mutex);
    const auto telling = command;
    const std::string source = watch ? watch->source : "";
    const bool scene = watch && watch->scene;
    lock.unlock();
    if (telling && (scene || event.time >= options.now() - kPastMs)) telling->add(event, source);
  }

  // `patience_s`: for the one before.
  void setCommand(std::vector<std::string> arguments, double patience_s = 0) {
    std::shared_ptr<EventCommand> next;
    if (!arguments.empty())
      next = std::make_shared<EventCommand>(std::move(arguments), [this](const Event& event) { post(event); });
    {
      const std::lock_guard lock(mutex);
      std::swap(command, next);
    }
    if (next) next->finish(patience_s);
  }

  // Stores and reports an event of the source that is open. One from before the first source, such as a broker that
  // does not answer, is stored with that.
  void post(const Event& event) {
    std::unique_lock lock(mutex);
    const bool ours = watch && store;
    if (!had_source) early.push_back(event);
    lock.unlock();
    if (ours) store->append(event);
    report(event);
  }

  void setSource(const std::shared_ptr<OpenSource>& source) {
    std::unique_lock lock(mutex);
    watch = source;
    had_source = true;
    const std::vector<Event> before = std::exchange(early, {});
    lock.unlock();
    for (const Event& event : before)
      if (store) store->append(event);
  }

  void take(InferenceResult result) {
    std::optional<Sample> sample;
    const auto open = openSource();
    const bool ours = open && result.frame.stream == open->stream;
    const std::string& file = result.frame.file;
    // ArchiveOptions::show_last gives a stored picture once more.
    if (ours && !file.empty() && open->before->state({file, result.frame.time}) == vision::Done::kYes)
      result.repeated = true;
    if (ours && !result.repeated) sample = open->recorder->add(result, open->capture.status().dropped);
    result.look = {};
    const bool recorded = sample.has_value();
    if (!sample && callbacks.on_frame) sample = measure(result);
    if (ours) hide(result, *open, recorded ? &sample->view_offset : nullptr);  // measured are the pixels as they were
    if (ours && !result.repeated) {
      snapshots->add(result, recorded ? &*sample : nullptr, open->source);
      open->samples += recorded;
      if (recorded) tellPicture(result);
      if (recorded && callbacks.on_sample) callbacks.on_sample(*sample, result);
    }
    if (!callbacks.on_frame) return;
    callbacks.on_frame(std::move(result), std::move(*sample));
  }

  // `place`: where the view is now; null: where it was last.
  void hide(InferenceResult& result, OpenSource& of, const ViewMotion* place = nullptr) {
    of.hiding->hide(result, place, [this](const std::string& problem) {
      post({options.now(), EventKind::kSource, Severity::kWarning, problem});
    });
  }

  std::optional<PictureOwner> ownerOf(const std::string& source) const {
    const auto database = store ? store->id() : std::optional(std::string());
    if (!database) return std::nullopt;
    const std::string camera = options.camera.empty() ? cameraName({.source = source}) : options.camera;
    return PictureOwner{.source = source, .database = *database, .camera = camera};
  }

  // For the thread that writes pictures. The database is opened on a thread of its own, which takes a while on a slow
  // disk: a picture that a person asks for in the first moment waits for it.
  std::optional<PictureOwner> awaitOwner(const std::string& source) const {
    const std::int64_t last = steadyNow() + kOwnerPatienceMs;
    auto owner = ownerOf(source);
    while (!owner && !store->status().stopped && steadyNow() < last) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      owner = ownerOf(source);
    }
    return owner;
  }

  Sample measure(const InferenceResult& result) const {
    const auto open = openSource();
    return open ? open->recorder->measure(result) : Sample();
  }

  void takeState(const CaptureStatus& status) {
    if (callbacks.on_state) callbacks.on_state(status);
    if (const auto event = sourceEvent(status, options.now())) post(*event);
  }

  // Sums up the day before once it is due: with the first sample, so that there is a picture to go with it, or a minute
  // later where none comes.
  void sumUp() {
    const auto open = openSource();
    if (!open || !open->summary || (open->samples == 0 && steadyNow() - open->opened < kMinuteMs)) return;
    try {
      UnixMs now = options.now();
      if (open->scene)
        readSource(options.database, open->source, [&](const auto&, const SourceRecord& stored) { now = stored.last; });
      for (const Event& event : open->summary->due(now, options.database, open->source, options.snapshots.folder))
        post(event);
    } catch (const Error&) {  // the writer meets the same problem and reports it
    }
  }

  // Reads the files of states again if one was replaced. If one cannot be read, all heads stay as they are. On the
  // worker's thread: the disk of a file may hang.
  void followStates() {
    const auto open = openSource();
    if (!open) return;
    const auto known = statesOf(*open);
    bool changed = false;
    for (FollowedFiles& file : known->files) changed = file.changed(steadyNow()) || changed;
    if (!changed) return;
    StateOptions fresh = known->options;
    std::string names;
    try {
      for (std::size_t i = 0; i < fresh.files.size(); ++i) {
        evaluation::StateHead& head = fresh.heads[i];
        evaluation::StateHead read = evaluation::readStates(fresh.files[i]);
        if (read.digest() != head.digest() || read.name != head.name)
          names += (names.empty() ? "" : ", ") + visibleText(read.name);
        head = std::move(read);
      }
      if (names.empty()) return;
      const std::lock_guard lock(states_mutex);
      if (open->states != known || openSource() != open) return;  // others count by now
      open->recorder->setStates(fresh);
      open->states = std::make_shared<FollowedStates>(std::move(fresh), known->files);
    } catch (const Error& error) {
      post({options.now(), EventKind::kModel, Severity::kError,
            std::string(error.what()) + "; the states before go on"});
      return;
    }
    post({options.now(), EventKind::kModel, Severity::kInfo,
          "the states of " + names + " are new: they were taught again" +
              (open->archive ? "" : ". Samples from now on are of another series")});
  }

  void setStates(const StateOptions& states) {
    {
      const std::lock_guard lock(states_mutex);
      watch->recorder->setStates(states);
      watch->states = std::make_shared<FollowedStates>(states);
    }
    worker->setFeatures(!states.heads.empty());
  }

  std::shared_ptr<FollowedStates> statesOf(const OpenSource& open) const {
    const std::lock_guard lock(states_mutex);
    return open.states;
  }

  // All samples of the source on its way are recorded.
  void settle() {
    if (store && watch && watch->archive) store->settle(watch->source, statesOf(*watch)->options.after);
  }

  // A video at its end may stay open for days. Its session ends, so that nobody waits for samples of it; events still
  // belong to it.
  void endWhatIsFinished(const SessionStatus& status) {
    if (!store || watch->archive || !status.finished || std::exchange(watch->ended, true)) return;
    store->setSource(watch->source);
  }

  void tellPicture(const InferenceResult& result) {
    const std::lock_guard lock(showing);
    if (options.teller && shows) options.teller->setPicture(options.camera, result);
  }

  // `next`: pictures that come may be told.
  void dropPicture(bool next) {
    const std::lock_guard lock(showing);
    shows = next;
    if (options.teller) options.teller->dropPicture(options.camera);
  }

  void tellFacts() const {
    if (options.teller && store) options.teller->setFacts(options.camera, facts);
  }

  void tellAlarms(const OpenSource& open) const {
    if (const auto alarms = open.recorder->alarms()) options.teller->setAlarms(options.camera, *alarms);
  }

  void stopTelling(double patience_s) {
    if (!options.teller || !store) return;
    if (const auto open = openSource()) tellAlarms(*open);
    options.teller->setStatus(options.camera, "ended");
    if (!stays) dropPicture(false);
    options.teller->remove(options.camera, *store, patience_s);
  }
};

Session::Session(SessionOptions options, Callbacks callbacks) : impl_(std::make_unique<Impl>()) {
  Impl* const impl = impl_.get();
  impl->options = std::move(options);
  impl->callbacks = std::move(callbacks);
  impl->setCommand(impl->options.on_event);
  if (!impl->options.database.empty()) {
    StoreOptions storing = impl->options.store;
    storing.now = impl->options.now;
    storing.on_stored = [impl] { impl->sumUp(); };
    const auto& teller = impl->options.teller;
    if (teller) storing.outbox = teller->outbox(impl->options.camera);
    impl->store.emplace(impl->options.database, storing, [impl](const Event& event) { impl->report(event); });
    if (teller)
      teller->add(impl->options.camera, impl->options.database, *impl->store,
                  [impl](const Event& event) { impl->post(event); });
  }
  using Occasion = SnapshotWriter::Occasion;
  SnapshotWriter::Callbacks pictures{.on_removed = impl->callbacks.on_pictures_removed};
  pictures.ownerOf = [impl](const std::string& source) {
    if (auto owner = impl->awaitOwner(source)) return *owner;
    throw Error("the database was not opened yet: no picture is written, as nobody would know whose it is");
  };
  pictures.on_written = [impl](const std::string& path, Occasion occasion) {
    impl->picture_failed = false;
    if (impl->callbacks.on_picture) impl->callbacks.on_picture(path, occasion);
  };
  // A picture that a person asked for is answered each time; others fail once until one works again.
  pictures.on_failed = [impl](const std::string& problem, Occasion occasion) {
    if (occasion == Occasion::kAsked || !std::exchange(impl->picture_failed, true))
      impl->post({impl->options.now(), EventKind::kStorage, Severity::kError, problem});
  };
  impl->snapshots.emplace(impl->options.snapshots, std::move(pictures), impl->options.now);
  impl->worker.emplace(
      impl->frames, impl->options.model, impl->options.inference,
      InferenceWorker::Callbacks{.on_result = [impl](InferenceResult result) { impl->take(std::move(result)); },
                                 .on_event = [impl](const Event& event) { impl->post(event); },
                                 .on_turn = [impl] { impl->followStates(); }},
      impl->options.choose_reuse, impl->options.models);
}

Session::~Session() {
  close();
  impl_->frames->close();
  impl_->worker.reset();
  impl_->setCommand({}, 5);
  impl_->stopTelling(0);
}

void Session::open(const CameraPlan& options) {
  if (options.regions) vision::check(*options.regions);
  close();
  const bool live = options.source.isLive(), every_frame = options.every_frame && !live;
  const std::string name = options.source.name();
  CaptureOptions capture;
  capture.stream = ++impl_->streams;
  capture.reconnect = live;
  capture.lossless = every_frame;
  capture.adapt_s = live && options.once ? 1 : 0;
  capture.max_fps = live ? 0 : options.max_fps;
  capture.now = impl_->options.now;
  capture.steady = impl_->options.steady;
  // The scene is rendered here: what keeps it waiting is a busy machine, not a camera to open again.
  capture.source.timeout_s = options.source.kind == vision::SourceKind::kDemo ? 600 : options.timeout_s;
  capture.name = options.source.nameInMessages();
  capture.source.on_unreadable = [this](const std::string& why, std::optional<UnixMs> taken) {
    impl_->post({taken.value_or(impl_->options.now()), EventKind::kDamaged, Severity::kWarning, "left out: " + why});
  };
  capture.source.on_note = [this](const std::string& text) {
    impl_->report({impl_->options.now(), EventKind::kSource, Severity::kInfo, text});
  };
  capture.source.chosen = options.chosen;
  const bool archive = options.archive && vision::isArchive(options.source, *options.archive);
  const bool scene = options.source.kind == vision::SourceKind::kDemo, own_clock = archive || scene;
  StoreWriter* const store = impl_->store ? &*impl_->store : nullptr;
  const auto hiding = std::make_shared<Hiding>(options.privacy);
  const PrivacyChoice& said = options.privacy;
  if (!store || (said.hidden && said.blurred)) hiding->setStored({});
  const auto privacy = hiding->options();
  const auto recorder =
      std::make_shared<Recorder>(RecorderOptions{.source = name,
                                                 .every_s = options.every_s,
                                                 .every_frame = every_frame,
                                                 .once = options.once,
                                                 .archive_clock = archive ? options.archiveClock() : std::nullopt,
                                                 .archive_times = archive ? timesText(options.archive->times) : "",
                                                 .own_clock = own_clock,
                                                 .night = options.night,
                                                 .place = options.place,
                                                 .alarms = options.alarms,
                                                 .quality = options.quality,
                                                 .states = options.states,
                                                 .privacy = privacy ? std::optional(privacy->json()) : std::nullopt,
                                                 .hidden = std::bind_front(&Hiding::hiddenIn, hiding)},
                                 store, [this](const Event& event) { impl_->report(event); });
  if (options.again) recorder->measureAgain();
  const auto before = std::make_shared<StoredPictures>();
  // The factory owns what it uses: it may outlive the Session, in a read that hangs. Where the disk hangs while the
  // database is read, the source is opened once more without.
  SourceFactory factory = [options, name, archive, own_clock, before, by = impl_->worker->wanted(), hiding,
                           stored = store != nullptr, asked = std::make_shared<std::atomic_flag>(),
                           database = impl_->options.database, weak = std::weak_ptr(recorder),
                           now = impl_->options.now](vision::SourceOptions how) {
    vision::ArchiveOptions archived = archive ? *options.archive : vision::ArchiveOptions();
    if (stored && !asked->test_and_set()) {
      const auto kept = takeStoredPrivacy(database, name, *hiding, weak, how);
      const auto take_stored = [=, note = how.on_note](const std::vector<vision::TimedPicture>& listed) {
        readSource(database, name, [&](const StoreReader& reader, const SourceRecord& record) {
          std::optional<std::int64_t> series;
          if (archive && !options.again)
            if (const auto measuring = measuringBy(by)) series = reader.seriesOf(record.id, *measuring);
          const std::string difference =
              series ? differenceOfTimes(reader, *series, record, options.archiveClock()->zone(), listed) : "";
          if (!difference.empty()) {
            if (note) note("all pictures are measured again, as a series of their own: " + difference);
            if (const auto still = weak.lock()) still->measureAgain();
            series.reset();
          }
          recall(reader, record, weak, kept, archive && !series, series, now(), own_clock);
          if (series) readPictures(reader, *series, *before);
        });
        if (const auto still = weak.lock()) still->setRecalled();
      };
      if (archive && !options.factory)
        archived.on_listed = take_stored;
      else
        take_stored({});
    }
    if (options.resume_demo) {
      how.frame_step_s = options.every_s;
      readSource(database, name, [&](const StoreReader&, const SourceRecord& record) {
        how.resume_after = static_cast<double>(record.last) / kSecondMs;
      });
    }
    if (options.factory) return options.factory(how);
    if (!archive) return vision::openUnguarded(options.source, how);
    if (!database.empty()) {
      archived.done_times = [before] { return before->times; };
      archived.done = [before](const vision::TimedPicture& picture) {
        const vision::Done done = before->state(picture);
        before->left_out += done == vision::Done::kYes;
        return done;
      };
    }
    return vision::openArchive(options.source, archived, how);
  };
  const auto watch = std::shared_ptr<OpenSource>(  // NOLINT(modernize-make-shared): an aggregate
      new OpenSource{.source = name,
                     .stream = capture.stream,
                     .counted = every_frame,
                     .scene = scene,
                     .archive = archive,
                     .every_s = options.once ? 0 : options.every_s,
                     .states = std::make_shared<FollowedStates>(options.states),
                     .before = before,
                     .recorder = recorder,
                     .hiding = hiding,
                     .capture = CaptureThread(std::move(factory), capture, impl_->frames,
                                              [this](const CaptureStatus& status) { impl_->takeState(status); })});
  if (options.summary_hour && !archive) {
    watch->summary.emplace(*options.summary_hour, vision::clockOrMachine(options.archiveClock()),
                           scene ? 0 : impl_->options.now());
  }
  if (store) store->setSource(name);
  impl_->stays = options.once;
  // Of an earlier run, which may have hidden less, unless this one goes on with what that one hid.
  if (said.hidden || said.blurred || !options.once) impl_->dropPicture(true);
  impl_->facts.title = impl_->options.title;
  impl_->facts.scene = scene;
  impl_->facts.alarms = options.alarms.alarms;
  impl_->tellFacts();
  if (options.regions) recorder->setRegions(*options.regions);
  impl_->worker->setFeatures(!options.states.heads.empty());
  impl_->worker->setStream(watch->stream, options.samples_only && !every_frame ? options.every_s : 0);
  impl_->setSource(watch);
  if (privacy && privacy->on())
    impl_->report({impl_->options.now(), EventKind::kSource, Severity::kInfo, privacy->text()});
  watch->capture.start();
}

void Session::close() {
  if (!impl_->watch) return;
  impl_->watch->capture.stop();
  impl_->frames->tryTake();  // else the next source would count it as a dropped frame
  if (impl_->worker) impl_->worker->setStream(++impl_->streams);  // finish() may have ended it
  impl_->watch->recorder->close();                                // a result may be on its way to it
  impl_->settle();
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->watch.reset();
  }
  if (impl_->store) impl_->store->endSession();
}

bool Session::isOpen() const { return impl_->watch != nullptr; }
std::string Session::source() const { return impl_->watch ? impl_->watch->source : ""; }

std::optional<PictureOwner> Session::owner() const {
  return impl_->watch ? impl_->ownerOf(impl_->watch->source) : std::nullopt;
}

std::optional<PrivacyOptions> Session::privacy() const {
  return impl_->watch ? impl_->watch->hiding->options() : std::nullopt;
}

std::optional<CapturedFrame> Session::lastFrame() const {
  return impl_->watch ? impl_->watch->capture.last() : std::nullopt;
}

CapturedFrame Session::shown(CapturedFrame frame) const {
  InferenceResult result;
  result.frame = std::move(frame);
  if (impl_->watch) impl_->hide(result, *impl_->watch);
  return std::move(result.frame);
}

bool Session::owns(const CapturedFrame& frame) const { return impl_->watch && impl_->watch->stream == frame.stream; }

bool Session::framesCome() const {
  if (!impl_->watch || impl_->paused) return false;
  const CaptureState state = impl_->watch->capture.status().state;
  return state == CaptureState::kOpening || state == CaptureState::kLive;
}

void Session::tick() {
  if (!impl_->watch) return;
  const CaptureStatus status = impl_->watch->capture.status();
  impl_->watch->recorder->tick(status, impl_->options.now(), steadyNow());
  impl_->endWhatIsFinished(this->status());
  if (impl_->options.teller && impl_->store) {
    const SessionStatus now = this->status();
    impl_->options.teller->setStatus(impl_->options.camera, now.word());
    // A description is sent again where the pace has changed, not with each sample.
    if (const double usual_s = now.pace ? now.pace->usual_s : 0, told = impl_->facts.usual_s;
        usual_s > 1.25 * told || usual_s < 0.5 * told) {
      impl_->facts.usual_s = usual_s;
      impl_->tellFacts();
    }
    impl_->tellAlarms(*impl_->watch);
  }
}

InferenceWorker& Session::worker() { return *impl_->worker; }

void Session::setPaused(bool paused) {
  impl_->paused = paused;
  impl_->worker->setPaused(paused);
}

bool Session::paused() const { return impl_->paused; }

std::string Session::model() const {
  const InferenceStatus status = impl_->worker->status();
  return status.ready || !status.loading ? status.model : impl_->options.model;
}

void Session::setRules(const CameraPlan& rules) {
  if (!impl_->watch) return;
  impl_->watch->recorder->setRules(rules.night, rules.place, rules.alarms, rules.quality, impl_->options.now());
  if (const auto privacy = impl_->watch->hiding->say(rules.privacy);
      privacy && impl_->watch->recorder->setPrivacy(privacy->json()))
    impl_->dropPicture(true);
  impl_->facts.alarms = rules.alarms.alarms;
  impl_->tellFacts();
}

void Session::setRegions(const std::vector<vision::Region>& regions) {
  if (impl_->watch) impl_->watch->recorder->setRegions(regions);
}

void Session::setStates(const StateOptions& states) {
  if (impl_->watch) impl_->setStates(states);
}

void Session::setRetention(double keep_days, double max_megabytes) {
  if (impl_->store) impl_->store->setRetention(keep_days, max_megabytes);
}

bool Session::judge(const std::string& source, const NightRule& rule,
                    const std::function<bool(double share)>& progress) {
  return impl_->store && impl_->store->judge(source, rule, progress);
}

void Session::storeIn(const std::string& path) {
  impl_->options.database = path;
  if (impl_->store) impl_->store->storeIn(path);
}

void Session::addEvent(const Event& event) { impl_->post(event); }
void Session::dropPicture() { impl_->dropPicture(false); }
void Session::setEventCommand(std::vector<std::string> arguments) { impl_->setCommand(std::move(arguments)); }

SnapshotWriter& Session::snapshots() { return *impl_->snapshots; }

Sample Session::measure(const InferenceResult& result) const { return impl_->measure(result); }

bool Session::finish(double patience_s) {
  if (impl_->watch) impl_->watch->capture.stop();
  impl_->frames->close();
  impl_->worker.reset();
  impl_->snapshots.reset();
  const auto flush = [&] { return !impl_->store || impl_->store->flush(patience_s); };
  impl_->settle();
  bool stored = flush();  // with the last sample a summary may come, for the command, too
  impl_->setCommand({}, std::min(patience_s, 10.0));
  stored = stored && flush();
  impl_->stopTelling(std::min(patience_s, 5.0));
  return stored && flush();  // what was sent is deleted
}

SessionStatus Session::status() const {
  SessionStatus status;
  const auto watch = impl_->openSource();
  if (watch) status.source = watch->capture.status();
  if (impl_->worker) status.inference = impl_->worker->status();
  if (impl_->store) status.store = impl_->store->status();
  status.finished =
      status.source.state == CaptureState::kEnded && status.inference.done == status.source.in - status.source.dropped;
  if (watch && !watch->archive) {
    status.every_s = watch->every_s;
    status.pace = watch->recorder->pace();
    status.sample_age_s = watch->recorder->sampleAge(steadyNow());
  }
  if (watch && watch->counted && impl_->store) {
    status.pictures = watch->before->left_out + status.source.of;
    status.stored = watch->before->left_out + watch->samples;
  }
  return status;
}

}  // namespace mpm::monitor
