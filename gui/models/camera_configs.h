// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/worker.h"
#include "monitor/watch/camera.h"

namespace mpm::gui {

/// What is said of each source: how it is opened, measured, stored and told of. Each has a watch file, which
/// `mpm monitor --watch` takes. Each change is in the file at once.
class CameraConfigs : public QObject {
  Q_OBJECT
 public:
  /// `folder`: of the files.
  CameraConfigs(const QString& folder, SettingsWriter* settings, QObject* parent);

  const monitor::CameraConfig& config(const QString& source) { return of(source).config; }
  /// Its watch file, which is there once something was chosen.
  QString file(const QString& source) const;
  /// All that is said of it becomes this.
  void change(const QString& source, const monitor::CameraConfig& config);
  /// Writes all that is said into its file, of a source that is watched like that.
  void write(const QString& source, const monitor::CameraConfig& config);
  /// What is said of the camera's source becomes what its watch file says, until the next call; of what is changed
  /// meanwhile the app's own file takes that alone. What is stored and where stays the app's. `on-event` is not run: a
  /// file that is opened starts no program.
  void follow(const monitor::CameraConfig& camera);
  /// The model of this source and the options of its net are those of its watch file, not those of the app.
  bool follows(const QString& source) { return of(source).followed; }

  /// How it is opened and measured, with the pace of a display. Its model, database and folder are those of a file that
  /// it follows(), and else of no meaning.
  monitor::Camera camera(const QString& source);
  monitor::CameraPlan plan(const QString& source) { return camera(source).plan; }
  /// Which pictures are kept in a folder.
  monitor::SnapshotOptions snapshotOptions(const QString& source, const QString& pictures);
  /// Whether it was said how the times of these pictures are read, or they have none to be read.
  bool knowsTimes(const QString& source);

  const std::vector<vision::Region>& regions(const QString& source);
  /// A person drew these, if they are others than before; none is also a choice: without it those in the database would
  /// count.
  void setRegions(const QString& source, const std::vector<vision::Region>& regions);
  /// Those that the database has are those of a source for which none were chosen.
  void propose(const QString& source, const std::vector<vision::Region>& regions);
  /// Names of the states that are read of it.
  QStringList states(const QString& source);
  /// From now on, or no longer. `file`: that holds the head.
  void useStates(const QString& source, const evaluation::StateHead& head, const QString& file, bool use);

 signals:
  void changed(const QString& source);
  /// What is stored is to be judged by another rule; after changed(): who records goes by the new rule already. Not
  /// where the clock of an archive is another one: its pictures are measured again.
  void nightChanged(const QString& source);
  void statesChanged(const QString& source);
  void regionsChanged();  ///< a person drew others
  void proposed();        ///< the database has regions of a source for which none were chosen
  /// A watch file says something that does not count.
  void failed(const QString& why);

 private:
  struct Known {
    monitor::CameraConfig config;
    monitor::CameraConfig own;   // what the app's file says of it: `config`, unless that is of another watch file
    monitor::FileTables tables;  // stay as they are: only `mpm monitor` does what they say
    monitor::Camera camera;      // what of `config` makes sense
    bool damaged = false;        // the file cannot be read, and stays as it is
    bool followed = false;       // `config` is of another watch file
  };

  Known& of(const QString& source);
  void interpret(Known& known);
  void writeOwn(const QString& source);

  const QString folder_;
  SettingsWriter* const settings_;
  std::map<QString, Known> known_;
};

}  // namespace mpm::gui
