// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/states.h"
#include "gui/models/label_store.h"
#include "gui/models/live_frame.h"

namespace mpm::gui {

/// Input of the trainer.
struct TrainerJob {
  QString folder;                     ///< as vision::LabelFolder: holds the pictures
  QString model;                      ///< whose encoder is used
  std::optional<Reduction> reduce{};  ///< of the new model; nullopt: none
  int steps = 0;                      ///< 0: the usual number
  vision::ClassList classes{};
  LabelMaps labels{};  ///< as they are drawn: the disk may be behind
};

/// Trains a head after each stroke on its own thread, and keeps what it knows of the pictures.
class LiveTrainer : public QObject {
  Q_OBJECT
 public:
  LiveTrainer();
  ~LiveTrainer() override;

  /// Reads the model and looks at this picture, so that the answer to its first stroke comes soon.
  void prepare(const TrainerJob& job, const QString& picture);
  /// Trains on the labels, going on from the head before, and predicts this picture. Of several that
  /// wait the last is answered: at once with the pictures that it has looked at, and again with all.
  void ask(const TrainerJob& job, const QString& picture) { answer(job, picture, ++asked_, false); }
  /// Looks for the files, at most `count`, that differ most from what is labelled: suggested().
  void suggest(const TrainerJob& job, const QStringList& files, int count);
  /// Ends without an answer, and forgets the pictures: memory and processors are needed for something else.
  void stop();

 signals:
  /// `labels`: CV_8U, of the size of the network input. `unsure`: tokens of which the head is not sure.
  void predicted(const QString& picture, const cv::Mat& labels, const std::vector<int>& unsure);
  void suggested(const QStringList& files);
  /// Why there is no answer.
  void failed(const QString& message);

 private:
  struct Pupil;
  void answer(const TrainerJob& job, const QString& picture, int number, bool reads);
  template <typename Work>
  void run(const TrainerJob& job, int rank, Work work);

  std::atomic<int> asked_ = 0;    // the number of the last ask()
  std::unique_ptr<Pupil> pupil_;  // touched on thread_ only
  Worker thread_;
};

/// One training as of `mpm teach`, with its cross-validation, which makes the ONNX file `model`. Nothing is written
/// when it is cancelled or fails, or when the app is killed.
Job::Work training(const TrainerJob& job, const QString& model);

/// Which state each picture of a folder of labels shows, by the names of the pictures.
using ShownStates = QMap<QString, QString>;

/// Keeps examples of states beside the labels and trains on them, on its own thread: states/NAME.csv as `mpm teach
/// --states` takes it, and states/NAME.json, what it makes. NAME is that of a set of states, a region's or any other,
/// with percent signs as in a URL.
class StateTrainer : public QObject {
  Q_OBJECT
 public:
  /// `folder`: of the labels.
  explicit StateTrainer(const QString& folder);
  /// Ends a training. What was to be saved is saved.
  ~StateTrainer() override { stop_ = true; }

  /// Reads what is there: opened(), without pictures that are gone, then trained() if it was.
  void open(const QString& name);
  void save(const QString& name, const ShownStates& shown);
  /// Trains on what was saved: trained() or failed(). `regions`: of the source, of which those named `region` count;
  /// empty: the whole picture does.
  void train(const QString& name, const QString& region, const QString& model, const Reduction& reduce,
             std::vector<vision::Region> regions);

  /// The file that a training of this name writes.
  QString file(const QString& name) const { return QString::fromStdString(fileOf(name, ".json")); }
  static QString nameOfWhole() { return QStringLiteral("picture"); }

 signals:
  /// Names of all sets that have examples.
  void listed(const QStringList& names);
  void opened(const QString& name, const mpm::gui::ShownStates& shown);
  void progressed(int done, int of);
  void trained(const QString& name, const std::shared_ptr<const mpm::evaluation::StateHead>& head);
  void failed(const QString& message);

 private:
  std::string fileOf(const QString& name, const char* ending) const;

  QString folder_;
  std::atomic<bool> stop_ = false;
  Worker thread_;
};

}  // namespace mpm::gui
