// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QLockFile>
#include <mutex>

#include "evaluation/confusion_matrix.h"
#include "gui/models/worker.h"
#include "vision/labels/label_folder.h"
#include "vision/labels/label_progress.h"

namespace mpm::gui {

/// A model that `mpm teach` made, and what its cross-validation said.
struct TaughtModel {
  QString path;    ///< of its ONNX file
  QDateTime time;  ///< when it was written
  int pictures = 0;
  struct Verdict {
    double miou = 0, pixel_accuracy = 0;  ///< percent; NaN: no class was tested
    std::vector<QString> classes;
    std::vector<evaluation::ClassVerdict> verdicts;  ///< of each class
  };
  std::optional<Verdict> verdict{};  ///< nullopt: one picture cannot be tested on another
};

/// The verdict in MODEL.json beside the model; nullopt where the model or its JSON is missing or was not taught.
std::optional<TaughtModel> readTaughtModel(const QString& onnx);
/// The models of a folder, newest first.
std::vector<TaughtModel> taughtModels(const QString& folder);

/// The labels of one class in one picture.
struct LabelCount {
  QString picture;
  int label = 0, pixels = 0;
  double share = 0;  ///< of the picture, 0..1
  bool operator==(const LabelCount&) const = default;
};

/// Label maps by the names of their pictures, CV_8U. A map that is in it is not written to.
using LabelMaps = QMap<QString, cv::Mat>;

/// Contents of a folder of labels.
struct LabelState {
  vision::ClassList classes;
  QStringList pictures, labelled;     ///< names, ascending
  std::vector<TaughtModel> models{};  ///< newest first
  vision::LabelProgress progress{};
  std::vector<LabelCount> counts{};  ///< of each picture and class that has labels
  LabelMaps labels{};                ///< of the labelled pictures, also those that wait for the disk
};

/// A vision::LabelFolder on its own thread: nothing waits for the disk. The labels are in memory; each file is read
/// once. Each change is followed by changed() or failed(); after failed() the folder is as it was.
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
  void change(const std::function<void(vision::LabelFolder&)>& what, const std::function<void()>& then = {});
  /// Reads the folder on the thread and changes nothing; `then` on this one, unless it throws.
  void look(const std::function<void(const vision::LabelFolder&)>& what, const std::function<void()>& then);
  void read(const QString& name, const std::function<void(const cv::Mat& image, const cv::Mat& labels)>& then);
  /// Labels of a picture, which are not written to from now on. Where several wait for the disk the last is written.
  void save(const QString& name, const cv::Mat& labels);
  void add(const QString& name, const cv::Mat& image, Readers readers);
  /// Copies them; whom a file is kept from cannot read its copy. Leaves out files that cannot be read: failed() for
  /// each of them, before changed().
  void addFiles(const QStringList& files);

 signals:
  void changed(const mpm::gui::LabelState& state);
  /// The name that the last picture of add() or addFiles() got.
  void added(const QString& name);
  void failed(const QString& message);

 private:
  template <typename Work>
  void run(Work work, bool changes = true);
  void readLabels();
  LabelState state() const;

  const QString folder_;
  // Touched on thread_ only.
  QLockFile lock_;  // two windows would overwrite each other's labels
  std::optional<vision::LabelFolder> own_;
  LabelMaps labels_;
  std::map<QString, vision::LabelSummary> summaries_;  // of the pictures in labels_
  std::mutex mutex_;
  LabelMaps waiting_;  // labels to be written; guarded by the mutex
  Worker thread_;
};

}  // namespace mpm::gui
