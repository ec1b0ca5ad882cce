// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include "views/settings_dialogs.h"

namespace mpm {

class ChartPanel;
class History;
class PictureStore;

/// Files of what is stored, for other programs: the samples of the source on show, or its chart as a picture.
class Exports : public QObject {
  Q_OBJECT
 public:
  /// `window`: what the dialogs belong to.
  Exports(ChartPanel* chart, History* history, PictureStore* pictures, QWidget* window);

  /// Asks what and where to.
  void ask();
  void write(ExportDialog::Format format, monitor::UnixMs from, monitor::UnixMs to, const QString& path);

 signals:
  void said(const QString& text, const char* badge);

 private:
  ChartPanel* chart_;
  History* history_;
  PictureStore* pictures_;
  QWidget* window_;
};

}  // namespace mpm
