// SPDX-License-Identifier: Apache-2.0
#include "monitor/recorder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/duration_text.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "evaluation/confusion_matrix.h"
#include "mpm/error.hpp"
#include "vision/labels/classes.h"
#include "vision/pictures/pictures.h"
#include "vision/sources/source_spec.h"

namespace mpm::monitor {
namespace {

using namespace std::chrono_literals;

SessionInfo sessionOf(const InferenceResult& result, const RecorderOptions& options) {
  SessionInfo info;
  static_cast<Measuring&>(info) = measuringOf(*result.model, result.model_digest, result.settings);
  info.source = options.source;
  info.model = result.model_path;
  info.model_name = result.model->facts.name;
  info.cross_validation = evaluation::crossValidationOf(result.model->facts);
  info.night_rule = toText(options.night);
  info.heads = options.states.digests(result.model_digest);
  info.every_s = options.once && options.every_s <= 60 ? 0 : options.every_s;
  if (options.archive_clock) info.time_zone = options.archive_clock->zone();
  info.times = options.archive_times;
  if (options.place) {
    info.latitude = options.place->latitude;
    info.longitude = options.place->longitude;
  }
  return info;
}

Event moved(const ViewMotion& motion, ViewChange change, UnixMs time) {
  return {time, EventKind::kView, change == ViewChange::kLarge ? Severity::kWarning : Severity::kInfo,
          std::string("the camera was moved") + (change == ViewChange::kLarge ? "" : " a little") + ": what it shows " +
              toText(motion) +
              (change == ViewChange::kLarge ? ". Labels, regions and series before belong to the old view"
                                            : ". Regions move along")};
}

FrameFacts factsOf(const InferenceResult& result) {
  FrameFacts facts{.token_counts = result.estimate.tokens, .inference_ms = result.estimate.ms.total};
  if (const auto& report = result.estimate.reuse) facts.rows = report->rows;
  return facts;
}

std::int64_t digestOf(const cv::Mat& picture) {
  std::uint64_t digest = 0;
  for (int y = 0; y < picture.rows; ++y)
    digest = hashBytes({picture.ptr<char>(y), static_cast<std::size_t>(picture.cols) * picture.elemSize()}, digest);
  return static_cast<std::int64_t>(digest);
}

// `before`: the digest of the model of the session before, where that was read from the same file.
Event takeover(const InferenceResult& result, const std::string& before) {
  const ModelInfo& model = *result.model;
  const std::string file = "'" + vision::redactCredentials(result.model_path) + "'";
  const bool replaced = !before.empty() && before != result.model_digest;
  return {result.frame.time, EventKind::kSession, Severity::kInfo,
          (replaced ? "the model is new: " + file + " was replaced, and runs " : file + " takes over, ") +
              (model.reduction == kFullModel ? "without merging" : "reduction " + toString(model.reduction)) +
              (result.settings.empty() ? "" : ", " + result.settings) +
              (replaced ? ". Samples from now on are of another series" : "")};
}

}  // namespace

Measuring measuringOf(const ModelInfo& model, const std::string& digest, const std::string& settings) {
  return {.model_digest = digest,
          .reduce = toString(model.reduction),
          .precision = toString(model.precision),
          .settings = settings,
          .tokens = model.tokens(),
          .classes = vision::classNames(model)};
}

// A timer that runs the program, a scene and an archive have their own pace.
Recorder::Chain::Chain(const RecorderOptions& options)
    : day_night(options.night),
      alarms(options.alarms, options.own_clock || options.once ? 0 : options.every_s),
      quality(options.quality.pictures),
      states(options.states) {}

Recorder::Recorder(RecorderOptions options, StoreWriter* store, std::function<void(const Event&)> on_event)
    : options_(std::move(options)),
      store_(store),
      on_event_(std::move(on_event)),
      chain_(options_),
      pace_(options_.every_s) {
  if (!(options_.every_s >= 0)) throw Error("the time between samples must not be negative");
  if (store_ && options_.privacy) store_->setPrivacy(options_.source, *options_.privacy);
}

HiddenAt Recorder::hiddenIn(const InferenceResult& result) const {
  if (options_.privacy == "" || !options_.hidden) return {};
  return [&](const ViewMotion& offset) { return options_.hidden(result, offset); };
}

std::optional<Sample> Recorder::add(const InferenceResult& result, std::int64_t dropped) {
  std::vector<Event> events;
  std::optional<Sample> sample;
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return std::nullopt;
    const std::int64_t steady = result.frame.steady, step = static_cast<std::int64_t>(options_.every_s * 1000);
    if (options_.archive_clock) turnTo(result.frame.time);
    const SeenView seen = locate(result);
    if (seen.change != ViewChange::kNone) events.push_back(moved(chain_.view.moved(), seen.change, result.frame.time));
    if (seen.change == ViewChange::kLarge) session_ = -1;
    const bool fresh = result.session != session_;
    if (fresh) {
      if (session_ >= 0)
        events.push_back(takeover(result, result.model_path == model_.path ? model_.digest : std::string()));
      session_ = result.session;
      alarms_known_ = true;
      model_ = {result.model_path, result.model_digest};
      reuse_ = {};
      agreement_.reset();
      regions_.lookAgain();
      const SessionInfo session = sessionOf(result, options_);
      const bool other_classes = std::exchange(classes_, session.classes) != session.classes;
      const auto follow = [&](Alarms& alarms) {
        std::vector<Event> said = other_classes ? alarms.setClasses(classes_, result.frame.time) : std::vector<Event>();
        for (Event& event : alarms.setHeads(session.heads, result.frame.time)) said.push_back(std::move(event));
        return said;
      };
      for (Event& event : follow((newest_ ? *newest_ : chain_).alarms)) events.push_back(std::move(event));
      if (newest_) (void)follow(chain_.alarms);
      if (store_) {
        store_->beginSession(session, options_.archive_clock ? std::optional(result.frame.time) : std::nullopt,
                             std::exchange(again_, false));
      }
    }
    if (const auto& report = result.estimate.reuse) {
      if (report->agreement) agreement_ = std::min(agreement_.value_or(100), *report->agreement);
      if (auto event = reuse_.add(*report, result.reuse, result.frame.time)) events.push_back(std::move(*event));
    }
    // A frame that comes a little early takes its turn; the next one is not moved by it.
    if (fresh || options_.every_frame || !next_due_ || steady >= *next_due_ - step / 4) {
      next_due_ = next_due_ && steady - *next_due_ < step ? *next_due_ + step : steady + step;
      FrameFacts facts = factsOf(result);
      facts.dropped = std::max<std::int64_t>(0, dropped - std::exchange(dropped_, dropped));
      facts.agreement = std::exchange(agreement_, std::nullopt);
      facts.quality = measureQuality(result.frame.image, options_.quality);
      const std::int64_t pixels = digestOf(result.frame.image);
      if (const auto last = std::exchange(chain_.pixels, pixels); last != 0) facts.unchanged = pixels == last;
      sample = measure(result, facts, seen.offset, events);
      sample->pixels = pixels;
      sample->measured_offset = seen.motion;
      const auto before = std::exchange(chain_.last, sample->time);
      if (const std::int64_t arrived = arrived_.exchange(steady); arrived > 0 && !options_.once)
        pace_.add(static_cast<double>(steady - arrived) / kSecondMs);
      if (pace_.known()) usual_s_ = pace_.pace().usual_s;
      // A camera that is asked once a minute may answer a quarter earlier; pictures have times of their own.
      const UnixMs apart = !options_.own_clock && options_.every_s >= 60 ? kMinuteMs * 3 / 4 : kMinuteMs;
      const bool sparse = !before || std::abs(sample->time - *before) >= apart;
      const HiddenAt hidden = hiddenIn(result);
      sample->states = chain_.states.read({.image = result.frame.image,
                                           .estimate = result.estimate,
                                           .digest = result.model_digest,
                                           .time = sample->time,
                                           .moved = sample->view_offset,
                                           .sparse = sparse,
                                           .look = result.look,
                                           .hidden = [&] { return hidden ? hidden(sample->view_offset) : cv::Mat(); }},
                                          events);
      sample->night = chain_.night = chain_.day_night.night(sample->time, sample->brightness());
      if (auto event = heartbeat(sample->time, steady)) events.push_back(std::move(*event));
      for (Event& event : chain_.alarms.add(*sample, options_.own_clock ? sample->time : steady))
        events.push_back(std::move(event));
      if (facts.quality) {
        if (auto event = chain_.quality.add(*facts.quality, chain_.night, sample->time))
          events.push_back(std::move(*event));
      }
      if (options_.archive_clock && store_) sample->digest = vision::pictureDigest(result.frame.file);
    }
    store(sample, events);
  }
  tell(events);
  return sample;
}

// Pictures that are older than what is stored have a chain of their own: alarms, states and view of the newest picture
// stay as they stand, and go on with the next one that is newer.
void Recorder::turnTo(UnixMs time) {
  if (newest_ && time >= *newest_->last) turnToNewest();
  if (newest_ || !chain_.last || time >= *chain_.last) return;
  newest_ = std::exchange(chain_, Chain(options_));
  (void)chain_.alarms.setClasses(classes_, time);
  (void)chain_.alarms.setHeads(options_.states.digests(model_.digest), time);
  if (region_names_) (void)chain_.alarms.setRegions(*region_names_, time);
}

void Recorder::turnToNewest() {
  if (newest_) chain_ = *std::exchange(newest_, std::nullopt);
}

// Whether a picture is older than the newest one, and not older than the view that is known of that.
bool Recorder::isOfNewestView(UnixMs time) const {
  return newest_ && newest_->view_since && time >= *newest_->view_since;
}

// An older picture is found in the view of the newest one where that was the view then; nothing is learned or reported
// of it. From the others a view of their own is learned, as if they came first.
Recorder::SeenView Recorder::locate(const InferenceResult& result) {
  const cv::Mat& image = result.frame.image;
  const UnixMs time = result.frame.time;
  const HiddenAt hidden = hiddenIn(result);
  if (isOfNewestView(time)) {
    const auto motion = newest_->view.find(image, hidden);
    if (!motion || isSmall(*motion, image.size()))
      return {.motion = motion, .offset = motion.value_or(newest_->view.offset())};
  }
  const ViewChange change = chain_.view.add(image, time, !result.frame.file.empty(), hidden);
  if (change == ViewChange::kLarge || !chain_.view_since) chain_.view_since = time;
  return {.change = change, .motion = chain_.view.motion(), .offset = chain_.view.offset()};
}

Sample Recorder::measure(const InferenceResult& result, const FrameFacts& facts, const ViewMotion& offset,
                         std::vector<Event>& events) {
  Sample sample;
  sample.time = result.frame.time;
  sample.picture = std::filesystem::path(result.frame.file).filename().string();
  sample.night = chain_.night;
  sample.token_counts = facts.token_counts;
  const auto look = [&](const cv::Mat& cut_out) {
    try {
      cv::Mat labels = result.look(cut_out).labels;
      look_failed_ = false;
      return labels;
    } catch (const std::exception& error) {
      if (!std::exchange(look_failed_, true)) {
        events.push_back({sample.time, EventKind::kModel, Severity::kWarning,
                          std::string("classes are not read at the resolution of the camera: ") + error.what()});
      }
      return cv::Mat();
    }
  };
  sample.view_offset = offset;
  try {
    regions_.measure(sample, facts, result.frame.image, result.estimate.labels, result.estimate,
                     result.look ? look : std::function<cv::Mat(const cv::Mat&)>());
  } catch (const Error& error) {
    events.push_back(
        {sample.time, EventKind::kSource, Severity::kError, std::string("regions are not measured: ") + error.what()});
  }
  for (RegionSample& region : sample.regions)  // pixels without an object have a label that is no class
    std::erase_if(region.areas, [&](const auto& area) { return area.first >= result.model->classes; });
  return sample;
}

Sample Recorder::measure(const InferenceResult& result) {
  std::vector<Event> events;  // the next sample meets the same problem
  const std::lock_guard lock(mutex_);
  const ViewDetector& view = (isOfNewestView(result.frame.time) ? *newest_ : chain_).view;
  const ViewMotion offset = result.repeated ? view.offsetOf(result.frame.image, hiddenIn(result)) : view.offset();
  return measure(result, factsOf(result), offset, events);
}

bool Recorder::setPrivacy(const std::string& privacy) {
  const std::lock_guard lock(mutex_);
  const auto before = std::exchange(options_.privacy, privacy);
  if (store_ && before != privacy) store_->setPrivacy(options_.source, privacy);
  const bool same = before.value_or("") == privacy;  // as long as it was not known, nothing was learned of the view
  if (!same) {
    chain_.view.forget();
    if (newest_) newest_->view.forget();
  }
  return !same;
}

std::optional<Json> Recorder::alarms() const {
  const std::lock_guard lock(mutex_);
  if (!alarms_known_) return std::nullopt;
  Json all = Json::object();
  for (const auto& [alarm, rings] : (newest_ ? *newest_ : chain_).alarms.ringing()) all[toString(alarm)] = rings;
  return all;
}

void Recorder::setView(ViewReference view, std::optional<UnixMs> since) {
  const std::lock_guard lock(mutex_);
  chain_.view.start(std::move(view));
  if (!chain_.view_since) chain_.view_since = since;
}

void Recorder::resume(const std::vector<Sample>& samples, const std::vector<AlarmState>& alarms, UnixMs now,
                      std::int64_t steady) {
  std::unique_lock lock(mutex_);
  if (session_ >= 0) return;
  std::vector<UnixMs> times;
  for (const Sample& sample : samples) {
    if (sample.time > now && !options_.own_clock) continue;  // of a clock that was wrong
    chain_.night = sample.night;
    chain_.day_night.goOn(chain_.night);
    PictureQuality quality;
    for (std::size_t bit = 0; bit < kQualityFlags.size(); ++bit)
      if (sample.whole().value(kQualityFlags[bit]).value_or(0) != 0) quality.flags |= 1 << bit;
    (void)chain_.quality.add(quality, chain_.night, sample.time);
    chain_.states.resume(sample.states);
    chain_.pixels = sample.pixels;
    times.push_back(sample.time);
    chain_.last = sample.time;
  }
  stored_alarms_ = alarms;
  const UnixMs at =
      options_.own_clock ? chain_.last.value_or(0) : now;  // a clock of its own stands still between watches
  const std::vector<Event> events = chain_.alarms.resume(alarms, times, at, options_.own_clock ? at : steady);
  store({}, events);
  lock.unlock();
  tell(events);
}

void Recorder::setRecalled() {
  const std::lock_guard lock(mutex_);
  alarms_known_ = true;
}

void Recorder::measureAgain() {
  const std::lock_guard lock(mutex_);
  again_ = true;
}

void Recorder::setRegions(const std::vector<vision::Region>& regions) {
  RegionMeter meter(regions);
  std::vector<Event> events;
  std::vector<vision::Region> measured = regions;
  std::erase_if(measured, [](const vision::Region& one) { return one.ignore; });
  {
    const std::lock_guard lock(mutex_);
    turnToNewest();
    regions_ = std::move(meter);
    region_names_ = vision::namesOf(measured);
    events = chain_.alarms.setRegions(*region_names_, unixNow());
    if (store_) store_->setRegions(options_.source, regions);
    store({}, events);
  }
  tell(events);
}

void Recorder::setStoredRegions(const std::vector<vision::Region>& regions) {
  {
    const std::lock_guard lock(mutex_);
    if (region_names_) return;
  }
  setRegions(regions);
  std::string names;
  for (const std::string& name : vision::namesOf(regions)) names += (names.empty() ? "" : ", ") + visibleText(name);
  if (on_event_)
    on_event_({unixNow(), EventKind::kSource, Severity::kInfo, "measures the regions that were stored: " + names});
}

void Recorder::close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
}

void Recorder::tick(const CaptureStatus& status, UnixMs time, std::int64_t steady) {
  std::vector<Event> events;
  {
    const std::unique_lock lock(mutex_, 50ms);
    if (!lock) return;
    // Between the runs of a timer no frames come either, if none comes now.
    const bool none =
        status.attempt > 0 || status.state == CaptureState::kStalled || status.state == CaptureState::kEnded;
    const bool between = options_.once && none && status.frame_age_s < 0 && chain_.last;
    const double silent_s = between ? static_cast<double>(time - *chain_.last) / kSecondMs : status.frame_age_s;
    if (!options_.archive_clock) events = chain_.alarms.tick(time, steady, silent_s);
    if (const auto jump = clock_.jump(time, steady)) {
      events.push_back({time, EventKind::kClock, Severity::kWarning,
                        std::string("the clock went ") + (*jump < 0 ? "back" : "forward") + " by " +
                            durationText(std::abs(static_cast<double>(*jump)) / 1000) +
                            (*jump < 0 ? "" : " (set, or the machine slept)")});
    }
    if (auto event = lookAtDisk(time, steady)) events.push_back(std::move(*event));
    store({}, events);
  }
  tell(events);
}

// With a sample, a minute after the first one, so that a person sees it, and then once a day. Whoever waits for it
// learns from its absence that no samples come or are stored, or that this program or its machine has stopped.
std::optional<Event> Recorder::heartbeat(UnixMs time, std::int64_t steady) {
  if (options_.archive_clock) return std::nullopt;
  ++samples_;
  if (!beats_at_) beats_at_ = steady + kMinuteMs;
  if (steady < *beats_at_ || (store_ && !store_->status().writing)) return std::nullopt;
  beats_at_ = steady + kDayMs;
  const char* const since = std::exchange(beat_, true) ? "the heartbeat before" : "this watch began";
  return Event{time, EventKind::kHeartbeat, Severity::kInfo,
               counted(std::exchange(samples_, 0), "sample") + " since " + since};
}

// The thread that writes cannot report that it hangs. A disk that hangs again and again is reported every ten minutes.
std::optional<Event> Recorder::lookAtDisk(UnixMs time, std::int64_t steady) {
  constexpr std::int64_t kBetween = 10 * kMinuteMs;
  if (!store_) return std::nullopt;
  const WriterStatus disk = store_->status();
  if (!disk.answers && !disk_reported_ && (!disk_reported_at_ || steady - *disk_reported_at_ >= kBetween)) {
    disk_reported_ = true;
    disk_reported_at_ = steady;
    return Event{time, EventKind::kStorage, Severity::kError, "samples wait in memory: " + disk.problem};
  }
  if (disk.answers && std::exchange(disk_reported_, false))
    return Event{time, EventKind::kStorage, Severity::kInfo, "the disk answers again"};
  return std::nullopt;
}

void Recorder::setRules(const NightRule& night, const std::optional<vision::GeoPosition>& place,
                        const AlarmOptions& alarms, const QualityOptions& quality, UnixMs now) {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    turnToNewest();
    if (night != options_.night) {
      options_.night = night;
      chain_.day_night.setRule(night);
      chain_.night.reset();
      session_ = -1;  // the next sample begins one of the new rule
    }
    if (place != options_.place) {
      options_.place = place;
      session_ = -1;  // the next sample begins one of the new place
    }
    if (alarms != options_.alarms) {
      Alarms fresh(alarms);
      events = fresh.follow(chain_.alarms, now);
      const auto add = [&](const std::vector<Event>& more) { events.insert(events.end(), more.begin(), more.end()); };
      if (!classes_.empty()) add(fresh.setClasses(classes_, now));
      if (session_ >= 0) add(fresh.setHeads(options_.states.digests(model_.digest), now));
      if (region_names_) add(fresh.setRegions(*region_names_, now));
      chain_.alarms = std::move(fresh);
      options_.alarms = alarms;
    }
    if (quality != options_.quality) {
      options_.quality = quality;
      chain_.quality = QualityDetector(quality.pictures);
    }
    store({}, events);
  }
  tell(events);
}

void Recorder::storeAlarms() {
  const std::lock_guard lock(mutex_);
  stored_alarms_.clear();
  store({}, {});
}

void Recorder::setStates(const StateOptions& states) {
  StateDetector watch(states);
  const std::lock_guard lock(mutex_);
  turnToNewest();
  if (states.digests(model_.digest) != options_.states.digests(model_.digest)) session_ = -1;
  options_.states = states;
  chain_.states = std::move(watch);
}

// Sample, alarms and events in one commit: after a kill all of it is known, or nothing.
void Recorder::store(const std::optional<Sample>& sample, const std::vector<Event>& events) {
  Recorded recorded{.sample = sample, .events = events};
  if (sample && !newest_) recorded.view = chain_.view.takeLearned();
  auto alarms = (newest_ ? *newest_ : chain_).alarms.states();
  if (alarms != stored_alarms_) recorded.alarms = alarms;
  stored_alarms_ = std::move(alarms);
  if (store_ && (recorded.sample || recorded.alarms || !events.empty())) store_->append(recorded);
}

void Recorder::tell(const std::vector<Event>& events) const {
  if (!on_event_) return;
  for (const Event& event : events) on_event_(event);
}

}  // namespace mpm::monitor
