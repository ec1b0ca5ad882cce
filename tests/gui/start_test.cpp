// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <QtWidgets>
#include <csignal>

#include "text.h"

namespace mpm::gui {
namespace {

struct Outcome {
  QProcess::ExitStatus how;
  int code;
  QString words;
};

Outcome start(const QStringList& arguments, const QMap<QString, QString>& environment) {
  QProcess process;
  QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) variables.remove(name);
  for (auto it = environment.begin(); it != environment.end(); ++it) variables.insert(it.key(), it.value());
  process.setProcessEnvironment(variables);
  process.start(MPM_MONITOR_APP, arguments);
  EXPECT_TRUE(process.waitForFinished(30000));
  return {process.exitStatus(), process.exitCode(), QString::fromUtf8(process.readAllStandardError())};
}

// The path of a file that is no model.
QString brokenModel(const QTemporaryDir& folder) {
  write(folder.filePath("broken.onnx"), "this is no model");
  return folder.filePath("broken.onnx");
}

// Those of a program that leaves the user's settings and data alone.
QStringList arguments(const QTemporaryDir& folder, const QStringList& more = {}) {
  return QStringList{"--db", "none", "--settings", folder.filePath("s.ini")} + more;
}

QMap<QString, QString> offscreen(const QTemporaryDir& folder) {
  return {{"QT_QPA_PLATFORM", "offscreen"}, {"XDG_RUNTIME_DIR", folder.path()}};  // Qt warns without one
}

TEST(Start, WhatCannotWorkIsASentenceAndACode) {
  const QTemporaryDir folder;
  QMap<QString, QString> with_model = offscreen(folder);
  with_model["MPM_MODEL"] = brokenModel(folder);
  const std::tuple<QStringList, QMap<QString, QString>, int, const char*> cases[] = {
      {{},
       {},
       1,
       "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)\nOn a machine without a display use "},
      {{}, {{"DISPLAY", ":9876"}}, 1, "cannot open a window"},
      {arguments(folder, {"--model", brokenModel(folder)}), offscreen(folder), 1, "broken.onnx"},
      {arguments(folder), with_model, 1, "broken.onnx"},
      {{"--nonsense"}, {}, 2, "--nonsense"},
      {{"--reduce", "mpm:blocks=5,2"}, {}, 2, "5,2"},
      {{"--device", "tpu"}, {}, 2, "tpu"}};
  for (const auto& [given, environment, code, words] : cases) {
    const Outcome outcome = start(given, environment);
    EXPECT_EQ(outcome.how, QProcess::NormalExit) << words;
    EXPECT_EQ(outcome.code, code) << words;
    EXPECT_THAT(outcome.words, Has(words));
  }
}

constexpr int kStartPatience = 60000;  // ms

// Before it does, a stop would be the end of a program that had not begun.
bool catchesTermination(qint64 process) {
  for (const QByteArray& line : content(QStringLiteral("/proc/%1/status").arg(process)).split('\n'))
    if (line.startsWith("SigCgt:")) return (line.mid(7).trimmed().toULongLong(nullptr, 16) >> (SIGTERM - 1) & 1) != 0;
  return false;
}

// What it was asked to open, as it stands in its settings after a stop, which comes when `done` is in them.
QByteArray settingsAfter(const QTemporaryDir& folder, const QString& asked, const QByteArray& done = {}) {
  QProcess process;
  QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
  variables.insert("QT_QPA_PLATFORM", "offscreen");
  process.setProcessEnvironment(variables);
  const QString settings = folder.filePath("settings.ini");
  process.start(MPM_MONITOR_APP, {"--settings", settings, "--db", "none", asked});
  EXPECT_TRUE(process.waitForStarted());
  EXPECT_TRUE(QTest::qWaitFor([&] { return catchesTermination(process.processId()); }, kStartPatience));
  EXPECT_TRUE(QTest::qWaitFor([&] { return content(settings).contains(done); }, kStartPatience)) << content(settings);
  process.terminate();
  process.waitForFinished(kStartPatience);
  EXPECT_EQ(process.state(), QProcess::NotRunning);
  EXPECT_EQ(process.exitStatus(), QProcess::NormalExit);
  EXPECT_EQ(process.exitCode(), 0) << process.readAllStandardError();
  return content(settings);
}

TEST(Start, TakesWhatAFileManagerHandsOver) {
  QTemporaryDir folder;
  ASSERT_TRUE(QDir(folder.path()).mkpath("the street"));
  const QString path = folder.filePath("the street");
  ASSERT_TRUE(QImage(64, 64, QImage::Format_RGB32).save(path + "/1.png"));
  settingsAfter(folder, QString::fromLatin1(QUrl::fromLocalFile(path).toEncoded()), path.toUtf8());
}

TEST(Start, LooksAtADatabaseAndWatchesNothing) {
  QTemporaryDir folder;
  const QByteArray settings = settingsAfter(folder, folder.filePath("yard.db"));
  EXPECT_THAT(settings, Has("geometry")) << "it ran";
  EXPECT_THAT(settings, Not(Has("yard.db")));
}

TEST(Start, LoadsNoQt5) {
  QProcess ldd;
  ldd.start("ldd", {MPM_MONITOR_APP});
  ASSERT_TRUE(ldd.waitForFinished());
  const QString libraries = QString::fromUtf8(ldd.readAllStandardOutput());
  EXPECT_THAT(libraries, AllOf(Has("libQt6Widgets"), Not(Has("libQt5")), Not(Has("opencv_highgui"))));
}

}  // namespace
}  // namespace mpm::gui
