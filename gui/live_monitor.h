// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTimer>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "gui/models/live_frame.h"
#include "monitor/recorder.h"

namespace mpm::gui {

/// What is opened and how it is watched.
struct LiveOptions {
  vision::SourceSpec source;
  double max_fps = 25;  ///< files: not faster
  double every_s = 1;   ///< one stored sample in so many seconds at most
  /// Files: each frame waits until the model has taken the one before, and is a sample whatever every_s.
  bool every_frame = false;
  monitor::NightRule night;
  monitor::AlarmOptions alarms;
  monitor::SourceFactory factory;  ///< instead of the one for `source`; for tests
};

/// The threads behind the window: capture, inference, storage. Lives on the UI thread. Of its methods
/// only open() and close() wait: for the thread that supervises the capture, which gives up a read that hangs. What the
/// threads have to say arrives as signals, and of frames only the latest.
class LiveMonitor : public QObject {
  Q_OBJECT
 public:
  /// `database` may be empty: nothing is stored. One that cannot be opened is tried again until it can. A model file
  /// that changes is read anew.
  LiveMonitor(std::string model, SegmenterOptions inference, std::string database, monitor::StoreOptions storing,
              QObject* parent = nullptr);
  ~LiveMonitor() override;  ///< waits for the frame in hand and for the last commit

  void open(const LiveOptions& options);
  void close();
  bool isOpen() const { return capture_ != nullptr; }
  const LiveOptions& options() const { return options_; }
  /// The source as it may be shown and stored.
  std::string sourceName() const { return options_.source.shownText(); }

  /// These three show on the next frame or, where repeats(), on the last one.
  void setSchedule(const Schedule& schedule);
  /// nullopt: the model's own schedule.
  void setModel(const std::string& path, std::optional<Schedule> schedule = std::nullopt);
  void setCompare(bool compare);
  /// No next frame comes by itself (it is paused, ended or lost), and there was one: changes segment that anew. It is
  /// no new sample.
  bool repeats() const { return frame_ && !framesCome(); }
  /// The file of the model that runs, or that is the first to be read; one that cannot be read does not count.
  std::string model() const;
  /// As of StoreOptions.
  void setRetention(double keep_days, double max_megabytes);
  void setPaused(bool paused);
  bool paused() const { return paused_; }
  void setNightRule(const monitor::NightRule& rule);
  void setAlarms(const monitor::AlarmOptions& alarms);
  /// As of Recorder.
  std::optional<bool> night() const;

  /// Results that a newer one replaced before the window took them.
  std::int64_t stale() const { return stale_; }
  monitor::CaptureStatus captureStatus() const;
  monitor::InferenceStatus inferenceStatus() const;
  std::optional<monitor::WriterStatus> writerStatus() const;

 signals:
  void frameArrived(const mpm::gui::LiveFramePtr& frame);
  void stateChanged(const mpm::monitor::CaptureStatus& status);
  void eventHappened(const mpm::monitor::Event& event);
  /// Twice a second: counters and ages.
  void ticked();

 private:
  bool framesCome() const;
  bool storeIsSettled() const;  // there is one, there will be none, or it cannot be opened yet
  void repeatFrame();
  void makeRecorder();
  std::shared_ptr<monitor::Recorder> recorder() const;
  void deliver(LiveFramePtr frame);
  void takeFrame();
  void post(const monitor::Event& event);  // from any thread
  void openStore(const std::stop_token& stop, const monitor::StoreOptions& storing);

  const std::string first_model_, database_;
  monitor::StoreOptions storing_;
  LiveOptions options_;
  bool paused_ = false;
  int stream_ = 0;

  std::shared_ptr<monitor::FrameMailbox> frames_;
  std::unique_ptr<monitor::Capture> capture_;

  // Shared with the inference thread and the thread that opens the database.
  struct Shared {
    std::mutex mutex;
    std::shared_ptr<monitor::Recorder> recorder;
    std::unique_ptr<monitor::StoreWriter> store;
    std::string store_problem;  // why there is none
    LiveFramePtr latest;
    bool notified = false;
  };
  std::shared_ptr<Shared> shared_;
  std::atomic<std::int64_t> stale_ = 0, dropped_ = 0;
  std::unique_ptr<monitor::InferenceWorker> worker_;
  std::jthread opening_;
  LiveFramePtr frame_;
  QTimer tick_;
};

}  // namespace mpm::gui
