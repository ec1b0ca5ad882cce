// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QString>
#include <QThread>
#include <QVariant>
#include <functional>
#include <memory>

class QSettings;

namespace mpm::gui {

/// Changes settings on a thread of its own: writing them waits for the disk, which on an SD card takes long enough to
/// be felt. Each change is on the disk soon after it was made, in the order they were made.
class SettingsWriter {
 public:
  /// Empty: the user's settings.
  explicit SettingsWriter(const QString& file);
  ~SettingsWriter();  ///< after the last change
  SettingsWriter(const SettingsWriter&) = delete;
  SettingsWriter& operator=(const SettingsWriter&) = delete;

  void change(std::function<void(QSettings&)> what);
  void set(const QString& key, const QVariant& value);

 private:
  QString file_;
  QThread thread_;
  QObject* far_;  // lives on thread_
};

/// The settings of `file`, or the user's where that is empty.
std::unique_ptr<QSettings> openSettings(const QString& file);

}  // namespace mpm::gui
