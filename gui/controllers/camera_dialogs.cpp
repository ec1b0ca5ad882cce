// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/camera_dialogs.h"

#include "gui/models/recents.h"
#include "gui/views/camera_fields_dialog.h"
#include "gui/views/look.h"
#include "gui/views/regions_dialog.h"
#include "gui/views/times_dialog.h"
#include "monitor/store/store_reader.h"
#include "monitor/watch/camera.h"

namespace mpm::gui {
namespace {

// With the clock and the place of an archive as the database has them. With other ones all would be measured again. The
// dialog chooses the rule of night by the place.
monitor::CameraConfig withStoredClock(monitor::CameraConfig config, const QString& database) try {
  if (database.isEmpty() || !QFile::exists(database)) return config;
  monitor::CameraConfig unruled = config;
  unruled.night.clear();
  const monitor::CameraConfig stored = monitor::continued(unruled, monitor::StoreReader(database.toStdString()));
  config.times = stored.times;
  config.time_zone = stored.time_zone;
  config.lat = stored.lat;
  config.lon = stored.lon;
  return config;
} catch (const Error&) {  // who stores into it says what is wrong with it
  return config;
}

// The rule of night that counts: a scene knows its place.
monitor::CameraConfig nightOf(const monitor::CameraPlan& plan) {
  constexpr const char* kBy[] = {"none", "sun", "brightness", "hours"};  // in the order of NightRule
  monitor::CameraConfig config{.night = kBy[plan.night.index()]};
  if (plan.place) {
    config.lat = plan.place->latitude;
    config.lon = plan.place->longitude;
  }
  return config;
}

}  // namespace

CameraDialogs::CameraDialogs(CameraConfigs* configs, const LiveMonitor* live, QWidget* window)
    : QObject(window), configs_(configs), live_(live), window_(window), thread_(this) {}

void CameraDialogs::forgetTimes() {
  thread_.giveUp();
  delete asking_;
}

// The database may be on a slow disk.
void CameraDialogs::askTimes(const QString& source, bool of_new_folder) {
  forgetTimes();
  thread_.run([this, source, of_new_folder, said = configs_->config(source), database = live_->database()] {
    thread_.answer([this, source, of_new_folder, known = withStoredClock(said, database)] {
      showTimes(source, known, of_new_folder);
    });
  });
}

void CameraDialogs::showTimes(const QString& source, const monitor::CameraConfig& said, bool of_new_folder) {
  auto* dialog = new TimesDialog(sourceSpec(source), said, window_);
  asking_ = dialog;
  connect(dialog, &TimesDialog::chosen, this, [this, source](const monitor::CameraConfig& config) {
    asking_.clear();  // it ends by itself
    configs_->change(source, config);
    emit timesChosen(source);
  });
  if (!of_new_folder) return openDialog(dialog);
  connect(dialog, &TimesDialog::looked, dialog, [dialog] {
    if (dialog->isVisible()) return;
    if (dialog->times()) return openDialog(dialog);
    dialog->accept();
    dialog->deleteLater();
  });
}

void CameraDialogs::ask(const QString& source, const QString& title, const char* group) {
  QStringList notes;
  if (group == std::string(monitor::kKeepGroup)) {
    const QString database = live_->database();
    notes << tr("Pictures are in %1").arg(live_->pictures())
          << (database.isEmpty() ? tr("Samples are not stored.")
                                 : tr("Samples are in %1; the means of hours and days stay.").arg(database));
  }
  auto* dialog = new CameraFieldsDialog(tr("%1 of %2").arg(title, sourceTitle(source)), group, configs_->config(source),
                                        nightOf(configs_->plan(source)), notes, window_);
  connect(dialog, &CameraFieldsDialog::chosen, this,
          [this, source](const monitor::CameraConfig& config) { configs_->change(source, config); });
  openDialog(dialog);
}

void CameraDialogs::askRegions(const QString& source, const LiveFrame& shown) {
  auto* dialog = new RegionsDialog(sourceTitle(source), configs_->regions(source), shown,
                                   configs_->plan(source).archiveClock(), window_);
  connect(dialog, &RegionsDialog::chosen, this,
          [this, source](const std::vector<vision::Region>& regions) { configs_->setRegions(source, regions); });
  openDialog(dialog);
}

}  // namespace mpm::gui
