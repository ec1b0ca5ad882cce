// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/watching.h"

namespace mpm::gui {

/// Measures the stored pictures of an archive again, as monitor::measureAgain(): with another model, other regions or
/// other states than when they were stored. What is stored stays on show until all pictures are measured.
class Measuring : public QObject {
  Q_OBJECT
 public:
  Measuring(Watching* watching, QWidget* window);

  /// Asks whether to, where the open source is an archive with stored pictures.
  void offer();
  /// Offers it to a person who asked for it: says why it is not possible.
  void ask();
  bool running() const { return running_; }

 signals:
  void said(const QString& text, mpm::gui::Badge badge);
  void failed(const QString& message);

 private:
  /// How many samples of the open archive are stored; 0: it is none.
  qint64 stored() const;
  void begin();
  void take(const monitor::MeasuredAgain& again, const QString& archive);

  Watching* watching_;
  QWidget* window_;
  QPointer<QMessageBox> question_;
  bool running_ = false;
};

}  // namespace mpm::gui
