// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>
#include <mutex>

#include "gui/models/taught_model.h"
#include "gui/models/worker.h"
#include "vision/labels/label_folder.h"
#include "vision/labels/label_progress.h"

namespace mpm::gui {

/// The labels of one class in one picture.
struct LabelCount {
  QString picture;
  int label = 0, pixels = 0;
  double share = 0;  ///< of the picture, 0..1
  bool operator==(const LabelCount&) const = default;
};

/// What a folder of labels holds.
struct LabelState {
  vision::ClassList classes;
  QStringList pictures, labelled;     ///< names, ascending
  std::vector<TaughtModel> models{};  ///< newest first
  vision::LabelProgress progress{};
  std::vector<LabelCount> counts{};  ///< of each picture and class that has labels
  QDateTime changed{};               ///< when labels were last written
};

/// A vision::LabelFolder on its own thread: nothing waits for the disk. Each change is followed by changed() or
/// failed(); after failed() the folder is as it was.
class LabelStore : public QObject {
  Q_OBJECT
 public:
  explicit LabelStore(const QString& folder, QObject* parent = nullptr);

  QString folder() const { return folder_; }
  /// Trained models are kept here.
  QString modelsFolder() const { return folder_ + QStringLiteral("/models"); }

  /// Reads what is there.
  void open();
  /// Anything else with the folder, on the thread; `then` on this one, unless it throws.
  void change(std::function<void(vision::LabelFolder&)> what, std::function<void()> then = {});
  /// A picture and its labels.
  void read(const QString& name, std::function<void(const cv::Mat& image, const cv::Mat& labels)> then);
  /// Labels of a picture. Where several wait for the disk the last is written.
  void save(const QString& name, const cv::Mat& labels);
  void add(const QString& name, const cv::Mat& image);
  void addFiles(const QStringList& files);

 signals:
  void changed(const mpm::gui::LabelState& state);
  /// Labels are on the disk.
  void saved();
  /// The name that the last picture of add() or addFiles() got.
  void added(const QString& name);
  void failed(const QString& message);

 private:
  LabelState state();

  const QString folder_;
  std::optional<vision::LabelFolder> own_;                 // touched on thread_ only, as are the summaries
  std::map<std::string, vision::LabelSummary> summaries_;  // of labelled pictures that did not change since
  std::mutex mutex_;
  QHash<QString, cv::Mat> waiting_;  // labels to be written; guarded by the mutex
  Worker thread_;
};

}  // namespace mpm::gui
