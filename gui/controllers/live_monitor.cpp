// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/live_monitor.h"

namespace mpm::gui {

LiveMonitor::LiveMonitor(monitor::SessionOptions options, QObject* parent)
    : QObject(parent),
      database_(QString::fromStdString(options.database)),
      pictures_(QString::fromStdString(options.snapshots.folder)) {
  options.inference.inspect = true;
  // Emits on the thread of this object.
  const auto queued = [this](auto signal) {
    return [this, signal](const auto&... values) {
      QMetaObject::invokeMethod(this, [this, signal, values...] { emit(this->*signal)(values...); });
    };
  };
  monitor::Session::Callbacks callbacks;
  callbacks.on_frame = [this, row_ages = std::vector<int>()](monitor::InferenceResult result,
                                                             monitor::Sample sample) mutable {
    countAges(row_ages, result.estimate);
    if (latest_.put(makeLiveFrame(std::move(result), std::move(sample), row_ages)))
      QMetaObject::invokeMethod(this, [this] { takeFrame(); });
  };
  callbacks.on_event = [this](const monitor::Event& event) {
    QMetaObject::invokeMethod(this,
                              [this, event, opened = opened_.load()] { emit eventHappened(event, opened != opened_); });
  };
  callbacks.on_state = queued(&LiveMonitor::stateChanged);
  callbacks.on_picture = queued(&LiveMonitor::pictureWritten);
  callbacks.on_pictures_removed = queued(&LiveMonitor::picturesRemoved);
  session_.emplace(std::move(options), std::move(callbacks));
  connect(&tick_, &QTimer::timeout, this, [this] {
    session_->tick();
    if (!frame_) {  // no result yet, or no model: show what the camera sees
      if (const auto last = picture_ && !session_->framesCome() ? picture_ : session_->lastFrame()) {
        emit frameArrived(makeLiveFrame(session_->shown(*last)));
        // Paused before the first result: no frame comes that would bring one.
        if (session_->paused() && session_->status().inference.ready) session_->worker().repeat(*last);
      }
    }
    repeatUnseen();
    emit ticked();
  });
  tick_.start(500);
}

void LiveMonitor::open(const monitor::CameraPlan& options) {
  close();
  session_->open(options);
}

void LiveMonitor::close() {
  frame_.reset();
  picture_.reset();
  unseen_ = 0;
  session_->close();  // from then on nothing happens to it
  ++opened_;
}

void LiveMonitor::storeIn(const QString& database) {
  session_->storeIn(database.toStdString());
  database_ = database;
}

void LiveMonitor::takeFrame() {
  const LiveFramePtr frame = latest_.take();
  if (!frame || !session_->owns(frame->result.frame)) return;
  frame_ = frame;
  if (unseen_ > 0 && session_->framesCome()) --unseen_;
  if (!frame->result.repeated) picture_.reset();
  emit frameArrived(frame);
}

void LiveMonitor::repeatUnseen() {
  if (unseen_ > 0 && repeats()) {
    unseen_ = 0;
    session_->worker().repeat(lastShown());
  }
}

// What will stay on show. The last frames of a source that has ended may be at the model, or on their way from there;
// a pause holds those back that came after the one on show.
monitor::CapturedFrame LiveMonitor::lastShown() const {
  if (picture_) return *picture_;
  if (session_->paused()) return frame_->result.frame;
  return session_->lastFrame().value_or(frame_->result.frame);
}

void LiveMonitor::showPicture(const QString& file, const cv::Mat& image, UnixMs time) {
  picture_ = session_->lastFrame();  // of the stream that is open
  if (!picture_) return;
  picture_->image = image;
  picture_->file = file.toStdString();
  picture_->name = QFileInfo(file).completeBaseName().toStdString();
  picture_->time = time > 0 ? time : unixNow();
  if (session_->status().inference.ready)
    session_->worker().repeat(*picture_);
  else
    emit frameArrived(makeLiveFrame(session_->shown(*picture_)));
}

}  // namespace mpm::gui
