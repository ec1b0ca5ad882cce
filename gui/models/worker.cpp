// SPDX-License-Identifier: Apache-2.0
#include "gui/models/worker.h"

#include "mpm/error.hpp"

namespace mpm::gui {

Worker::Worker(QObject* owner, std::function<void(const QString&)> failed, QThread::Priority priority)
    : owner_(owner), failed_(std::move(failed)) {
  pool_.setMaxThreadCount(1);
  pool_.setThreadPriority(priority);
}

Job::Job(Work work, QObject* parent)
    : QObject(parent), thread_([this, work = std::move(work)](const std::stop_token& stop) { run(stop, work); }) {}

void Job::run(const std::stop_token& stop, const Work& work) {
  const auto answer = [this](auto emission) { QMetaObject::invokeMethod(this, std::move(emission)); };
  const auto end = [&](auto emission) {
    answer([this, emission = std::move(emission)] {
      emit ended();
      emission();
    });
  };
  int shown = -1;
  try {
    const std::optional<QVariant> made = work([&](int done, int of) {
      const int percent = static_cast<int>(100LL * done / std::max(1, of));
      if (std::exchange(shown, percent) != percent) answer([this, done, of] { emit progressed(done, of); });
      return !stop.stop_requested();
    });
    if (made)
      end([this, made] { emit finished(*made); });
    else
      end([this] { emit cancelled(); });
  } catch (const std::exception& error) {
    end([this, why = QString::fromUtf8(error.what())] { emit failed(why); });
  }
}

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
    const bool lost = settings->status() == QSettings::AccessError;
    if (!std::exchange(lost_, lost) && lost) throw Error("cannot write '" + settings->fileName().toStdString() + "'");
  });
}

void SettingsWriter::set(const QString& key, const QVariant& value) {
  change([key, value](QSettings& settings) { settings.setValue(key, value); });
}

}  // namespace mpm::gui
