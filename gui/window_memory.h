// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>
#include <QTimer>

#include "gui/models/view_settings.h"

class QMainWindow;
class QSettings;

namespace mpm::gui {

class ChartPanel;
class PicturesPane;
class SettingsWriter;

/// How the window is looked at, between two starts: where it stands, its panels, what pictures and chart show. It looks
/// every other second whether something is another way, and writes that: a power cut does not announce itself.
class WindowMemory {
 public:
  /// Makes everything as `stored` has it.
  WindowMemory(const QSettings& stored, SettingsWriter* settings, QMainWindow* window, PicturesPane* pictures,
               ChartPanel* chart);
  /// What is another way than it was written last.
  void write();

 private:
  SettingsWriter* settings_;
  QMainWindow* window_;
  PicturesPane* pictures_;
  ChartPanel* chart_;
  QByteArray geometry_, layout_;
  PicturesChoice pictures_choice_;
  ChartChoice chart_choice_;
  QTimer look_;
};

}  // namespace mpm::gui
