// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/live_monitor.h"
#include "gui/models/picture_store.h"
#include "gui/models/theme.h"

namespace mpm::gui {

/// Pictures of the source that is open which a person asks for: one at a time, or every frame.
class Recording : public QObject {
  Q_OBJECT
 public:
  Recording(LiveMonitor* live, PictureStore* pictures, QObject* parent);

  void setOn(bool on);
  /// A snapshot; null: there is no frame yet.
  void save(const LiveFramePtr& frame);
  /// "● REC 12 pictures"; empty while it does not record.
  QString text() const;

 signals:
  void said(const QString& text, mpm::gui::Badge badge);
  void logged(const QString& text);

 private:
  LiveMonitor* const live_;
  PictureStore* const pictures_;
  bool left_out_logged_ = false;
};

}  // namespace mpm::gui
