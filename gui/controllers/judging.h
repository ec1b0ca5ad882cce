// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/watching.h"

namespace mpm::gui {

/// Judges the stored samples of a source anew when a person changes what counts as night: see
/// monitor::StoreWriter::judge().
class Judging : public QObject {
  Q_OBJECT
 public:
  Judging(Watching* watching, QWidget* window);

  bool running() const { return running_ > 0; }

 signals:
  void said(const QString& text, mpm::gui::Badge badge);
  void failed(const QString& message);

 private:
  void begin(const QString& source);

  Watching* watching_;
  QWidget* window_;
  int running_ = 0;
};

}  // namespace mpm::gui
