// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/recording.h"

namespace mpm::gui {

Recording::Recording(LiveMonitor* live, PictureStore* pictures, QObject* parent)
    : QObject(parent), live_(live), pictures_(pictures) {
  using monitor::SnapshotWriter;
  connect(live_, &LiveMonitor::pictureWritten, this,
          [this](const std::string& path, SnapshotWriter::Occasion occasion) {
            if (occasion == SnapshotWriter::Occasion::kRecording) return;
            emit said(tr("Saved %1").arg(QString::fromStdString(path)), Badge::kGood);
            pictures_->list();
          });
  connect(live_, &LiveMonitor::picturesRemoved, this,
          [this](int files) { emit logged(tr("%n file(s) of old pictures forgotten", nullptr, files)); });
  connect(live_, &LiveMonitor::ticked, this, [this] {
    if (live_->session().snapshots().recording().left_out > 0 && !std::exchange(left_out_logged_, true))
      emit logged(tr("The recording leaves out frames: this machine or its disk is too slow for all of them"));
  });
}

void Recording::save(const LiveFramePtr& frame) {
  if (!frame) return emit said(tr("There is no frame yet"), Badge::kWarning);
  if (!frame->result.model)
    return emit said(tr("No model has seen this frame yet: there is nothing to save with it"), Badge::kWarning);
  monitor::Session& session = live_->session();
  if (!session.snapshots().save(frame->result, frame->sample, session.source()))
    emit said(tr("The disk is too slow: this picture was not saved"), Badge::kWarning);
}

void Recording::setOn(bool on) {
  live_->session().snapshots().setRecording(on);
  left_out_logged_ = false;
  if (on)
    emit said(tr("Recording to %1").arg(pictures_->folder()), Badge::kNone);
  else
    pictures_->list();
}

QString Recording::text() const {
  const auto recording = live_->session().snapshots().recording();
  if (!recording.on) return {};
  const QString text = tr("● REC %n picture(s)", nullptr, recording.written);
  return recording.left_out == 0 ? text : tr("%1, %2 left out").arg(text).arg(recording.left_out);
}

}  // namespace mpm::gui
