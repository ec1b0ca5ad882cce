// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "gui/models/live_frame.h"
#include "gui/models/worker.h"

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

}  // namespace mpm::gui
