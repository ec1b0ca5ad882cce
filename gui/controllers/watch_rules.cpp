// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/watch_rules.h"

#include "gui/models/recents.h"
#include "gui/views/look.h"
#include "gui/views/regions_dialog.h"
#include "gui/views/settings_dialogs.h"
#include "gui/views/times_dialog.h"
#include "monitor/event_command.h"
#include "mpm/error.hpp"

namespace mpm::gui {
namespace {

QString keyOf(const QString& source) { return QString::fromStdString(sourceSpec(source).name()); }

}  // namespace

WatchRules::WatchRules(QSettings& stored, SettingsWriter* settings, const LegendModel* legend, QWidget* window)
    : QObject(window),
      settings_(settings),
      legend_(legend),
      window_(window),
      night_(loadNightRule(stored)),
      night_numbers_(loadNightNumbers(stored)),
      alarms_(loadAlarms(stored)),
      keep_(loadKeepOptions(stored)),
      command_(loadCommand(stored)),
      sources_(loadSources(stored)) {}

std::vector<std::string> WatchRules::command() const {
  try {
    return command_.isEmpty() ? std::vector<std::string>() : monitor::splitCommand(command_.toStdString());
  } catch (const Error&) {  // settings edited by hand
    return {};
  }
}

const SourceChoices& WatchRules::of(const QString& source) const {
  static const SourceChoices none;
  const auto found = sources_.find(keyOf(source));
  return found == sources_.end() ? none : found->second;
}

void WatchRules::change(const QString& source, const std::function<void(SourceChoices&)>& what) {
  what(sources_[keyOf(source)]);
  settings_->change([all = sources_](QSettings& settings) { save(settings, all); });
}

const SourceRegions& WatchRules::regions(const QString& source) const {
  static const SourceRegions none;
  const SourceChoices& choices = of(source);
  return choices.regions ? *choices.regions : none;
}

void WatchRules::propose(const QString& source, const std::vector<vision::Region>& regions) {
  if (!regions.empty() && !of(source).regions) sources_[keyOf(source)].regions = SourceRegions{.regions = regions};
}

void WatchRules::useStates(const QString& source, const evaluation::StateHead& head, const QString& file, bool use) {
  change(source, [&](SourceChoices& of) {
    std::erase_if(of.states, [&](const evaluation::StateHead& one) { return one.name == head.name; });
    of.state_files.removeAll(file);
    if (!use) return;
    of.states.push_back(head);
    of.state_files << file;
  });
}

monitor::WatchOptions WatchRules::watchOptions(const QString& source) const {
  using vision::SourceKind;
  monitor::WatchOptions options{.source = sourceSpec(source), .night = night_, .alarms = alarms_};
  options.regions = regions(source).regions;
  options.states.heads = states(source);
  const SourceKind kind = options.source.kind;
  // A folder is looked through, not played.
  options.max_fps = kind == SourceKind::kFolder || kind == SourceKind::kGlob ? 4 : 25;
  if (isNumbered(options.source)) {
    options.every_frame = true;
    options.every_s = 0;
  }
  if (const PictureTimesChoice times = this->times(source)) {
    options.archive = vision::ArchiveOptions{.times = *times, .show_last = true};
    options.max_fps = 0;
  }
  if (kind == SourceKind::kDemo) {
    options.max_fps = 10;
    try {
      if (const auto place = vision::openSource(options.source)->place())
        options.night = monitor::NightBySun{place->latitude, place->longitude};
    } catch (const Error&) {  // opening it again reports the error
    }
  }
  return options;
}

monitor::SnapshotOptions WatchRules::snapshotOptions(const QString& pictures) const {
  constexpr double kReserveMb = 200;
  monitor::SnapshotOptions options{.folder = pictures.toStdString(),
                                   .keep_days = keep_.picture_days,
                                   .min_free_megabytes = keep_.free_mb,
                                   .all_sources = true,
                                   .reserve_megabytes = kReserveMb};
  if (keep_.lapse_minutes > 0) options.every_minutes = keep_.lapse_minutes;
  return options;
}

// The alarms of classes that the model on show has: it may know others than the model they were set for.
monitor::AlarmOptions WatchRules::alarmsOfModel() const {
  monitor::AlarmOptions result = alarms_;
  result.areas.clear();
  for (monitor::AreaAlarm area : alarms_.areas)
    for (area.label = 0; area.label < legend_->classes(); ++area.label)
      if (legend_->name(area.label).toStdString() == area.name) {
        result.areas.push_back(area);
        break;
      }
  return result;
}

bool WatchRules::knowsTimes(const QString& source) const {
  const vision::SourceSpec spec = sourceSpec(source);
  return (spec.kind != vision::SourceKind::kFolder && spec.kind != vision::SourceKind::kGlob) ||
         of(source).times.has_value();
}

void WatchRules::askTimes(const QString& source, bool of_new_folder) {
  auto* dialog = new TimesDialog(sourceSpec(source), of(source).times.value_or(vision::TimeOptions()), window_);
  connect(dialog, &TimesDialog::chosen, this, [this, source](const PictureTimesChoice& times) {
    change(source, [&](SourceChoices& of) { of.times = times; });
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

void WatchRules::askNight() {
  auto* dialog = new NightDialog(night_, night_numbers_, window_);
  connect(dialog, &NightDialog::chosen, this, [this](const monitor::NightRule& rule) {
    night_ = rule;
    night_numbers_.take(rule);
    settings_->change([rule](QSettings& settings) { save(settings, rule); });
    emit nightChanged();
  });
  openDialog(dialog);
}

void WatchRules::askAlarms() {
  QStringList classes;
  for (int c = 0; c < legend_->classes(); ++c) classes << legend_->name(c);
  const monitor::AlarmOptions shown = alarmsOfModel();
  auto* dialog = new AlarmsDialog(shown, classes, command_, window_);
  // The dialog asks for one area; those of other classes, which this model may not even have, stay.
  const std::string asked = shown.areas.empty() ? std::string() : shown.areas.front().name;
  connect(dialog, &AlarmsDialog::chosen, this, [this, asked](const monitor::AlarmOptions& alarms) {
    const std::string answered = alarms.areas.empty() ? asked : alarms.areas.front().name;
    const auto areas = alarms_.areas;
    alarms_ = alarms;
    for (const monitor::AreaAlarm& area : areas)
      if (area.name != asked && area.name != answered) alarms_.areas.push_back(area);
    settings_->change([alarms = alarms_](QSettings& settings) { save(settings, alarms); });
    emit alarmsChanged();
  });
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    if (command_ == dialog->command()) return;
    command_ = dialog->command();
    settings_->change([command = command_](QSettings& settings) { saveCommand(settings, command); });
    emit commandChanged();
  });
  openDialog(dialog);
}

void WatchRules::askKeep(const QString& folder, const QString& database) {
  auto* dialog = new KeepDialog(keep_, folder, database, window_);
  connect(dialog, &KeepDialog::chosen, this, [this](const KeepOptions& keep) {
    keep_ = keep;
    settings_->change([keep](QSettings& settings) { save(settings, keep); });
    emit keepChanged();
  });
  openDialog(dialog);
}

void WatchRules::askRegions(const QString& source, const cv::Mat& picture, UnixMs time) {
  auto* dialog = new RegionsDialog(sourceTitle(source), regions(source), picture, time, window_);
  connect(dialog, &RegionsDialog::chosen, this, [this, source](const SourceRegions& regions) {
    // None is also a choice: else those in the database would count.
    change(source, [&](SourceChoices& of) { of.regions = regions; });
    emit regionsChanged();
  });
  openDialog(dialog);
}

}  // namespace mpm::gui
