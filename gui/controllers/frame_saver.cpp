// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/frame_saver.h"

#include <utility>

#include "gui/controllers/live_monitor.h"

namespace mpm::gui {

using monitor::SnapshotWriter;

FrameSaver::FrameSaver(PictureStore* pictures, LiveMonitor* live, QObject* parent)
    : QObject(parent), pictures_(pictures), live_(live) {
  connect(live_, &LiveMonitor::pictureWritten, this, [this](const QString& path, SnapshotWriter::Occasion occasion) {
    if (occasion == SnapshotWriter::Occasion::kRecording) return;
    emit said(tr("Saved %1").arg(path), "good");
    pictures_->list();
  });
  connect(live_, &LiveMonitor::picturesRemoved, this,
          [this](int files) { emit logged(tr("%n file(s) of old pictures forgotten", nullptr, files)); });
  connect(live_, &LiveMonitor::ticked, this, &FrameSaver::logWhatIsLeftOut);
}

void FrameSaver::save(const LiveFramePtr& frame) {
  if (!frame) return emit said(tr("There is no frame yet"), "warning");
  if (!frame->result.model)
    return emit said(tr("No model has seen this frame yet: there is nothing to save with it"), "warning");
  if (!live_->session().save(frame->result))
    emit said(tr("The disk is too slow: this picture was not saved"), "warning");
}

void FrameSaver::setRecording(bool recording) {
  live_->session().snapshots().setRecording(recording);
  left_out_logged_ = false;
  if (recording)
    emit said(tr("Recording to %1").arg(pictures_->folder()), "");
  else
    pictures_->list();
}

QString FrameSaver::recordText() const {
  const auto recording = live_->session().snapshots().recording();
  if (!recording.on) return {};
  const QString text = tr("● REC %n picture(s)", nullptr, recording.written);
  return recording.left_out == 0 ? text : tr("%1, %2 left out").arg(text).arg(recording.left_out);
}

void FrameSaver::logWhatIsLeftOut() {
  if (live_->session().snapshots().recording().left_out > 0 && !std::exchange(left_out_logged_, true))
    emit logged(tr("The recording leaves out frames: this machine or its disk is too slow for all of them"));
}

}  // namespace mpm::gui
