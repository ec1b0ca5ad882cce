// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/live_monitor.h"

#include "vision/time.h"

namespace mpm::gui {

LiveMonitor::LiveMonitor(monitor::SessionOptions options, QObject* parent) : QObject(parent) {
  options.inference.inspect = true;
  // Emits on the thread of this object.
  const auto queued = [this](auto emission) { QMetaObject::invokeMethod(this, std::move(emission)); };
  session_.emplace(
      std::move(options),
      monitor::Session::Callbacks{
          .on_frame =
              [this](monitor::InferenceResult result) {
                std::vector<int> ages = row_ages_.add(result.estimate);
                deliver(makeLiveFrame(std::move(result), std::move(ages)));
              },
          .on_event = [this,
                       queued](const monitor::Event& event) { queued([this, event] { emit eventHappened(event); }); },
          .on_state =
              [this, queued](const monitor::CaptureStatus& status) {
                queued([this, status] { emit stateChanged(status); });
              },
          .on_picture =
              [this, queued](const std::string& path, monitor::SnapshotWriter::Occasion occasion) {
                queued([this, path = QString::fromStdString(path), occasion] { emit pictureWritten(path, occasion); });
              },
          .on_pictures_removed = [this,
                                  queued](int files) { queued([this, files] { emit picturesRemoved(files); }); }});
  connect(&tick_, &QTimer::timeout, this, [this] {
    session_->tick();
    if (!frame_)  // no result yet, or no model: show what the camera sees
      if (const auto last = picture_ && !session_->framesCome() ? picture_ : session_->lastFrame())
        emit frameArrived(makeLiveFrame(*last));
    emit ticked();
  });
  tick_.start(500);
}

LiveMonitor::~LiveMonitor() = default;

void LiveMonitor::open(const monitor::WatchOptions& options) {
  frame_.reset();
  picture_.reset();
  session_->open(options);
}

void LiveMonitor::close() {
  frame_.reset();
  picture_.reset();
  session_->close();
}

void LiveMonitor::deliver(LiveFramePtr frame) {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(latest_, std::move(frame))) QMetaObject::invokeMethod(this, [this] { takeFrame(); });
}

void LiveMonitor::takeFrame() {
  LiveFramePtr frame;
  {
    const std::lock_guard lock(mutex_);
    frame = std::exchange(latest_, nullptr);
  }
  if (!frame || !session_->owns(frame->result.frame)) return;
  frame_ = frame;
  emit frameArrived(frame);
}

void LiveMonitor::showPicture(const QString& file, const cv::Mat& image) {
  picture_ = session_->lastFrame();  // of the stream that is open
  if (!picture_) return;
  picture_->image = image;
  picture_->file = file.toStdString();
  picture_->name = QFileInfo(file).completeBaseName().toStdString();
  picture_->time = unixNow();
  if (session_->status().inference.ready)
    session_->repeat(*picture_);
  else
    emit frameArrived(makeLiveFrame(*picture_));
}

}  // namespace mpm::gui
