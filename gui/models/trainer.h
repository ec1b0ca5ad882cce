// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <opencv2/core.hpp>
#include <optional>
#include <vector>

#include "mpm/options.hpp"

namespace mpm::gui {

/// The program mpm-train: beside this one, else in PATH; empty where it is not installed.
QString trainerProgram();

/// What the trainer works with.
struct TrainerJob {
  QString folder;                     ///< as vision::LabelFolder
  QString model;                      ///< whose encoder is used
  std::optional<Reduction> reduce{};  ///< of the new model; nullopt: none
  int steps = 0;                      ///< 0: the trainer's default
};

/// Trains a head after each stroke in a process of its own, which keeps what it knows of the pictures. When it dies the
/// next ask() starts it again.
class LiveTrainer : public QObject {
  Q_OBJECT
 public:
  explicit LiveTrainer(const QString& program, QObject* parent = nullptr);
  ~LiveTrainer() override;

  /// Trains on the labels of the folder, and predicts this picture. Of several that wait the last is answered.
  void ask(const TrainerJob& job, const QString& picture);
  /// Looks for the files, at most `count`, that differ most from what is labelled: suggested().
  void suggest(const TrainerJob& job, const QStringList& files, int count);
  bool busy() const { return asked_.has_value(); }
  /// Ends the process: its processors are needed for something else.
  void stop();
  qint64 processId() const { return process_.processId(); }

 signals:
  /// `labels`: CV_8U, of the size of the network input. `unsure`: tokens of which the head is not sure.
  void predicted(const QString& picture, const cv::Mat& labels, const std::vector<int>& unsure);
  void suggested(const QStringList& files);
  /// Why there is no answer.
  void failed(const QString& message);

 private:
  void use(const TrainerJob& job);
  void send();
  void read();
  void end(const QString& why);

  const QString program_;
  QProcess process_;
  TrainerJob job_;
  std::optional<QString> asked_, waiting_;  // pictures; asked_ is empty while files are compared
  QStringList candidates_;                  // files that wait to be compared
  int count_ = 0;
};

/// One run of `mpm-train teach`, with its cross-validation. Nothing is written when it is cancelled, fails or is
/// killed.
class TrainingRun : public QObject {
  Q_OBJECT
 public:
  /// Begins at once; `model`: the ONNX file to write. Ends in finished(), failed() or cancelled().
  TrainingRun(const QString& program, const TrainerJob& job, const QString& model, QObject* parent = nullptr);
  ~TrainingRun() override;

  void cancel();
  qint64 processId() const { return process_.processId(); }

 signals:
  /// 0..1; `seconds_left`: an estimate, negative: not known yet.
  void progressed(double share, double seconds_left);
  void finished(const QString& model);
  void failed(const QString& message);
  void cancelled();

 private:
  void read();

  QProcess process_;
  QElapsedTimer time_;
  bool cancelled_ = false;
};

}  // namespace mpm::gui
