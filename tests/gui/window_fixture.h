// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSignalSpy>
#include <QTest>
#include <opencv2/imgcodecs.hpp>

#include "gui/main_window.h"
#include "gui/views/camera_fields_dialog.h"
#include "gui/views/image_view.h"
#include "gui/views/status_line.h"
#include "gui/views/times_dialog.h"
#include "monitor/samples.h"
#include "support/pictures.h"
#include "support/temporary_folder.h"
#include "text.h"
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

/// These end the test where there is none.
[[noreturn]] inline void missing(const QString& what) { throw std::runtime_error(("no " + what).toStdString()); }

/// The button that says `text`.
inline QAbstractButton* buttonOf(const QWidget* parent, const QString& text) {
  for (auto* button : parent->findChildren<QAbstractButton*>())
    if (button->text() == text) return button;
  missing("button '" + text + "'");
}

template <typename Child>
Child* childOf(const QObject* parent, const QString& name = {}) {
  if (auto* child = parent->findChild<Child*>(name)) return child;
  missing(Child::staticMetaObject.className());
}

/// The field that screen readers call so.
template <typename Field>
Field* fieldOf(const QObject* parent, const char* name) {
  for (auto* field : parent->findChildren<Field*>())
    if (field->accessibleName() == name) return field;
  missing(name);
}

/// The label of this name, as setValue() knows it.
inline const QLabel* labelOf(const QWidget* panel, const char* name) {
  for (const auto* label : panel->findChildren<QLabel*>())
    if (label->property("value_name") == name) return label;
  missing(name);
}
inline QString valueOf(const QWidget* panel, const char* name) { return labelOf(panel, name)->text(); }

/// What a screen reader says of a panel: a line per label.
inline QString textOf(const QWidget* panel) {
  QStringList lines;
  for (const auto* label : panel->findChildren<QLabel*>()) {
    if (label->isVisibleTo(panel))
      lines << (label->accessibleName().isEmpty() ? label->text() : label->accessibleName());
  }
  return lines.join(QLatin1Char('\n'));
}

/// What a label said: a text may be replaced before a test reads it.
class Said : public QObject {
 public:
  bool eventFilter(QObject* label, QEvent* event) override {
    if (event->type() == QEvent::ToolTipChange) all << static_cast<QWidget*>(label)->toolTip();
    return false;
  }
  QStringList all{};
};

/// Of a source of a database.
inline std::vector<monitor::Sample> allSamples(const QString& database, std::int64_t source = 1) {
  return monitor::test::allSamples(monitor::StoreReader(database.toStdString()), source);
}

/// A window on a folder of pictures with a model of three blocks: input 32x64, patch 8, four classes.
class Window : public ::testing::Test {
 protected:
  void SetUp() override {
    copyStreet();
    make();
  }
  void TearDown() override { window_.reset(); }

  /// Opens a database or a watch file of another program. From now on part() and all that asks it look at the window in
  /// which it is.
  void openOther(const QString& path) {
    window_->opener().open(path);
    lookAtOther();
  }
  void lookAtOther() {
    for (QWidget* widget : QApplication::topLevelWidgets())
      if (auto* other = qobject_cast<HistoryWindow*>(widget)) looked_ = other;
    if (!looked_) missing("window of another database");
    part<HistoryBrowser>()->setPace(100);
  }
  /// They look at the window that watches again.
  void lookAtMain() { looked_ = nullptr; }
  QMainWindow* looked() const { return looked_ ? looked_.data() : window_.get(); }

  /// Each test gets a copy of these pictures.
  static const mpm::test::TemporaryFolder& street() {
    static const mpm::test::TemporaryFolder folder;
    for (int i = static_cast<int>(mpm::test::filesIn(folder.path()).size()); i < kPictures; ++i)
      cv::imwrite(folder / (std::to_string(100 + i).substr(1) + ".png"), mpm::test::smoothPicture(160, 320, i + 1));
    return folder;
  }
  void copyStreet() const { fs::copy(street().path(), folder_.filePath("street").toStdString()); }
  virtual WindowOptions options() const {
    WindowOptions options;
    options.model = MPM_TEST_DATA_DIR "/segmenter_mask_ts17.onnx";
    options.inference.reduce = mpmBefore({1, 2});
    options.database = folder_.filePath("m.db");
    options.pictures = folder_.filePath("pictures");
    options.settings = folder_.filePath("settings.ini");
    options.inference.threads = 1;
    return options;
  }
  void make() { make(options()); }
  void make(const WindowOptions& options) {
    window_.reset();
    window_ = std::make_unique<MainWindow>(options);
    part<HistoryBrowser>()->setPace(100);
    const_cast<QLabel*>(labelOf(window_.get(), "Notice"))->installEventFilter(&notices_);
    window_->resize(1280, 800);
    trigger("layout");
    window_->show();
  }
  std::string path(const char* pattern, int i) const {
    return folder_.filePath(QString(pattern).arg(i, 2, 10, QLatin1Char('0'))).toStdString();
  }
  QString file(const char* name) const { return folder_.filePath(name); }
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
  /// The part of looked() that has this type.
  template <typename Part>
  Part* part() const {
    return looked()->template findChild<Part*>();
  }
  template <typename Panel>
  QString textIn() const {
    return textOf(part<Panel>());
  }
  QString status(const char* name) const { return valueOf(part<StatusLine>(), name); }
  /// All of what the status bar just said, of which it may show a part.
  QString notice() const { return labelOf(window_.get(), "Notice")->toolTip(); }
  /// `piece` comes to be a part of what it says, or was since the last call.
  bool noticed(const QString& piece) {
    const bool found = wait([&] { return !notices_.all.filter(piece).isEmpty(); });
    notices_.all.clear();
    return found;
  }
  QString log() const { return part<QPlainTextEdit>()->toPlainText(); }
  monitor::Session& session() const { return window_->live().session(); }
  /// `piece` comes to be a part of the log, or of what a panel says.
  testing::AssertionResult logged(const char* piece) const {
    return comes(piece, [&] { return log(); });
  }
  static testing::AssertionResult says(const QWidget* panel, const QString& piece) {
    return comes(piece, [&] { return textOf(panel); });
  }
  static testing::AssertionResult comes(const QString& piece, const std::function<QString()>& text) {
    if (wait([&] { return text().contains(piece); })) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no '" << piece << "' in\n" << text();
  }
  const LiveFramePtr& frame() const { return part<ImageView>()->frame(); }
  bool runs() {
    return wait([&] { return frame() && frame()->hasGrid(); });
  }
  bool openAndWait() {
    camera().open(file("street"));
    return runs();
  }
  /// The same, and then a picture that stands still: the last one once more, behind any that is in work.
  bool openAndPause() {
    if (!openAndWait()) return false;
    trigger("pause");
    window_->live().change([](monitor::Session&) {});
    return wait([&] { return frame()->result.repeated; });
  }
  /// A first sample is stored, and was seen.
  bool stores() const {
    return wait([&] { return part<HistorySources>()->id().has_value(); });
  }
  /// What is stored was looked at twice more.
  bool looks() const {
    const QSignalSpy sources(part<History>(), &History::sourcesChanged);
    return wait([&] { return sources.count() >= 2; });
  }
  CameraControl& camera() const { return *part<CameraControl>(); }
  NetControl& net() const { return *part<NetControl>(); }
  OnShow& onShow() const { return *part<OnShow>(); }
  QAction* action(const char* id) const { return part<ActionRegistry>()->action(id); }
  void trigger(const char* id) const { action(id)->trigger(); }
  void check(const char* id, bool on) const { action(id)->setChecked(on); }
  /// Percent of the desktop's, in steps of 10.
  void setFont(int percent) {
    for (; font_ < percent; font_ += 10) trigger("larger");
    for (; font_ > percent; font_ -= 10) trigger("smaller");
  }
  QList<QDockWidget*> docks() const { return window_->findChildren<QDockWidget*>(); }
  QDockWidget* dock(const char* id) const { return looked()->findChild<QDockWidget*>(id); }
  template <typename Dialog>
  Dialog* dialogOf(const char* action) const {
    trigger(action);
    return dialogThatComes<Dialog>();
  }
  /// What it begins with may be read on another thread.
  template <typename Dialog>
  Dialog* dialogThatComes() const {
    wait([&] { return window_->findChild<Dialog*>() != nullptr; });
    return childOf<Dialog>(window_.get());
  }
  /// An event in the list of which `piece` is a part.
  bool reported(monitor::EventKind kind, const char* piece) const {
    for (int row = 0; row < part<EventsModel>()->rowCount(); ++row) {
      const monitor::Event& event = part<EventsModel>()->eventAt(row);
      if (event.kind == kind && event.message.find(piece) != std::string::npos) return true;
    }
    return false;
  }
  /// Chooses the source whose samples the chart draws.
  void pickSource(const QString& name) const {
    auto* const sources = fieldOf<QComboBox>(part<ChartPanel>(), "Source whose samples are drawn");
    sources->setCurrentIndex(sources->findData(name, Qt::ToolTipRole));
    emit sources->activated(sources->currentIndex());
  }
  QSlider* opacitySlider() const { return window_->findChild<QToolBar*>()->findChild<QSlider*>(); }
  QImage shot(QWidget* widget) const { return widget->grab().toImage(); }

  QTemporaryDir folder_;
  Said notices_;
  std::unique_ptr<MainWindow> window_;
  QPointer<QMainWindow> looked_;
  int font_ = 100;
};

/// For a test that makes the window itself: with other options, or once something is stored.
class OwnWindow : public Window {
 protected:
  void SetUp() override { copyStreet(); }
};

}  // namespace mpm::gui
