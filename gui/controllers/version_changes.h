// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/models/trainer.h"

namespace mpm::gui {

/// The labels of a frame as indices of these classes; `otherwise` where its model knows another class.
cv::Mat labelsIn(const QStringList& classes, const LiveFrame& frame, int otherwise);

/// Shows what changed in a picture from one version of a taught model to another, or to the head that is trained now.
/// Each version looks at the picture itself, without merging and refining, as that head does.
class VersionChanges : public QObject {
  Q_OBJECT
 public:
  /// The classes of the folder. Others that a version knew come behind them.
  struct Classes {
    QStringList names;
    std::vector<QRgb> colors;
  };

  explicit VersionChanges(QObject* parent = nullptr);

  void setOptions(const EstimatorOptions& options);
  /// `after` nullopt: `now`, labels of `classes`. Ends in said() alone, or with shown() before.
  void compare(const QString& picture, const cv::Mat& image, const Classes& classes, const TaughtModel& before,
               const std::optional<TaughtModel>& after, const cv::Mat& now);
  /// Lets go of the models.
  void rest();

 signals:
  void shown(const QImage& changes);
  void said(const QString& text);

 private:
  struct Side {
    PictureAnalysis analysis;
    TaughtModel version{};
    bool asked = false;
    LiveFramePtr frame{};  // null: not yet
    QString why{};         // there is none
  };
  void look(Side& side, const TaughtModel& version);
  void show();

  EstimatorOptions options_;
  QString picture_;
  cv::Mat image_, now_;
  Classes classes_;
  Side before_, after_;
};

}  // namespace mpm::gui
