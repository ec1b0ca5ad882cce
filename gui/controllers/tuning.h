// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/source_pictures.h"
#include "gui/views/tune_dialog.h"

namespace mpm::gui {

/// "Tune for this camera": measures reductions on the stored pictures of the source, or on its next frames where too
/// few are stored, and shows the table. The source pauses while it measures.
class Tuning : public QObject {
  Q_OBJECT
 public:
  /// `pause`: the action of that name.
  Tuning(LiveMonitor* live, const SourcePictures& pictures, QAction* pause, QWidget* window);

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

  // Frames of the source, taken until there are enough.
  struct Collection {
    std::vector<cv::Mat> frames{};
    std::int64_t last_frame = 0;  // its id
    std::int64_t taken = 0;       // when that was, ms, steady
  };

  LiveMonitor* const live_;
  const SourcePictures pictures_;
  QAction* const pause_;
  QWidget* const window_;
  EstimatorOptions inference_;
  QPointer<TuneDialog> dialog_;
  QPointer<Job> job_;
  std::optional<Collection> collection_;  // while they are collected
  bool paused_ = false;                   // by this
  QTimer look_;
};

}  // namespace mpm::gui
