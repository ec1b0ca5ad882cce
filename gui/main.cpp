// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <QtWidgets>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <opencv2/core/utils/logger.hpp>

#include "gui/main_window.h"
#include "gui/views/look.h"
#include "mpm/version.hpp"
#include "program/model_options.h"
#include "program/terminal/program.h"
#include "scene/demo_source.h"
#include "vision/model_files.h"

namespace {

// Qt aborts when it finds no display; a person deserves a sentence, and a script an exit code.
void handleMessage(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type == QtFatalMsg) {
    std::fprintf(stderr,
                 "mpm-monitor: cannot open a window: %s\nOn a machine without a display use 'mpm monitor' instead.\n",
                 message.simplified().toUtf8().constData());
    std::_Exit(1);
  }
  if (type != QtDebugMsg && type != QtInfoMsg) std::fprintf(stderr, "mpm-monitor: %s\n", message.toUtf8().constData());
}

// So that it is found again when the program starts in another folder.
QString absolute(const QString& asked) {
  const QString path = mpm::gui::localPath(asked);
  const mpm::vision::SourceSpec source = mpm::gui::sourceSpec(path);
  const bool file = !source.isLive() && source.kind != mpm::vision::SourceKind::kDemo;
  return file ? QFileInfo(path).absoluteFilePath() : path;
}

// Ctrl-C and a service manager's stop end the program as closing the window does, also while it is only starting; a
// second one ends it at once.
volatile std::sig_atomic_t interrupted = 0;

void interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

int main(int argc, char** argv) {
  mpm::scene::registerDemoSource();
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  CLI::App command("Live segmentation, merge maps and day/night token counts for a camera on a fixed scene",
                   "mpm-monitor");
  mpm::program::prepare(command);
  std::string source, model, database, pictures, settings, language;
  bool dark = false, light = false, resume = false;
  mpm::program::addOption(command, "SOURCE", source, "",
                          "Folder of images, video, camera (0 or /dev/video0), rtsp:// or http:// URL, demo:, "
                          "gst:PIPELINE; or a database (.db) or a watch file (.toml) to look at")
      ->envname("MPM_SOURCE");
  mpm::gui::WindowOptions options;
  mpm::program::addModelOptions(command, model, options.inference);
  mpm::program::addField(command, "refine", options.inference.refine, mpm::parseRefine);
  const CLI::Option* const reuse =
      mpm::program::addReuse(command, options.inference.reuse, mpm::monitor::cameraField("reuse").usual);
  mpm::program::addSegmentLimits(command, options.inference.min_score, options.inference.min_overlap);
  mpm::program::addOption(
      command, "--db", database, "FILE",
      "Database of the samples; none stores nothing. Default: monitor.db in the user's data folder");
  mpm::program::addOption(command, "--pictures", pictures, "DIR",
                          "Folder of snapshots and time-lapses. Default: mpm-monitor in the user's pictures");
  mpm::program::addOption(command, "--settings", settings, "FILE.ini", "A settings file instead of the user's");
  command.add_option("--language", language, "Language of the window. Default: the system's, if it is one of these")
      ->check(CLI::IsMember({"en", "fr"}))
      ->option_text("en|fr");
  command.add_flag("--resume-last", resume, "Without a source: go on with the one that was watched last");
  command.add_flag("--dark", dark, "Dark colours");
  command.add_flag("--light", light, "Light colours")->excludes("--dark");
  command.footer(
      "Examples:\n"
      "  mpm-monitor demo:\n"
      "  mpm-monitor /dev/video0 --model vit.onnx --reduce mpm:blocks=2,5\n"
      "  mpm-monitor /var/lib/mpm/yard.db                            what 'mpm monitor' stores, live");
  try {
    command.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return command.exit(error) == 0 ? 0 : 2;
  }
  options.choose_reuse = reuse->empty();
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  const std::string first = model.empty() ? mpm::vision::defaultModel() : model;

  qInstallMessageHandler(handleMessage);
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") && qEnvironmentVariableIsEmpty("DISPLAY") &&
      qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY")) {
    std::fprintf(stderr,
                 "mpm-monitor: there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)\n"
                 "On a machine without a display use 'mpm monitor' instead.\n");
    return 1;
  }
  int qt_argc = 1;
  QApplication app(qt_argc, argv);
  std::setlocale(LC_NUMERIC, "C");  // Qt sets the user's, whose comma has no place in files that others read
  QApplication::setApplicationName(QStringLiteral("mpm-monitor"));
  QApplication::setOrganizationName(QStringLiteral("mpm"));
  QApplication::setApplicationVersion(QStringLiteral(MPM_VERSION));
  QApplication::setDesktopFileName(QStringLiteral("mpm-monitor"));
  QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/mpm-monitor.png")));

  const QSettings stored =
      settings.empty() ? QSettings() : QSettings(QString::fromStdString(settings), QSettings::IniFormat);
  const QString chosen =
      language.empty() ? stored.value(QStringLiteral("language")).toString() : QString::fromStdString(language);
  const QLocale locale = chosen.isEmpty() ? QLocale() : QLocale(chosen);
  QLocale::setDefault(locale);
  QTranslator ours, qts;
  const QString folder = QStringLiteral(":/i18n");
  if (ours.load(locale, QStringLiteral("mpm-monitor"), QStringLiteral("_"), folder) ||
      ours.load(QStringLiteral("mpm-monitor_en"), folder))  // English carries the plural forms
    QApplication::installTranslator(&ours);
  if (qts.load(locale, QStringLiteral("qtbase"), QStringLiteral("_"),
               QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
    QApplication::installTranslator(&qts);
  const bool dark_now = dark || (!light && stored.value(QStringLiteral("dark"), false).toBool());
  mpm::gui::applyLook(dark_now ? mpm::gui::darkTheme() : mpm::gui::lightTheme(),
                      stored.value(QStringLiteral("font"), 100).toInt());

  const QString data = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  options.model = QString::fromStdString(model);
  options.settings = QString::fromStdString(settings);
  if (database != "none") {
    options.database = database.empty() ? data + QStringLiteral("/monitor.db") : QString::fromStdString(database);
    QDir().mkpath(QFileInfo(options.database).absolutePath());
  }
  options.pictures = pictures.empty() ? QStandardPaths::writableLocation(QStandardPaths::PicturesLocation) +
                                            QStringLiteral("/mpm-monitor")
                                      : QString::fromStdString(pictures);
  int status = 1;
  try {
    bool failed = false;
    mpm::gui::MainWindow window(options);
    // A file of the command line that cannot be read is an error of the command line.
    QObject::connect(&window.live(), &mpm::gui::LiveMonitor::eventHappened, &window,
                     [&](const mpm::monitor::Event& event) {
                       const bool ready = window.live().session().status().inference.ready;
                       const bool of_first = !first.empty() && event.message.find(first) != std::string::npos;
                       if (ready || !of_first || event.severity != mpm::monitor::Severity::kError) return;
                       std::fprintf(stderr, "mpm-monitor: %s\n", event.message.c_str());
                       failed = true;
                       window.leave();
                     });
    if (!source.empty())
      window.opener().openNamed(absolute(QString::fromStdString(source)));
    else if (resume)
      window.opener().resumeLast();
    if (!window.showsOnlyOthers()) window.show();
    QTimer poll;
    QObject::connect(&poll, &QTimer::timeout, &window, [&window] {
      if (interrupted) window.leave();
    });
    poll.start(200);
    const int code = QApplication::exec();
    status = failed ? 1 : code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpm-monitor: %s\n", error.what());
  }
  return mpm::program::endProgram(status);
}
