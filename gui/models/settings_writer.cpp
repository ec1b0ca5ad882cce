// SPDX-License-Identifier: Apache-2.0
#include "gui/models/settings_writer.h"

#include <QSettings>

namespace mpm::gui {

std::unique_ptr<QSettings> openSettings(const QString& file) {
  return file.isEmpty() ? std::make_unique<QSettings>() : std::make_unique<QSettings>(file, QSettings::IniFormat);
}

SettingsWriter::SettingsWriter(const QString& file) : file_(file), far_(new QObject) {
  far_->moveToThread(&thread_);
  thread_.setObjectName(QStringLiteral("settings"));
  thread_.start(QThread::LowPriority);
}

SettingsWriter::~SettingsWriter() {
  QMetaObject::invokeMethod(far_, [this] { thread_.quit(); });
  thread_.wait();
  delete far_;
}

void SettingsWriter::change(std::function<void(QSettings&)> what) {
  QMetaObject::invokeMethod(far_, [this, what = std::move(what)] {
    const auto settings = openSettings(file_);
    what(*settings);
    settings->sync();
  });
}

void SettingsWriter::set(const QString& key, const QVariant& value) {
  change([key, value](QSettings& settings) { settings.setValue(key, value); });
}

}  // namespace mpm::gui
