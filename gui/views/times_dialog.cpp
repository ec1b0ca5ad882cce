// SPDX-License-Identifier: Apache-2.0
#include "gui/views/times_dialog.h"

#include <filesystem>

#include "gui/views/camera_rows.h"
#include "gui/views/fields.h"
#include "gui/views/file_dialogs.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "monitor/watch/camera_plan.h"
#include "vision/times/archive.h"

namespace mpm::gui {
namespace {

using vision::TimeFrom;

// In the order of the choices; the last choice is none.
constexpr std::optional<TimeFrom> kFrom[] = {std::nullopt, TimeFrom::kExif, TimeFrom::kName, TimeFrom::kList,
                                             TimeFrom::kModified};
constexpr int kList = 3, kNone = 5;

}  // namespace

TimesDialog::TimesDialog(const vision::SourceSpec& source, const monitor::CameraConfig& config, QWidget* parent)
    : SettingsDialog(tr("When were these pictures taken?"), parent), source_(source), thread_(this) {
  from_ = choiceField(tr("Their time"), {tr("EXIF, else the name of the file"), tr("EXIF"), tr("Name of the file"),
                                         tr("A list of names and times"), tr("Date of the file"),
                                         tr("Not known: they count as taken when they are read")});
  list_ = named(new QLineEdit, tr("List of names and times"));
  list_->setPlaceholderText(QStringLiteral("times.csv"));
  auto* browse = pushButton(tr("Browse…"), {}, this, [this] {
    askForFile(this, list_->accessibleName(), QString::fromStdString(source_.target),
               tr("Lists (*.csv *.txt *.tsv);;All files (*)"), [this](const QString& file) { list_->setText(file); });
  });
  zone_ = named(new QLineEdit, tr("Time zone"));
  zone_->setToolTip(QCoreApplication::translate("camera fields", monitor::cameraField("time-zone").words));
  found_ = wrapped(namedValue(new QLabel, tr("Found")));
  found_->setMinimumHeight(4 * found_->fontMetrics().lineSpacing());
  found_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  form_->addRow(tr("Their time"), from_);
  form_->addRow(tr("List"), fill(new QHBoxLayout, list_, browse));
  form_->addRow(tr("Time zone"), zone_);
  form_->addRow(tr("Found"), found_);
  form_->addRow(wrapped(mutedLabel(tr("Pictures with a time are stored once, at that time, in its order."))));
  form_->addRow(headingLabel(tr("Where were they taken?")));
  place_ = addCameraRows(form_, config, {&monitor::cameraField("lat"), &monitor::cameraField("lon")});
  form_->addRow(wrapped(mutedLabel(tr("Where the place is known, the sun there tells day from night."))));

  const PictureTimesChoice times = config.times == "none" ? std::nullopt : std::optional(monitor::timeOptions(config));
  if (!times) from_->setCurrentIndex(kNone);
  if (times) {
    const auto* const from = std::find(std::begin(kFrom), std::end(kFrom), times->from);
    from_->setCurrentIndex(static_cast<int>(from - kFrom));
    list_->setText(QString::fromStdString(times->list));
  }
  zone_->setText(QString::fromStdString(times.value_or(vision::TimeOptions()).clock().zone()));
  const auto follow = [this, browse] {
    for (QWidget* field : QWidgetList{list_, browse}) field->setEnabled(from_->currentIndex() == kList);
    zone_->setEnabled(from_->currentIndex() != kNone);
    look();
  };
  connect(from_, &QComboBox::activated, this, [this] { touched_ = true; });
  connect(from_, &QComboBox::currentIndexChanged, this, follow);
  for (QLineEdit* edit : {list_, zone_}) connect(edit, &QLineEdit::textChanged, this, &TimesDialog::look);
  finish([this] {
    if (const QString why = wrongTimes(); !why.isEmpty()) return why;
    if (!unread_list_.isEmpty()) return unread_list_;
    const monitor::CameraConfig with = place_();
    return with.lat.has_value() == with.lon.has_value() ? QString() : tr("A place has a latitude and a longitude.");
  });
  fitToWindow(this, QSize(620, 460));  // a line for each picture
  follow();
  connect(this, &QDialog::accepted, this, [this] { emit chosen(this->config()); });
}

// Why the times cannot be read like this; empty: they can.
QString TimesDialog::wrongTimes() const {
  if (from_->currentIndex() == kNone) return {};
  try {
    const vision::CameraClock checked(zone_->text().trimmed().toStdString());
  } catch (const Error& error) {
    return about(zone_->accessibleName(), QString::fromStdString(error.what()));
  }
  const bool no_list = from_->currentIndex() == kList && list_->text().trimmed().isEmpty();
  return no_list ? tr("Choose the list of names and times.") : QString();
}

PictureTimesChoice TimesDialog::times() const {
  const int index = from_->currentIndex();
  if (index == kNone) return std::nullopt;
  vision::TimeOptions options{.from = kFrom[index]};
  if (index == kList) options.list = list_->text().trimmed().toStdString();
  if (wrongTimes().isEmpty()) options.time_zone.emplace(zone_->text().trimmed().toStdString());
  return options;
}

monitor::CameraConfig TimesDialog::config() const {
  monitor::CameraConfig config = place_();
  const PictureTimesChoice times = this->times();
  config.times = times ? toString(*times) : "none";
  config.time_zone = times && times->time_zone ? times->time_zone->zone() : "";
  const bool by_default = config.night == "brightness" && !config.night_brightness && !config.day_brightness;
  if (config.lat && config.lon && by_default) config.night = "sun";
  return config;
}

void TimesDialog::show(const QString& text, bool any) {
  if (!any && !touched_ && from_->currentIndex() == 0) return from_->setCurrentIndex(kNone);
  setValue(found_, text, any ? Badge::kNone : Badge::kWarning);
  emit looked();
}

// Listing a folder and reading files may take long.
void TimesDialog::look() {
  thread_.giveUp();
  setValue(found_, {});
  unread_list_.clear();
  if (from_->currentIndex() == kNone) return show(tr("The time at which each is read"), true);
  if (!wrongTimes().isEmpty()) return emit looked();  // which is said below the fields

  if (from_->currentIndex() == kList) {
    unread_list_ = tr("The list is being read…");
    check();
  }
  const QStringList names = {tr("list"), tr("EXIF"), tr("name"), tr("date of the file")};  // as TimeFrom
  thread_.run([this, names, options = *times(), source = source_, none = tr("no time")] {
    QStringList lines;
    bool any = false, list_read = false;
    try {
      vision::PictureTimes times(options);
      list_read = true;
      const std::vector<std::string> files = vision::pictureFiles(source);
      times.learn(files);
      std::vector<std::size_t> three = {0, files.size() / 2, files.size() - 1};
      three.erase(std::unique(three.begin(), three.end()), three.end());
      for (const std::size_t i : three) {
        const std::string name = std::filesystem::path(files[i]).filename().string();
        QString text = none;
        if (const auto time = times.of(files[i])) {
          any = true;
          std::string shown = isoTime(times.clock().wall(time->time)).substr(0, 19);
          shown[10] = ' ';
          text = QString::fromStdString(shown + " " + times.clock().offsetText(time->time) + ", ") +
                 names[static_cast<int>(time->from)];
        }
        lines << QString::fromStdString(name) + QStringLiteral(": ") + text;
      }
    } catch (const Error& error) {
      lines = {QString::fromStdString(error.what())};
      any = false;
    }
    thread_.answer([this, text = lines.join(QLatin1Char('\n')), any, list_read] {
      unread_list_ = list_read ? QString() : about(list_->accessibleName(), text);
      check();
      show(list_read ? text : QString(), any);
    });
  });
}

}  // namespace mpm::gui
