// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include "gui/models/picture_store.h"

namespace mpm::gui {

class LiveMonitor;

/// The pictures that a person asks for, one at a time or as a recording, and what the window says of them.
class FrameSaver : public QObject {
  Q_OBJECT
 public:
  FrameSaver(PictureStore* pictures, LiveMonitor* live, QObject* parent = nullptr);

  void setRecording(bool recording);
  /// A snapshot; null: there is no frame yet.
  void save(const LiveFramePtr& frame);
  /// "● REC 12 pictures"; empty while it does not record.
  QString recordText() const;

 signals:
  void said(const QString& text, const char* badge);
  void logged(const QString& text);

 private:
  void logWhatIsLeftOut();

  PictureStore* pictures_;
  LiveMonitor* live_;
  bool left_out_logged_ = false;
};

}  // namespace mpm::gui
