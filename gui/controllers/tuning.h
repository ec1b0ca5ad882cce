// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/folder_browser.h"
#include "gui/controllers/live_monitor.h"
#include "gui/models/picture_store.h"
#include "gui/views/tune_dialog.h"

namespace mpm::gui {

/// "Tune for this camera": measures reductions on the stored pictures of the source, or on its next frames where too
/// few are stored, and shows the table. The source pauses while it measures.
class Tuning : public QObject {
  Q_OBJECT
 public:
  static constexpr int kPictures = 40;  ///< at most

  /// `pause`: the action of that name.
  Tuning(LiveMonitor* live, const PictureStore* pictures, const FolderBrowser* folder, QAction* pause, QWidget* window);

  /// `inference`: of the model that runs.
  void ask(const EstimatorOptions& inference);

 signals:
  /// A person chose it for the live picture.
  void chosen(const mpm::Reduction& variant);
  void said(const QString& text, mpm::gui::Badge badge);

 private:
  QStringList files() const;  // of the source: stored pictures; at its end those of its folder, too
  void collect(const LiveFramePtr& frame);
  void look();
  void measure(const std::function<std::vector<cv::Mat>()>& pictures);
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
  std::vector<cv::Mat> frames_;  // collected so far
  bool collecting_ = false, paused_ = false;
  std::int64_t last_frame_ = 0, last_taken_ = 0;  // id; ms, steady
  QTimer look_;
};

}  // namespace mpm::gui
