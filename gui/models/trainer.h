// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/states.h"
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
  explicit LiveTrainer(QObject* parent = nullptr);
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
/// --states` takes it, and states/NAME.json, what it makes. NAME is that of a set of states: a region's or any other.
class StateTrainer : public QObject {
  Q_OBJECT
 public:
  /// `folder`: of the labels.
  explicit StateTrainer(const QString& folder, QObject* parent = nullptr);
  ~StateTrainer() override { thread_.giveUp(); }

  /// Reads what is there: opened().
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
  /// `head`: of the last training; null: none yet.
  void opened(const QString& name, const mpm::gui::ShownStates& shown,
              const std::shared_ptr<const mpm::evaluation::StateHead>& head);
  void progressed(int done, int of);
  void trained(const std::shared_ptr<const mpm::evaluation::StateHead>& head);
  void failed(const QString& message);

 private:
  std::string fileOf(const QString& name, const char* ending) const;

  QString folder_;
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
