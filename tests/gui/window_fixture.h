// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QDialog>
#include <QDir>
#include <QDockWidget>
#include <QLabel>
#include <QSettings>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolBar>
#include <functional>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "gui/controllers/action_registry.h"
#include "gui/controllers/exports.h"
#include "gui/controllers/opener.h"
#include "gui/controllers/teach_mode.h"
#include "gui/main_window.h"
#include "gui/views/image_view.h"
#include "gui/views/times_dialog.h"
#include "monitor/store/store.h"
#include "vision/time.h"

namespace mpm::gui {

inline constexpr int kPatience = 150000, kPictures = 40;

/// Until what is waiting in the event loop is done, and what comes of that.
inline void settle() {
  for (int round = 0; round < 3; ++round) {
    QCoreApplication::processEvents();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  }
}

/// The button that says `text`; a failure and null where there is none.
inline QAbstractButton* buttonOf(const QWidget* parent, const QString& text) {
  for (auto* button : parent->findChildren<QAbstractButton*>())
    if (button->text() == text) return button;
  ADD_FAILURE() << "no button '" << text.toStdString() << "'";
  return nullptr;
}

/// The field that screen readers call so.
template <typename Field>
Field* fieldOf(const QObject* parent, const char* name) {
  for (auto* field : parent->findChildren<Field*>())
    if (field->accessibleName() == QLatin1String(name)) return field;
  ADD_FAILURE() << "no field '" << name << "'";
  return nullptr;
}

/// The part of the window that has this type.
template <typename Part>
Part* part(const QObject& window) {
  return window.findChild<Part*>();
}

/// The label of this name, as setValue() knows it.
inline const QLabel* labelOf(const QWidget* panel, const char* name) {
  for (const auto* label : panel->findChildren<QLabel*>())
    if (label->property("value_name") == QLatin1String(name)) return label;
  ADD_FAILURE() << "no label '" << name << "'";
  static const QLabel none;
  return &none;
}
inline QString valueOf(const QWidget* panel, const char* name) { return labelOf(panel, name)->text(); }
/// All of what the status bar just said, of which it may show a part.
inline QString noticeOf(const QWidget& window) { return labelOf(&window, "Notice")->toolTip(); }

/// What a screen reader says of a panel: a line per label.
inline QString textOf(const QWidget* panel) {
  QStringList lines;
  for (const auto* label : panel->findChildren<QLabel*>())
    if (label->isVisibleTo(panel))
      lines << (label->accessibleName().isEmpty() ? label->text() : label->accessibleName());
  return lines.join(QLatin1Char('\n'));
}

/// A window on a folder of pictures with a model of three blocks: input 32x64, patch 8, four classes.
class Window : public ::testing::Test {
 protected:
  void SetUp() override {
    QDir(folder_.path()).mkpath(QStringLiteral("street"));
    for (int i = 0; i < kPictures; ++i) cv::imwrite(path("street/%1.png", i), picture(i, {320, 160}));
    make();
  }
  void TearDown() override { window_.reset(); }

  static cv::Mat picture(int seed, cv::Size size) {
    cv::Mat small(7, 9, CV_8UC3), image;
    cv::RNG(static_cast<std::uint64_t>(seed) + 1).fill(small, cv::RNG::UNIFORM, 0, 256);
    cv::resize(small, image, size, 0, 0, cv::INTER_CUBIC);
    return image;
  }

  virtual WindowOptions options() const {
    WindowOptions options;
    options.model = QStringLiteral(MPM_TEST_DATA_DIR "/segmenter_mask_ts17.onnx");
    options.inference.read.convert.reduce = mpmBefore({1, 2});
    options.database = folder_.filePath(QStringLiteral("m.db"));
    options.pictures = folder_.filePath(QStringLiteral("pictures"));
    options.settings = folder_.filePath(QStringLiteral("settings.ini"));
    options.inference.threads = 1;
    return options;
  }
  void make() { make(options()); }
  void make(const WindowOptions& options) {
    window_.reset();
    window_ = std::make_unique<MainWindow>(options);
    window_->resize(1280, 800);
    trigger("layout");
    window_->show();
  }
  std::string path(const char* pattern, int i) const {
    return folder_.filePath(QString::fromLatin1(pattern).arg(i, 2, 10, QLatin1Char('0'))).toStdString();
  }
  QString file(const char* name) const { return folder_.filePath(QString::fromLatin1(name)); }
  /// Instead of the window, samples of `source` in the database of options(), the first at `first`, `step` ms apart;
  /// `more` sets what else one holds.
  void storeSamples(const std::string& source, UnixMs first, UnixMs step, int count,
                    const std::function<void(monitor::Sample&)>& more = {}) {
    window_.reset();  // a database has one writer
    store(file("m.db"), source, first, step, count, more);
  }
  /// The same in another database, with an alarm at `first`.
  static void store(const QString& database, const std::string& source, UnixMs first, UnixMs step, int count,
                    const std::function<void(monitor::Sample&)>& more = {}, const char* alarm = nullptr) {
    monitor::StoreWriter writer(database.toStdString());
    monitor::SessionInfo session;
    session.source = source;
    writer.beginSession(session);
    for (int i = 0; i < count; ++i) {
      monitor::Sample sample;
      sample.time = first + i * step;
      sample.token_counts = {32, 20};
      sample.whole().set("tokens", 20);
      if (more) more(sample);
      writer.append(sample);
    }
    if (alarm) writer.append({first, monitor::EventKind::kAlarm, monitor::Severity::kWarning, alarm});
    EXPECT_TRUE(writer.flush());
  }
  /// The source that was watched last, as it is remembered.
  Recent lastWatched() const {
    QSettings settings(file("settings.ini"), QSettings::IniFormat);
    return loadRecents(settings).value(0);
  }

  static bool wait(const std::function<bool()>& done) { return QTest::qWaitFor(done, kPatience); }
  const LiveFramePtr& frame() const { return part<ImageView>(*window_)->frame(); }
  bool runs() {
    return wait([&] { return frame() && frame()->hasGrid(); });
  }
  bool openAndWait() {
    watching().open(file("street"));
    return runs();
  }
  /// The same, and then a picture that stands still: the last one once more, behind any that is in work.
  bool openAndPause() {
    if (!openAndWait()) return false;
    trigger("pause");
    window_->live().change([](monitor::Session&) {});
    return wait([&] { return frame()->result.repeated; });
  }
  /// What is stored was looked at twice more, which the window does every other second.
  bool looks() const {
    const QSignalSpy sources(part<History>(*window_), &History::sourcesChanged);
    return wait([&] { return sources.count() >= 2; });
  }
  // Looks whether the pictures of a new folder have a time; those here have none.
  void lookForTimes() {
    EXPECT_TRUE(wait([&] { return !window_->findChild<TimesDialog*>(); }));
  }
  Watching& watching() const { return *part<Watching>(*window_); }
  QAction* action(const char* id) const { return part<ActionRegistry>(*window_)->action(QString::fromLatin1(id)); }
  void trigger(const char* id) const { action(id)->trigger(); }
  void check(const char* id, bool on) const { action(id)->setChecked(on); }
  /// Percent of the desktop's, in steps of 10.
  void setFont(int percent) {
    for (; font_ < percent; font_ += 10) trigger("larger");
    for (; font_ > percent; font_ -= 10) trigger("smaller");
  }
  QList<QDockWidget*> docks() const { return window_->findChildren<QDockWidget*>(); }
  QDockWidget* dock(const char* id) const { return window_->findChild<QDockWidget*>(QString::fromLatin1(id)); }
  template <typename Dialog>
  Dialog* dialogOf(const char* action) const {
    trigger(action);
    return window_->findChild<Dialog*>();
  }
  /// An event in the list of which `piece` is a part.
  bool reported(monitor::EventKind kind, const char* piece) const {
    for (int row = 0; row < part<EventsModel>(*window_)->rowCount(); ++row) {
      const monitor::Event& event = part<EventsModel>(*window_)->eventAt(row);
      if (event.kind == kind && event.message.find(piece) != std::string::npos) return true;
    }
    return false;
  }
  QSlider* opacitySlider() const { return window_->findChild<QToolBar*>()->findChild<QSlider*>(); }
  QImage shot(QWidget* widget) const { return widget->grab().toImage(); }
  QByteArray content(const QString& name) const {
    QFile text(name);
    return text.open(QIODevice::ReadOnly) ? text.readAll() : QByteArray();
  }

  QTemporaryDir folder_;
  std::unique_ptr<MainWindow> window_;
  int font_ = 100;
};

}  // namespace mpm::gui
