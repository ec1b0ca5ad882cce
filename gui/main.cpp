// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <QtWidgets>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <opencv2/core/utils/logger.hpp>
#include <optional>
#include <string>

#include "gui/main_window.h"
#include "gui/views/look.h"
#include "mpm/version.hpp"
#include "program/model_options.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "scene/demo_source.h"
#include "vision/model_files.h"

namespace {

void printProblem(const std::string& problem) { mpm::program::printNote("mpm-monitor: " + problem); }

// Qt aborts when it finds no display; a person deserves a sentence, and a script an exit code.
void handleMessage(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type == QtFatalMsg) {
    printProblem("cannot open a window: " + message.simplified().toStdString());
    mpm::program::printNote("On a machine without a display use 'mpm monitor' instead.");
    std::_Exit(1);
  }
  if (type != QtDebugMsg && type != QtInfoMsg) printProblem(message.toStdString());
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

// What the command line says.
struct Arguments {
  std::string source, model, database, pictures, settings, language;
  bool dark = false, light = false, resume = false;
  mpm::gui::WindowOptions window{};
};

// Returns the exit status where the program ends here: after --help, or for a mistake.
std::optional<int> parse(int argc, char** argv, Arguments& arguments) {
  CLI::App command("Live segmentation, merge maps and day/night token counts for a camera on a fixed scene",
                   "mpm-monitor");
  mpm::program::prepare(command);
  mpm::EstimatorOptions& inference = arguments.window.inference;
  mpm::program::addOption(command, "SOURCE", arguments.source, "",
                          "Folder of images, video, camera (0 or /dev/video0), rtsp:// or http:// URL, demo:, "
                          "gst:PIPELINE; or a database (.db) or a watch file (.toml) to look at")
      ->envname("MPM_SOURCE");
  mpm::program::addModelOptions(command, arguments.model, inference);
  mpm::program::addField(command, "refine", inference.refine, mpm::parseRefine);
  const CLI::Option* const reuse =
      mpm::program::addReuse(command, inference.reuse, mpm::monitor::cameraField("reuse").usual);
  mpm::program::addSegmentLimits(command, inference.min_score, inference.min_overlap);
  mpm::program::addOption(
      command, "--db", arguments.database, "FILE",
      "Database of the samples; none stores nothing. Default: monitor.db in the user's data folder");
  mpm::program::addOption(command, "--pictures", arguments.pictures, "DIR",
                          "Folder of snapshots and time-lapses. Default: mpm-monitor in the user's pictures");
  mpm::program::addOption(command, "--settings", arguments.settings, "FILE.ini",
                          "A settings file instead of the user's");
  command
      .add_option("--language", arguments.language,
                  "Language of the window. Default: the system's, if it is one of these")
      ->check(CLI::IsMember({"en", "fr"}))
      ->option_text("en|fr");
  command.add_flag("--resume-last", arguments.resume, "Without a source: go on with the one that was watched last");
  command.add_flag("--dark", arguments.dark, "Dark colours");
  command.add_flag("--light", arguments.light, "Light colours")->excludes("--dark");
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
  arguments.window.choose_reuse = reuse->empty();
  return std::nullopt;
}

bool hasDisplay() {
  return !(qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") && qEnvironmentVariableIsEmpty("DISPLAY") &&
           qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY"));
}

void setNames() {
  QApplication::setApplicationName(QStringLiteral("mpm-monitor"));
  QApplication::setOrganizationName(QStringLiteral("mpm"));
  QApplication::setApplicationVersion(QStringLiteral(MPM_VERSION));
  QApplication::setDesktopFileName(QStringLiteral("mpm-monitor"));
  QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/mpm-monitor.png")));
}

// Texts in the language that was chosen, and colours and font: as the command line says, else as the settings do.
class Look {
 public:
  explicit Look(const Arguments& arguments) {
    const QSettings stored = arguments.settings.empty()
                                 ? QSettings()
                                 : QSettings(QString::fromStdString(arguments.settings), QSettings::IniFormat);
    const QString chosen = arguments.language.empty() ? stored.value(QStringLiteral("language")).toString()
                                                      : QString::fromStdString(arguments.language);
    translate(chosen.isEmpty() ? QLocale() : QLocale(chosen));
    const bool dark = arguments.dark || (!arguments.light && stored.value(QStringLiteral("dark"), false).toBool());
    mpm::gui::applyLook(dark ? mpm::gui::darkTheme() : mpm::gui::lightTheme(),
                        stored.value(QStringLiteral("font"), 100).toInt());
  }

 private:
  void translate(const QLocale& locale) {
    QLocale::setDefault(locale);
    const QString folder = QStringLiteral(":/i18n");
    if (ours_.load(locale, QStringLiteral("mpm-monitor"), QStringLiteral("_"), folder) ||
        ours_.load(QStringLiteral("mpm-monitor_en"), folder))  // English carries the plural forms
      QApplication::installTranslator(&ours_);
    if (qts_.load(locale, QStringLiteral("qtbase"), QStringLiteral("_"),
                  QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
      QApplication::installTranslator(&qts_);
  }

  QTranslator ours_, qts_;
};

mpm::gui::WindowOptions windowOptions(const Arguments& arguments) {
  mpm::gui::WindowOptions options = arguments.window;
  options.model = QString::fromStdString(arguments.model);
  options.settings = QString::fromStdString(arguments.settings);
  if (arguments.database != "none") {
    const QString data = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
    options.database =
        arguments.database.empty() ? data + QStringLiteral("/monitor.db") : QString::fromStdString(arguments.database);
    QDir().mkpath(QFileInfo(options.database).absolutePath());
  }
  options.pictures = arguments.pictures.empty() ? QStandardPaths::writableLocation(QStandardPaths::PicturesLocation) +
                                                      QStringLiteral("/mpm-monitor")
                                                : QString::fromStdString(arguments.pictures);
  return options;
}

// Shows the window until it is left. Returns the exit status.
int runWindow(const Arguments& arguments) {
  const std::string first = arguments.model.empty() ? mpm::vision::defaultModel() : arguments.model;
  bool failed = false;
  mpm::gui::MainWindow window(windowOptions(arguments));
  // A model of the command line that cannot be read is an error of the command line.
  QObject::connect(&window.live(), &mpm::gui::LiveMonitor::eventHappened, &window, [&] {
    const mpm::monitor::InferenceStatus inference = window.live().session().status().inference;
    if (failed || inference.ready || first.empty() || inference.failed_model != first) return;
    printProblem(inference.problem);
    failed = true;
    window.leave();
  });
  if (!arguments.source.empty())
    window.opener().openNamed(absolute(QString::fromStdString(arguments.source)));
  else if (arguments.resume)
    window.opener().resumeLast();
  if (!window.showsOnlyOthers()) window.show();
  QTimer poll;
  QObject::connect(&poll, &QTimer::timeout, &window, [&window] {
    if (interrupted) window.leave();
  });
  poll.start(200);
  const int code = QApplication::exec();
  return failed ? 1 : code;
}

}  // namespace

int main(int argc, char** argv) {
  mpm::scene::registerDemoSource();
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  Arguments arguments;
  if (const auto ended = parse(argc, argv, arguments)) return *ended;
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);

  qInstallMessageHandler(handleMessage);
  if (!hasDisplay()) {
    printProblem("there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)");
    mpm::program::printNote("On a machine without a display use 'mpm monitor' instead.");
    return 1;
  }
  int qt_argc = 1;
  QApplication app(qt_argc, argv);
  std::setlocale(LC_NUMERIC, "C");  // Qt sets the user's, whose comma has no place in files that others read
  setNames();
  const Look look(arguments);
  int status = 1;
  try {
    status = runWindow(arguments);
  } catch (const std::exception& error) {
    printProblem(error.what());
  }
  return mpm::program::endProgram(status);
}
