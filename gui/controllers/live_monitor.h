// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>
#include <atomic>
#include <mutex>

#include "gui/models/live_frame.h"
#include "monitor/session.h"

namespace mpm::gui {

/// The last frame of a thread, for another one: of several that nobody has taken only the latest is left.
class LatestFrame {
 public:
  /// True: the one before was taken, so that the taker has to be told.
  bool put(LiveFramePtr frame) {
    const std::lock_guard lock(mutex_);
    return !std::exchange(frame_, std::move(frame));
  }
  /// Null: it was taken already.
  LiveFramePtr take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(frame_, nullptr);
  }

 private:
  std::mutex mutex_;
  LiveFramePtr frame_;
};

/// The monitor::Session behind the window, as signals on the UI thread. Of frames only the latest arrives.
class LiveMonitor : public QObject {
  Q_OBJECT
 public:
  explicit LiveMonitor(monitor::SessionOptions options, QObject* parent = nullptr);

  monitor::Session& session() { return *session_; }
  const monitor::Session& session() const { return *session_; }
  QString source() const { return QString::fromStdString(session_->source()); }
  QString model() const { return QString::fromStdString(session_->model()); }
  /// Where samples are stored; empty: nowhere.
  const QString& database() const { return database_; }
  /// The folder of stored pictures.
  const QString& pictures() const { return pictures_; }

  /// From now on samples are stored in this file: where the store has stopped.
  void storeIn(const QString& database);
  void open(const monitor::CameraPlan& options);
  void close();
  /// Changes the session: it shows on the next frame, or where none comes on the last one, which is no new sample.
  template <typename Change>
  void change(Change what) {
    what(*session_);
    unseen_ = kInWork + 1;
    repeatUnseen();
  }
  /// Runs the model on a picture of the folder that is open; it is no new sample. Before a model is there the picture
  /// alone is shown. `time`: when it was taken; 0: not known, it counts as taken now.
  void showPicture(const QString& file, const cv::Mat& image, UnixMs time);
  /// A frame is on show, and no next one comes by itself: the source is paused, lost or at its end.
  bool repeats() const { return frame_ && !session_->framesCome(); }

 signals:
  void frameArrived(const mpm::gui::LiveFramePtr& frame);
  void stateChanged(const mpm::monitor::CaptureStatus& status);
  /// `late`: another source was opened, or this one closed, since it happened.
  void eventHappened(const mpm::monitor::Event& event, bool late);
  void pictureWritten(const std::string& path, mpm::monitor::SnapshotWriter::Occasion occasion);
  void picturesRemoved(int files);
  /// Twice a second: counters and ages.
  void ticked();

 private:
  // Of a source that is running so many results may still come from before a change: one at the model, one on its way.
  static constexpr int kInWork = 2;

  void takeFrame();
  void repeatUnseen();
  monitor::CapturedFrame lastShown() const;

  QString database_;
  const QString pictures_;
  std::atomic<int> opened_ = 0;  // how often a source was opened or closed
  LatestFrame latest_;
  LiveFramePtr frame_;                             // on show
  std::optional<monitor::CapturedFrame> picture_;  // of showPicture(), until the source gives a frame again
  int unseen_ = 0;                                 // results that may not show the last change; 0: it was seen
  QTimer tick_;
  std::optional<monitor::Session> session_;  // last: its threads end first
};

}  // namespace mpm::gui
