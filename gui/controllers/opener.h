// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/live_monitor.h"
#include "gui/models/recents.h"
#include "gui/models/theme.h"
#include "gui/models/worker.h"

namespace mpm::gui {

/// Opens the next source, model, database or watch file: asks for it, recognises it, and remembers what was watched.
class Opener : public QObject {
  Q_OBJECT
 public:
  /// Choices of the command line, which are newer than what is remembered.
  struct Named {
    QString model;  ///< empty: none
    std::optional<Reduction> reduction;
  };

  Opener(const Named& named, const LiveMonitor* live, QSettings& stored, SettingsWriter* settings, QWidget* window);

  const QVector<Recent>& recents() const { return recents_; }
  /// It was watched before.
  bool knows(const QString& source) const { return recentOf(source) != recents_.end(); }
  /// Remembers `source`, as it was asked for, with the model that runs and its reduction `variant`. If the remembered
  /// model of this source cannot be read now and another one runs in its place, the remembered one is kept.
  void remember(const QString& source, const std::optional<Reduction>& variant);

  /// A source, a model, a database or a watch file, by what it is; also as file:///.
  void open(const QString& asked);
  /// Opens things that were dropped at once: pictures of one folder are that folder; else one of each kind is opened.
  void open(const QStringList& asked);
  void openRecent(const Recent& recent);
  /// Opens what the command line names: a source with the model that it was watched with last, unless one is named.
  void openNamed(const QString& asked);
  /// Opens what was watched last; asks for its password if it has one.
  void resumeLast();
  /// nullopt: of the kind that was watched last.
  void askForSource(std::optional<vision::SourceKind> kind = {});
  void askForModel();
  void askForDatabase();
  void askForNewDatabase(const QString& proposed);

 signals:
  void sourceChosen(const QString& source);
  /// nullopt: the model's own reduction.
  void modelChosen(const QString& path, const std::optional<mpm::Reduction>& variant);
  /// A reduction of the model that is there.
  void reductionChosen(const mpm::Reduction& variant);
  void databaseChosen(const QString& path);
  void watchFileChosen(const QString& path);
  void newDatabaseChosen(const QString& path);
  /// A model that was watched with is no longer there.
  void modelGone(const QString& message);
  void said(const QString& text, mpm::gui::Badge badge);

 private:
  QVector<Recent>::const_iterator recentOf(const QString& source) const;
  void takeModelOf(const Recent& recent, bool take_model, bool take_reduction);
  void goOnWithModelOf(const Recent& recent);
  void openSourceOf(const Recent& recent);
  void showSourceDialog(vision::SourceKind kind, const QString& source);
  void chooseModel(const QString& path);
  void want(const std::optional<Recent>& recent);
  void lookForModel();

  const Named named_;
  const LiveMonitor* const live_;
  SettingsWriter* const settings_;
  QWidget* const window_;
  QVector<Recent> recents_;
  std::optional<Recent> wanted_;  // its model cannot be read yet
  using FileState = std::optional<std::pair<QDateTime, qint64>>;
  FileState tried_, seen_;  // of that model: when it was read last, and when it was looked at last
  QTimer look_;
};

}  // namespace mpm::gui
