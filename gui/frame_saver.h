// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <functional>

#include "gui/models/picture_store.h"

namespace mpm::gui {

class LiveMonitor;

/// Which live frames become pictures on the disk: one that a person asks for, every one while it records, one every so
/// often.
class FrameSaver : public QObject {
  Q_OBJECT
 public:
  /// `facts`: of the picture on show.
  FrameSaver(PictureStore* pictures, const LiveMonitor* live, std::function<PictureFacts()> facts,
             QObject* parent = nullptr);

  /// Minutes between two pictures of the time-lapse; 0: there is none.
  void setLapse(double minutes) { lapse_minutes_ = minutes; }
  void setRecording(bool recording);
  /// A snapshot; null: there is no frame yet.
  void save(const LiveFramePtr& frame);
  /// To be called with every frame that has a result; one that is segmented anew was there before.
  void take(const LiveFramePtr& frame);
  /// "● REC 12 pictures"; empty while it does not record.
  QString recordText() const;

 signals:
  void said(const QString& text, const char* badge);
  void logged(const QString& text);

 private:
  std::int64_t leftOut() const;
  void tellOfWhatIsLeftOut();

  PictureStore* pictures_;
  const LiveMonitor* live_;
  std::function<PictureFacts()> facts_;
  double lapse_minutes_ = 0;
  qint64 last_lapse_ = 0;
  bool recording_ = false;
  int recorded_ = 0, refused_ = 0;  // pictures of the recording: written, and too many at a time
  std::int64_t stale_before_ = 0;   // LiveMonitor::stale() when it began
  bool said_left_out_ = false;
};

}  // namespace mpm::gui
