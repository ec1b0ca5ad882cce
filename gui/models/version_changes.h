// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/label_store.h"
#include "gui/models/live_frame.h"

namespace mpm::gui {

/// Runs a model on single pictures, for clusters and classes, on its own thread.
class PictureAnalysis : public QObject {
  Q_OBJECT
 public:
  explicit PictureAnalysis(QObject* parent = nullptr);

  /// The model of the next begin().
  void setModel(const std::string& path, const EstimatorOptions& options);
  /// Ends in finished() or failed(); only the last of several is answered.
  void begin(const QString& name, const cv::Mat& image);
  /// Lets go of the model until the next begin().
  void rest();

 signals:
  void finished(const QString& name, const mpm::gui::LiveFramePtr& frame);
  void failed(const QString& message);

 private:
  struct Model {
    std::string path;
    EstimatorOptions options;
    int number = 0;
  };
  Model model_;
  std::optional<Estimator> estimator_;  // touched on thread_ only
  int loaded_ = 0;                      // likewise: the number of its model
  Worker thread_;
};

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
