// SPDX-License-Identifier: Apache-2.0
#include "watcher.h"

#include "base/size_text.h"
#include "gui/main_window.h"
#include "gui/models/camera_configs.h"
#include "wait.h"

namespace mpm::worlds {
namespace {

using namespace mpm::gui;

WindowOptions optionsOf(const QJsonObject& asked) {
  const auto text = [&](const char* key) { return asked[QLatin1String(key)].toString(); };
  WindowOptions options;
  options.choose_reuse = true;  // as without --reuse
  options.model = text("model");
  options.database = text("db");
  options.settings = text("settings") + QStringLiteral("/settings.ini");
  options.pictures = text("settings") + QStringLiteral("/pictures");
  options.inference.reduce = parseReduction(text("reduce").toStdString());
  options.inference.threads = 1;
  if (asked.contains("refine")) options.inference.refine = parseRefine(text("refine").toStdString());
  if (asked.contains("input-size")) options.inference.input_size = parseSize(text("input-size").toStdString());
  return options;
}

// The file in which the app keeps what was chosen of a source.
void write(const QString& watch_file, const WindowOptions& options, const QString& source) {
  const QString folder = QFileInfo(options.settings).path() + QStringLiteral("/watches");
  QDir().mkpath(folder);
  SettingsWriter settings(options.settings);
  const QString file = CameraConfigs(folder, &settings, nullptr).file(source);
  QFile::remove(file);
  if (!QFile::copy(watch_file, file)) throw Error("cannot copy " + watch_file.toStdString());
}

}  // namespace

QJsonObject watch(const QJsonObject& asked) {
  const WindowOptions options = optionsOf(asked);
  const QString source = asked["folder"].toString();
  write(asked["camera"].toString(), options, source);
  MainWindow window(options);
  window.show();
  window.opener().open(source);
  const monitor::Session& session = window.live().session();
  waitFor("that the folder ends", [&] {
    const monitor::SessionStatus status = session.status();
    if (!status.inference.problem.empty()) throw Error(status.inference.problem);
    return session.isOpen() && status.inference.ready && status.finished;
  });
  const monitor::SessionStatus status = session.status();
  window.leave();
  return {{"pictures", static_cast<qint64>(status.pictures)}, {"stored", static_cast<qint64>(status.stored)}};
}

}  // namespace mpm::worlds
