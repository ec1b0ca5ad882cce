// SPDX-License-Identifier: Apache-2.0
#include "gui/frame_saver.h"

#include <utility>

#include "gui/live_monitor.h"

namespace mpm::gui {

FrameSaver::FrameSaver(PictureStore* pictures, const LiveMonitor* live, std::function<PictureFacts()> facts,
                       QObject* parent)
    : QObject(parent), pictures_(pictures), live_(live), facts_(std::move(facts)) {
  connect(pictures_, &PictureStore::written, this, [this](const QString& path, PictureStore::Occasion occasion) {
    if (occasion == PictureStore::Occasion::kRecording) return void(++recorded_);
    emit said(tr("Saved %1").arg(path), "good");
    pictures_->list();
  });
  connect(pictures_, &PictureStore::forgotten, this,
          [this](int files) { emit logged(tr("%n file(s) of old pictures forgotten", nullptr, files)); });
  connect(live_, &LiveMonitor::ticked, this, &FrameSaver::tellOfWhatIsLeftOut);
}

void FrameSaver::save(const LiveFramePtr& frame) {
  if (!frame) return emit said(tr("There is no frame yet"), "warning");
  if (!frame->result.model)
    return emit said(tr("No model has seen this frame yet: there is nothing to save with it"), "warning");
  if (!pictures_->write(frame, facts_())) emit said(tr("The disk is too slow: this picture was not saved"), "warning");
}

void FrameSaver::take(const LiveFramePtr& frame) {
  if (frame->result.repeated) return;
  using Occasion = PictureStore::Occasion;
  const qint64 now = frame->result.frame.steady;
  if (recording_ && !pictures_->write(frame, facts_(), Occasion::kRecording)) ++refused_;
  if (lapse_minutes_ > 0 && (last_lapse_ == 0 || static_cast<double>(now - last_lapse_) >= lapse_minutes_ * 60000) &&
      pictures_->write(frame, facts_(), Occasion::kTimeLapse))
    last_lapse_ = now;
}

void FrameSaver::setRecording(bool recording) {
  recording_ = recording;
  recorded_ = refused_ = 0;
  stale_before_ = live_->stale();
  said_left_out_ = false;
  if (recording)
    emit said(tr("Recording to %1").arg(pictures_->folder()), "");
  else
    pictures_->list();
}

// Results that neither the disk nor the window was fast enough for.
std::int64_t FrameSaver::leftOut() const { return refused_ + live_->stale() - stale_before_; }

QString FrameSaver::recordText() const {
  if (!recording_) return {};
  const QString text = tr("● REC %n picture(s)", nullptr, recorded_);
  return leftOut() == 0 ? text : tr("%1, %2 left out").arg(text).arg(leftOut());
}

void FrameSaver::tellOfWhatIsLeftOut() {
  if (recording_ && leftOut() > 0 && !std::exchange(said_left_out_, true))
    emit logged(tr("The recording leaves out frames: this machine or its disk is too slow for all of them"));
}

}  // namespace mpm::gui
