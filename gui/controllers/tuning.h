// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/folder_browser.h"
#include "gui/controllers/live_monitor.h"
#include "gui/models/picture_store.h"
#include "gui/views/tune_dialog.h"

namespace mpm::gui {

/// "Tune for this camera": asks, collects pictures, pauses the source while it measures, and offers what was found.
class Tuning : public QObject {
  Q_OBJECT
 public:
  /// `pause`: the action of that name.
  Tuning(const EstimatorOptions& inference, LiveMonitor* live, const PictureStore* pictures,
         const FolderBrowser* folder, QAction* pause, QWidget* window);

  void ask(const ClassPaint& paint);

 signals:
  /// A person chose it for the live picture.
  void chosen(const mpm::Reduction& variant);
  void said(const QString& text, mpm::gui::Badge badge);

 private:
  QStringList files() const;  // of the source: stored pictures; at its end those of its folder, too
  void start();
  void collect(const LiveFramePtr& frame);
  void look();
  void measure(const std::function<std::vector<evaluation::TunePicture>()>& pictures);
  void end();
  void resume();

  EstimatorOptions inference_;
  LiveMonitor* live_;
  const PictureStore* pictures_;
  const FolderBrowser* folder_;
  QAction* pause_;
  QWidget* window_;
  QPointer<TuneDialog> dialog_;
  QPointer<Job> job_;
  std::vector<evaluation::TunePicture> frames_;  // collected so far
  bool collecting_ = false, paused_ = false;
  std::int64_t last_frame_ = 0, last_taken_ = 0;  // id; ms, steady
  QTimer look_;
};

}  // namespace mpm::gui
