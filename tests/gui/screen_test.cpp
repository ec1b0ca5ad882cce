// SPDX-License-Identifier: Apache-2.0
// The window for real: an X server with no monitor (Xvfb), its mouse and its keys (xdotool).
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "gui/views/export_dialog.h"
#include "gui/views/image_view.h"
#include "gui/views/inspector_panel.h"
#include "gui/views/look.h"
#include "gui/views/merge_view.h"
#include "gui/views/reduction_panel.h"
#include "gui/views/welcome_page.h"
#include "support/demo.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

class OnScreen : public Window {
 protected:
  void SetUp() override {
    if (QGuiApplication::platformName() != "xcb") GTEST_SKIP() << "Xvfb, xdotool or Qt's xcb plugin is missing";
    Window::SetUp();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(window_.get()));
    hand({"windowfocus", "--sync", QString::number(window_->winId())});
  }
  WindowOptions options() const override {
    WindowOptions options = Window::options();
    options.model = MPM_SOURCE_DIR "/models/street_vit_t16.onnx";
    options.inference.reduce.reset();
    return options;
  }

  // A hand on the mouse and the keys; the program goes on meanwhile.
  static void hand(const QStringList& does) {
    QProcess process;
    process.start("xdotool", does);
    ASSERT_TRUE(wait([&] { return process.state() == QProcess::NotRunning; }));
    ASSERT_EQ(process.exitCode(), 0) << does.join(QLatin1Char(' ')) << process.readAllStandardError();
  }
  static void moveTo(const QWidget* widget, QPoint at) {
    const QPoint global = widget->mapToGlobal(at);
    hand({"mousemove", "--sync", QString::number(global.x()), QString::number(global.y())});
  }
  static void click(const QWidget* widget) { click(widget, widget->rect().center()); }
  static void click(const QWidget* widget, QPoint at) {
    moveTo(widget, at);
    hand({"click", "1"});
  }
  static void key(const char* name) { hand({"key", name}); }
  /// What the screen shows where the widget is.
  static QImage seen(const QWidget* widget) {
    const QPoint at = widget->mapToGlobal(QPoint());
    return QGuiApplication::primaryScreen()
        ->grabWindow(0, at.x(), at.y(), widget->width(), widget->height())
        .toImage()
        .convertToFormat(QImage::Format_RGB32);
  }
};

TEST_F(OnScreen, FromTheDemoToTheExportToTheEnd) {
  // The demo.
  click(buttonOf(part<WelcomePage>(), WelcomePage::tr("Try the demo")));
  ASSERT_TRUE(wait([&] { return part<WelcomePage>()->isHidden(); }));
  ASSERT_TRUE(runs());
  EXPECT_EQ(status("Connection"), "Live");
  const auto first = frame()->result.frame.id;
  ASSERT_TRUE(wait([&] { return frame()->result.frame.id > first + 2; })) << "frames come";

  // The opacity, by key and by mouse, on a picture that stands still.
  key("p");
  ASSERT_TRUE(wait([&] { return session().paused(); }));
  window_->live().change([](monitor::Session&) {});  // the last frame once more, behind any that is in work
  ASSERT_TRUE(wait([&] { return frame()->result.repeated; }));
  ImageView* view = part<ImageView>();
  const double opacity = view->paint().opacity;
  const QImage before = seen(view);
  QSet<QRgb> colors;
  for (int x = 0; x < before.width(); x += 5)
    for (int y = 0; y < before.height(); y += 5) colors.insert(before.pixel(x, y));
  EXPECT_GT(colors.size(), 50) << "a picture is on the screen";
  key("bracketleft");
  ASSERT_TRUE(wait([&] { return view->paint().opacity < opacity - 0.01; }));
  EXPECT_TRUE(wait([&] { return seen(view) != before; }));
  QSlider* slider = opacitySlider();
  QStyleOptionSlider option;
  option.initFrom(slider);
  option.minimum = slider->minimum();
  option.maximum = slider->maximum();
  option.sliderPosition = slider->value();
  const QPoint knob =
      slider->style()->subControlRect(QStyle::CC_Slider, &option, QStyle::SC_SliderHandle, slider).center();
  moveTo(slider, knob);
  hand({"mousedown", "1"});
  moveTo(slider, QPoint(slider->width() - 2, knob.y()));
  hand({"mouseup", "1"});
  EXPECT_TRUE(wait([&] { return view->paint().opacity > 0.95; })) << view->paint().opacity;
  key("p");

  // Another schedule.
  const int steps = frame()->lookup.steps();
  QCheckBox* box = part<ReductionPanel>()->editor()->box(8);
  ASSERT_FALSE(box->isChecked());
  click(box, QPoint(8, box->height() / 2));
  ASSERT_TRUE(wait([&] { return frame()->lookup.steps() == steps + 1; })) << "one more insertion";
  EXPECT_EQ(frame()->result.model->schedule().back(), 8);

  // A cluster under the mouse.
  MergeView* map = part<MergeView>();
  const MergeLookup& lookup = frame()->lookup;
  const int token = lookup.grid().height / 2 * lookup.grid().width + lookup.grid().width / 2;
  moveTo(map, map->viewport().tokenRect(token, lookup.grid()).center().toPoint());
  ASSERT_TRUE(wait([&] { return part<PatchSelection>()->token() == token; }));
  EXPECT_TRUE(says(part<InspectorPanel>(), "Cluster: "));

  // What was stored, as a file.
  // An export is of the latest series: that of the schedule above.
  ASSERT_TRUE(wait([&] {
    const auto source = part<HistorySources>()->current();
    if (!source) return false;
    const monitor::StoreReader reader(part<History>()->database().toStdString());
    const auto series = reader.series(source->id);
    const TimeAxis& shown = part<TimeChart>()->axis();
    return series.size() == 2 && reader.count(source->id, static_cast<UnixMs>(1000 * shown.from),
                                              static_cast<UnixMs>(1000 * shown.to), series.back().id) > 0;
  }));
  key("ctrl+e");
  ExportDialog* question = nullptr;
  ASSERT_TRUE(wait([&] { return (question = window_->findChild<ExportDialog*>()) && question->isVisible(); }));
  click(question->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok));
  QFileDialog* where = nullptr;
  ASSERT_TRUE(wait([&] { return (where = window_->findChild<QFileDialog*>()) && where->isVisible(); }));
  auto* const name = where->findChild<QLineEdit*>();
  ASSERT_TRUE(name);
  name->setCompleter(nullptr);  // on a busy machine its list is open when Return comes, and takes it
  ASSERT_TRUE(QTest::qWaitForWindowExposed(where));
  hand({"windowfocus", "--sync", QString::number(where->winId())});
  ASSERT_TRUE(wait([&] { return name->hasFocus(); }));
  key("ctrl+a");
  hand({"type", "--delay", "5", file("samples.csv")});
  ASSERT_TRUE(wait([&] { return name->text() == file("samples.csv"); })) << name->text();
  key("Return");
  ASSERT_TRUE(wait([&] { return QFile::exists(file("samples.csv")); }));
  EXPECT_THAT(content(file("samples.csv")), Has("tokens"));

  hand({"windowfocus", "--sync", QString::number(window_->winId())});
  key("ctrl+q");
  EXPECT_TRUE(wait([&] { return !window_->isVisible(); }));
  EXPECT_EQ(session().status().inference.failed, 0);
}

TEST_F(OnScreen, TheProgramEndsWithItsWindow) {
  MPM_NEEDS_DEMO();
  window_.reset();
  QProcess program;
  program.setProcessChannelMode(QProcess::MergedChannels);
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert("QT_QPA_PLATFORM", "xcb");
  program.setProcessEnvironment(environment);
  program.start(MPM_MONITOR_APP, {"--settings", file("s.ini"), "--db", file("p.db"), "--pictures", file("p"), "--model",
                                  MPM_SOURCE_DIR "/models/street_vit_t16.onnx", "demo:"});
  QString id;
  ASSERT_TRUE(wait([&] {
    QProcess search;
    search.start("xdotool", {"search", "--onlyvisible", "--name", "MPM Monitor"});
    search.waitForFinished();
    id = QString::fromLatin1(search.readAllStandardOutput()).section(QLatin1Char('\n'), 0, 0);
    return !id.isEmpty();
  })) << program.readAll();
  hand({"windowfocus", "--sync", id});
  const std::string database = file("p.db").toStdString();
  ASSERT_TRUE(wait([&] { return monitor::test::samplesStored(database) > 0; })) << "it watches";
  key("ctrl+q");
  ASSERT_TRUE(wait([&] { return program.state() == QProcess::NotRunning; }));
  EXPECT_EQ(program.exitStatus(), QProcess::NormalExit);
  EXPECT_EQ(program.exitCode(), 0) << program.readAll();
  EXPECT_TRUE(monitor::StoreReader(database).sessions(1).back().ended) << "and ends what it began";
}

// An X server of our own, or -1 where there is none; `display` becomes ":N".
pid_t startScreen(QByteArray& display) {
  for (const char* tool : {"Xvfb", "xdotool"})
    if (QStandardPaths::findExecutable(tool).isEmpty()) return -1;
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t server = ::fork();
  if (server == 0) {
    ::close(ends[0]);
    const int nothing = ::open("/dev/null", O_WRONLY);
    ::dup2(nothing, STDERR_FILENO);
    const std::string number = std::to_string(ends[1]);
    ::execlp("Xvfb", "Xvfb", "-displayfd", number.c_str(), "-screen", "0", "1280x800x24", "-nolisten", "tcp",
             static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  char digit = 0;
  while (::read(ends[0], &digit, 1) == 1 && digit != '\n') display += digit;
  ::close(ends[0]);
  if (server > 0 && display.isEmpty()) {
    ::waitpid(server, nullptr, 0);
    return -1;
  }
  display.prepend(':');
  return server;
}

}  // namespace
}  // namespace mpm::gui

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  QByteArray display;
  const pid_t screen = GTEST_FLAG_GET(list_tests) ? -1 : mpm::gui::startScreen(display);
  if (screen > 0) qputenv("DISPLAY", display);
  qputenv("QT_QPA_PLATFORM", screen > 0 ? "xcb;offscreen" : "offscreen");
  int failed = 0;
  {
    QApplication app(argc, argv);
    QApplication::setQuitOnLastWindowClosed(false);
    QApplication::setOrganizationName("mpm-test");
    QLocale::setDefault(QLocale::c());
    mpm::gui::applyLook(mpm::gui::lightTheme(), 100);
    failed = RUN_ALL_TESTS();
  }
  if (screen > 0) {
    ::kill(screen, SIGTERM);
    ::waitpid(screen, nullptr, 0);
  }
  return failed;
}
