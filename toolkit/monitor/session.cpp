// SPDX-License-Identifier: Apache-2.0
#include "monitor/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "base/visible_text.h"
#include "monitor/capture/followed_files.h"
#include "monitor/daily_summary.h"
#include "monitor/event_command.h"
#include "monitor/hiding.h"
#include "monitor/recorder.h"
#include "monitor/source_opener.h"
#include "monitor/stored_pictures.h"
#include "monitor/watch/camera_config.h"
#include "mpm/error.hpp"
#include "vision/time.h"

namespace mpm::monitor {
namespace {

constexpr std::int64_t kOwnerPatienceMs = 10000;  // for a database to open

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
  bool live = false;     // SourceSpec::isLive()
  bool archive = false;  // its samples come as fast as the model takes them
  double every_s = 0;
  std::shared_ptr<FollowedStates> states;  // guarded by Session::Impl::states_mutex
  std::shared_ptr<const StoredPictures> before;
  std::shared_ptr<Recorder> recorder;
  std::shared_ptr<Hiding> hiding;
  std::atomic<std::int64_t> samples = 0;
  bool ended = false;  // it came to its end, and its session is over
  std::int64_t opened = steadyNow();
  std::optional<DailySummary> summary{};     // of the writer's thread
  SettledClock summary_clock{std::nullopt};  // the same
  bool summary_failed = false;               // the same: and this was reported
  CaptureThread capture;
};

// SessionInfo::times: a later run may begin in another folder.
std::string timesText(vision::TimeOptions times) {
  std::error_code ignored;
  if (!times.list.empty()) times.list = std::filesystem::absolute(times.list, ignored).lexically_normal().string();
  return toString(times);
}

}  // namespace

const char* SessionStatus::word() const {
  using enum CaptureState;
  const bool read = source.message.empty() || (source.unreadable > 0 && source.frames_in > 0);
  if (source.state == kEnded && read) return "ended";
  if (source.state == kRetrying || source.state == kEnded || (source.attempt > 0 && source.state != kLive))
    return "lost";
  // The model may hang, or the source wait for it.
  const bool silent = !finished && pace && sample_age_s && *sample_age_s > pace->aliveFor();
  if (source.state == kStalled || silent) return "stalled";
  return opening() ? "opening" : store && !store->writing ? "not_writing" : "online";
}

CaptureStatus SessionStatus::shownSource() const {
  CaptureStatus shown = source;
  if (word() == std::string_view("stalled")) shown.state = CaptureState::kStalled;
  return shown;
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
  std::shared_ptr<OpenSource> watch;         // guarded by the mutex: several threads look at it
  std::shared_ptr<EventCommand> command;     // the same; null: none
  bool had_source = false;                   // the same
  std::vector<Event> early{};                // the same: before the first source
  CameraFacts facts{};                       // that are told
  std::atomic<bool> picture_failed = false;  // and this was reported
  mutable std::mutex states_mutex;           // not held while files are read

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
    if (telling && (scene || !isPast(event.time, options.now()))) telling->add(event, source);
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

  // `offset`: where the view is now; null: where it was last.
  void hide(InferenceResult& result, OpenSource& of, const ViewMotion* offset = nullptr) {
    of.hiding->hide(result, offset, [this](const std::string& problem) {
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
      // Days of a clock that is wrong for a minute are not over.
      if (!open->scene && !open->summary_clock.believes(now, steadyNow())) return;
      if (open->scene)
        readSource(options.database, open->source, [&](const auto&, const SourceRecord& stored) { now = stored.last; });
      for (const Event& event : open->summary->due(now, options.database, open->source, options.snapshots.folder))
        post(event);
    } catch (const Error& error) {
      if (!std::exchange(open->summary_failed, true)) {
        post({options.now(), EventKind::kStorage, Severity::kError,
              std::string("the day before is not summed up: ") + error.what()});
      }
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

  CaptureOptions captureOf(const CameraPlan& plan) {
    const bool live = plan.source.isLive();
    CaptureOptions capture;
    capture.stream = ++streams;
    capture.reconnect = live;
    capture.lossless = plan.every_frame && !live;
    capture.adapt_s = live && plan.once ? 1 : 0;
    capture.max_fps = live ? 0 : plan.max_fps;
    capture.now = options.now;
    capture.steady = options.steady;
    // The scene is rendered here: what keeps it waiting is a busy machine, not a camera to open again.
    capture.source.timeout_s = plan.isScene() ? 600 : plan.timeout_s;
    capture.name = plan.source.nameInMessages();
    capture.source.on_unreadable = [this](const std::string& why, std::optional<UnixMs> taken) {
      post({taken.value_or(options.now()), EventKind::kDamaged, Severity::kWarning, "left out: " + why});
    };
    capture.source.on_note = [this](const std::string& text) {
      report({options.now(), EventKind::kSource, Severity::kInfo, text});
    };
    capture.source.chosen = plan.chosen;
    return capture;
  }

  std::shared_ptr<Recorder> makeRecorder(const CameraPlan& plan, const std::shared_ptr<Hiding>& hiding) {
    const auto privacy = hiding->options();
    const RecorderOptions recording{.source = plan.source.name(),
                                    .every_s = plan.every_s,
                                    .every_frame = plan.every_frame && !plan.source.isLive(),
                                    .once = plan.once,
                                    .archive_clock = plan.readsArchive() ? plan.archiveClock() : std::nullopt,
                                    .archive_times = plan.readsArchive() ? timesText(plan.archive->times) : "",
                                    .own_clock = plan.hasOwnClock(),
                                    .night = plan.night,
                                    .place = plan.place,
                                    .alarms = plan.alarms,
                                    .quality = plan.quality,
                                    .states = plan.states,
                                    .privacy = privacy ? std::optional(privacy->json()) : std::nullopt,
                                    .hidden = std::bind_front(&Hiding::hiddenIn, hiding)};
    auto recorder =
        std::make_shared<Recorder>(recording, store ? &*store : nullptr, [this](const Event& event) { report(event); });
    if (plan.again) recorder->measureAgain();
    return recorder;
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

  void beginToTell(const CameraPlan& plan) {
    stays = plan.once;
    // The picture of an earlier run may have hidden less, unless this run goes on with what that one hid.
    if (plan.privacy.hidden || plan.privacy.blurred || !plan.once) dropPicture(true);
    facts.title = options.title;
    facts.scene = plan.isScene();
    facts.alarms = plan.alarms.alarms;
    tellFacts();
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
    if (teller) {
      teller->add(impl->options.camera, impl->options.database, *impl->store,
                  [impl](const Event& event) { impl->post(event); });
    }
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
    if (occasion == Occasion::kAsked || !impl->picture_failed.exchange(true))
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

void Session::open(const CameraPlan& plan) {
  if (plan.regions) vision::check(*plan.regions);
  close();
  Impl& impl = *impl_;
  const CaptureOptions capture = impl.captureOf(plan);
  const auto hiding = std::make_shared<Hiding>(plan.privacy);
  if (!impl.store || (plan.privacy.hidden && plan.privacy.blurred)) hiding->setStored({});
  const auto privacy = hiding->options();
  const auto recorder = impl.makeRecorder(plan, hiding);
  const auto pictures = std::make_shared<StoredPictures>();
  SourceOpener opener({.plan = plan,
                       .database = impl.options.database,
                       .model = impl.worker->wanted(),
                       .now = impl.options.now,
                       .hiding = hiding,
                       .recorder = recorder,
                       .pictures = pictures});
  const auto watch = std::shared_ptr<OpenSource>(  // NOLINT(modernize-make-shared): an aggregate
      new OpenSource{.source = plan.source.name(),
                     .stream = capture.stream,
                     .counted = capture.lossless,
                     .scene = plan.isScene(),
                     .live = plan.source.isLive(),
                     .archive = plan.readsArchive(),
                     .every_s = plan.once ? 0 : plan.every_s,
                     .states = std::make_shared<FollowedStates>(plan.states),
                     .before = pictures,
                     .recorder = recorder,
                     .hiding = hiding,
                     .capture = CaptureThread(std::move(opener), capture, impl.frames,
                                              [&impl](const CaptureStatus& status) { impl.takeState(status); })});
  if (plan.summary_hour && !watch->archive) {
    watch->summary.emplace(*plan.summary_hour, vision::clockOrMachine(plan.archiveClock()),
                           watch->scene ? 0 : impl.options.now());
  }
  if (impl.store) impl.store->setSource(watch->source);
  impl.beginToTell(plan);
  if (plan.regions) recorder->setRegions(*plan.regions);
  impl.worker->setFeatures(!plan.states.heads.empty());
  impl.worker->setStream(watch->stream, plan.samples_only && !watch->counted ? plan.every_s : 0);
  impl.setSource(watch);
  if (privacy && privacy->on()) impl.report({impl.options.now(), EventKind::kSource, Severity::kInfo, privacy->text()});
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
  if (impl_->watch) impl_->watch->recorder->storeAlarms();
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
  if (watch) {
    status.source = watch->capture.status();
    status.live = watch->live;
  }
  if (impl_->worker) status.inference = impl_->worker->status();
  if (impl_->store) status.store = impl_->store->status();
  status.finished = status.source.state == CaptureState::kEnded &&
                    status.inference.done == status.source.frames_in - status.source.dropped;
  if (watch && !watch->archive) {
    status.every_s = watch->every_s;
    status.pace = watch->recorder->pace();
    status.sample_age_s = watch->recorder->sampleAge(steadyNow());
  }
  if (watch && watch->counted && impl_->store) {
    status.pictures = watch->before->left_out + status.source.frame_count;
    status.stored = watch->before->left_out + watch->samples;
  }
  return status;
}

}  // namespace mpm::monitor
