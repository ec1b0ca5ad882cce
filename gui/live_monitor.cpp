// SPDX-License-Identifier: Apache-2.0
#include "gui/live_monitor.h"

#include <QMetaObject>
#include <chrono>
#include <condition_variable>
#include <utility>

#include "mpm/error.hpp"

namespace mpm::gui {
namespace {

using monitor::Event;
using monitor::EventKind;
using monitor::Severity;

}  // namespace

LiveMonitor::LiveMonitor(std::string model, SegmenterOptions inference, std::string database,
                         monitor::StoreOptions storing, QObject* parent)
    : QObject(parent),
      first_model_(std::move(model)),
      database_(std::move(database)),
      storing_(std::move(storing)),
      frames_(std::make_shared<monitor::FrameMailbox>()),
      shared_(std::make_shared<Shared>()) {
  inference.inspect = true;
  monitor::InferenceWorker::Callbacks callbacks;
  callbacks.on_result = [this](monitor::InferenceResult result) {
    if (const auto now = recorder(); now && !result.repeated) now->add(result, dropped_);
    try {
      deliver(makeLiveFrame(std::move(result)));
    } catch (const std::exception& error) {
      post({monitor::unixNow(), EventKind::kModel, Severity::kError, error.what()});
    }
  };
  callbacks.on_event = [this](const Event& event) { post(event); };
  worker_ =
      std::make_unique<monitor::InferenceWorker>(frames_, first_model_, std::move(inference), std::move(callbacks));
  worker_->setFollowFile(true);

  // Opening a large database after a crash replays its log: not on the UI thread.
  if (!database_.empty())
    opening_ = std::jthread([this, storing = storing_](const std::stop_token& stop) { openStore(stop, storing); });
  connect(&tick_, &QTimer::timeout, this, [this] {
    if (capture_) {
      const monitor::CaptureStatus status = capture_->status();
      dropped_ = status.dropped;
      if (const auto now = recorder()) now->tick(status, monitor::unixNow(), monitor::steadyNow());
      if (!frame_)  // no result yet, or no model: show what the camera sees
        if (const auto last = capture_->last()) emit frameArrived(makeLiveFrame(last->image));
    }
    emit ticked();
  });
  tick_.start(500);
}

LiveMonitor::~LiveMonitor() {
  tick_.stop();
  close();
  if (opening_.joinable()) {
    opening_.request_stop();
    opening_.join();
  }
  frames_->close();
  worker_.reset();
  const std::lock_guard lock(shared_->mutex);
  shared_->recorder.reset();
  shared_->store.reset();
}

// A disk that is plugged in later is no reason to store nothing.
void LiveMonitor::openStore(const std::stop_token& stop, const monitor::StoreOptions& storing) {
  constexpr auto kPause = std::chrono::seconds(5);
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::string problem;
  while (!stop.stop_requested()) {
    try {
      auto store = std::make_unique<monitor::StoreWriter>(database_, storing, [this](const Event& event) {
        QMetaObject::invokeMethod(this, [this, event] { emit eventHappened(event); });
      });
      {
        const std::lock_guard lock(shared_->mutex);
        shared_->store = std::move(store);
      }
      QMetaObject::invokeMethod(this, [this] {
        setRetention(storing_.keep_days, storing_.max_megabytes);  // changed while the file was being opened
        if (!isOpen()) return;
        makeRecorder();
        capture_->start();
      });
      return;
    } catch (const std::exception& error) {
      if (std::exchange(problem, error.what()) != error.what()) {
        const Event event{monitor::unixNow(), EventKind::kStorage, Severity::kError, problem};
        QMetaObject::invokeMethod(this, [this, event] { emit eventHappened(event); });
        {
          const std::lock_guard lock(shared_->mutex);
          shared_->store_problem = problem;
        }
        QMetaObject::invokeMethod(this, [this] {
          if (isOpen()) capture_->start();  // what it gives is seen, if not stored
        });
      }
    }
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, kPause, [] { return false; });
  }
}

void LiveMonitor::open(const LiveOptions& options) {
  close();
  options_ = options;
  worker_->setStream(++stream_);
  makeRecorder();

  monitor::CaptureOptions capture;
  capture.stream = stream_;
  capture.reconnect = options.source.isLive();
  if (!capture.reconnect) capture.max_fps = options.max_fps;
  capture.lossless = options.every_frame;
  const auto factory = options.factory ? options.factory : monitor::sourceFactory(options.source);
  capture.source.on_unreadable = [this](const std::string& why) {
    post({monitor::unixNow(), EventKind::kSource, Severity::kWarning, "left out: " + why});
  };
  capture_ =
      std::make_unique<monitor::Capture>(factory, capture, frames_, [this](const monitor::CaptureStatus& status) {
        if (const auto event = monitor::sourceEvent(status, monitor::unixNow())) post(*event);
        QMetaObject::invokeMethod(this, [this, status] { emit stateChanged(status); });
      });
  // The first pictures of a folder must not be gone before the database is open.
  if (!options.every_frame || storeIsSettled()) capture_->start();
}

bool LiveMonitor::storeIsSettled() const {
  const std::lock_guard lock(shared_->mutex);
  return database_.empty() || shared_->store || !shared_->store_problem.empty();
}

void LiveMonitor::close() {
  if (!capture_) return;
  capture_->stop();
  capture_.reset();
  frames_->tryTake();  // nobody wants it, and the next source would count it as one that it dropped
  worker_->setStream(++stream_);
  frame_.reset();
  dropped_ = 0;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->recorder.reset();
    shared_->latest.reset();
    if (shared_->store) shared_->store->endSession();
  }
  emit stateChanged({});
}

void LiveMonitor::makeRecorder() {
  monitor::RecorderOptions options;
  options.source = options_.source.text;
  options.every_s = options_.every_frame ? 0 : options_.every_s;
  options.night = options_.night;
  options.alarms = options_.alarms;
  options.dropped = dropped_;
  options.watch_clock = options_.source.kind != vision::SourceKind::kDemo;  // its days pass in minutes
  const std::lock_guard lock(shared_->mutex);
  if (shared_->store) shared_->store->setSource(options_.source.text);
  shared_->recorder = std::make_shared<monitor::Recorder>(options, shared_->store.get(), [this](const Event& event) {
    QMetaObject::invokeMethod(this, [this, event] { emit eventHappened(event); });
  });
}

void LiveMonitor::deliver(LiveFramePtr frame) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->latest) ++stale_;
  shared_->latest = std::move(frame);
  if (std::exchange(shared_->notified, true)) return;
  QMetaObject::invokeMethod(this, [this] { takeFrame(); });
}

void LiveMonitor::takeFrame() {
  LiveFramePtr frame;
  {
    const std::lock_guard lock(shared_->mutex);
    frame = std::exchange(shared_->latest, nullptr);
    shared_->notified = false;
  }
  if (!frame || frame->result.frame.stream != stream_ || !capture_) return;
  frame_ = frame;
  emit frameArrived(frame);
}

void LiveMonitor::post(const Event& event) {
  if (const auto now = recorder())
    now->add(event);  // stores it and calls back
  else
    QMetaObject::invokeMethod(this, [this, event] { emit eventHappened(event); });
}

bool LiveMonitor::framesCome() const {
  if (!capture_ || paused_) return false;
  const monitor::CaptureState state = capture_->status().state;
  return state == monitor::CaptureState::kOpening || state == monitor::CaptureState::kLive;
}

void LiveMonitor::repeatFrame() {
  if (repeats()) worker_->repeat(frame_->result.frame);
}

void LiveMonitor::setSchedule(const Schedule& schedule) {
  worker_->setSchedule(schedule);
  repeatFrame();
}

void LiveMonitor::setModel(const std::string& path, std::optional<Schedule> schedule) {
  worker_->setModel(path, std::move(schedule));
  repeatFrame();
}

std::string LiveMonitor::model() const {
  const monitor::InferenceStatus status = worker_->status();
  return status.ready || !status.loading ? status.model : first_model_;
}

void LiveMonitor::setCompare(bool compare) {
  worker_->setCompare(compare);
  if (compare) repeatFrame();
}

void LiveMonitor::setRetention(double keep_days, double max_megabytes) {
  storing_.keep_days = keep_days;
  storing_.max_megabytes = max_megabytes;
  const std::lock_guard lock(shared_->mutex);
  if (shared_->store) shared_->store->setRetention(keep_days, max_megabytes);
}

void LiveMonitor::setPaused(bool paused) {
  paused_ = paused;
  worker_->setPaused(paused);
}

std::shared_ptr<monitor::Recorder> LiveMonitor::recorder() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->recorder;
}

void LiveMonitor::setNightRule(const monitor::NightRule& rule) {
  options_.night = rule;
  if (const auto now = recorder()) now->setNightRule(rule);
}

void LiveMonitor::setAlarms(const monitor::AlarmOptions& alarms) {
  options_.alarms = alarms;
  if (const auto now = recorder()) now->setAlarms(alarms, monitor::unixNow());
}

std::optional<bool> LiveMonitor::night() const {
  const auto now = recorder();
  return now ? now->night() : std::nullopt;
}

monitor::CaptureStatus LiveMonitor::captureStatus() const {
  return capture_ ? capture_->status() : monitor::CaptureStatus{};
}
monitor::InferenceStatus LiveMonitor::inferenceStatus() const { return worker_->status(); }

std::optional<monitor::WriterStatus> LiveMonitor::writerStatus() const {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->store) return shared_->store->status();
  if (shared_->store_problem.empty()) return std::nullopt;
  monitor::WriterStatus status;
  status.writing = false;
  status.problem = shared_->store_problem;
  return status;
}

}  // namespace mpm::gui
