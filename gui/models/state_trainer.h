// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/states.h"
#include "gui/models/worker.h"

namespace mpm::gui {

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

}  // namespace mpm::gui
