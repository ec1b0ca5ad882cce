// SPDX-License-Identifier: Apache-2.0
#include "gui/models/settings_writer.h"

namespace mpm::gui {

int storedIndex(const QSettings& settings, const QString& key, const QStringList& names, int otherwise) {
  const auto index = static_cast<int>(names.indexOf(settings.value(key).toString()));
  return index < 0 ? otherwise : index;
}

double storedNumber(const QSettings& settings, const QString& key, double low, double high, double otherwise) {
  bool ok = false;
  const double value = settings.value(key).toDouble(&ok);
  return ok && value >= low && value <= high ? value : otherwise;
}

std::unique_ptr<QSettings> SettingsWriter::read() const {
  return file_.isEmpty() ? std::make_unique<QSettings>() : std::make_unique<QSettings>(file_, QSettings::IniFormat);
}

void SettingsWriter::change(std::function<void(QSettings&)> what) {
  thread_.run([this, what = std::move(what)] {
    const auto settings = read();
    what(*settings);
    settings->sync();
  });
}

void SettingsWriter::set(const QString& key, const QVariant& value) {
  change([key, value](QSettings& settings) { settings.setValue(key, value); });
}

}  // namespace mpm::gui
