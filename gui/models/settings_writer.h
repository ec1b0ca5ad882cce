// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/worker.h"

namespace mpm::gui {

/// Changes settings on its own thread: writing them waits for the disk, which on an SD card takes long enough to
/// be noticed. Each change reaches the disk soon after it is made, in order.
class SettingsWriter {
 public:
  /// Empty: the user's settings.
  explicit SettingsWriter(const QString& file) : file_(file), thread_(nullptr, {}, QThread::LowPriority) {}

  std::unique_ptr<QSettings> read() const;
  void change(std::function<void(QSettings&)> what);
  void set(const QString& key, const QVariant& value);
  /// Writes another file, in the same order.
  void run(std::function<void()> what) { thread_.run(std::move(what)); }

 private:
  const QString file_;
  Worker thread_;
};

/// Where the value of `key` stands in `names`; `otherwise` where it is none of them.
int storedIndex(const QSettings& settings, const QString& key, const QStringList& names, int otherwise);

/// The stored value, where it is a number from `low` to `high`, else `otherwise`.
double storedNumber(const QSettings& settings, const QString& key, double low, double high, double otherwise);

}  // namespace mpm::gui
