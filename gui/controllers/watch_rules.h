// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/worker.h"
#include "gui/views/regions_dialog.h"
#include "monitor/watch/camera.h"

namespace mpm::gui {

/// The settings of each source: a watch file for each, which `mpm monitor --watch` takes, and the dialogs that change
/// it. Each change is in the file at once.
class WatchRules : public QObject {
  Q_OBJECT
 public:
  /// `folder`: of the files.
  WatchRules(const QString& folder, SettingsWriter* settings, QWidget* window);

  const monitor::CameraConfig& watch(const QString& source) { return of(source).watch; }
  /// The rules of the camera's source become those of its watch file, until the next call. What is stored and where
  /// stays the app's. `on-event` is not run: a file that is opened starts no program.
  void follow(const monitor::CameraConfig& camera);
  /// The model of this source and the options of its net are those of its watch file, not those of the app.
  bool follows(const QString& source) { return of(source).followed; }
  /// Its watch file, which is there once something was chosen.
  QString file(const QString& source) const;
  /// Writes all that is said, of a source that is watched like that.
  void write(const QString& source, const monitor::CameraConfig& watch);

  /// How it is opened and measured, with the pace of a display. Its model, database and folder are those of a file that
  /// it follows(), and else of no meaning.
  monitor::Camera camera(const QString& source);
  monitor::CameraPlan cameraPlan(const QString& source) { return camera(source).plan; }
  /// Which pictures are kept in a folder.
  monitor::SnapshotOptions snapshotOptions(const QString& source, const QString& pictures);
  const std::vector<vision::Region>& regions(const QString& source);
  /// Those that the database has are those of a source for which none were chosen.
  void propose(const QString& source, const std::vector<vision::Region>& regions);
  /// Those that are read of a source.
  const std::vector<evaluation::StateHead>& states(const QString& source) {
    return of(source).camera.plan.states.heads;
  }
  /// From now on, or no longer. `file`: that holds the head.
  void useStates(const QString& source, const evaluation::StateHead& head, const QString& file, bool use);

  /// Whether it was said how the times of these pictures are read, or they have none to be read.
  bool knowsTimes(const QString& source);
  /// Asks for times and place. Says timesChosen(). `of_new_folder`: asks only where some of the pictures have a time.
  void askTimes(const QString& source, bool of_new_folder);
  /// Forgets that question: something else was opened.
  void forgetTimes() { delete asking_; }
  /// Shows the fields under a heading of monitor::cameraFields(). See WatchDialog.
  void ask(const QString& source, const QString& title, const char* group, const QStringList& notes = {});
  /// `picture`: what the source shows; `time`: when that was taken.
  void askRegions(const QString& source, const cv::Mat& picture, UnixMs time);

 signals:
  void timesChosen(const QString& source);
  void changed(const QString& source);
  void nightChanged(const QString& source);  ///< before it
  void regionsChanged();
  /// A watch file says something that does not count.
  void failed(const QString& why);

 private:
  struct Known {
    monitor::CameraConfig watch;
    monitor::FileTables tables;  // stay as they are: only `mpm monitor` does what they say
    monitor::Camera camera;      // what of `watch` makes sense
    bool damaged = false;        // the file cannot be read, and stays as it is
    bool followed = false;       // `watch` is of another watch file
  };

  Known& of(const QString& source);
  void interpret(Known& known);
  void change(const QString& source, const monitor::CameraConfig& watch);

  const QString folder_;
  SettingsWriter* settings_;
  QWidget* window_;
  QPointer<QDialog> asking_;  // for times
  std::map<QString, Known> known_;
};

}  // namespace mpm::gui
