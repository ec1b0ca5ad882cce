// SPDX-License-Identifier: Apache-2.0
// What goes wrong while the window runs: sources, models, disks, clocks, power.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "gui/views/day_night_panel.h"
#include "gui/views/file_dialogs.h"
#include "gui/views/image_view.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/reduction_panel.h"
#include "gui/views/source_panel.h"
#include "gui/views/speed_panel.h"
#include "gui/views/status_line.h"
#include "gui/views/welcome_page.h"
#include "monitor/fake_source.h"
#include "support/demo.h"
#include "wall_clock.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

using monitor::EventKind;

// A camera whose behaviour the test decides while it runs. Sources share it and may outlive the test's window.
struct Camera {
  std::atomic<bool> hangs = false, unplugged = false;
  std::atomic<int> scale = 1;
  std::mutex mutex;
  std::condition_variable freed;

  void set(std::atomic<bool>& what, bool on) {
    {
      const std::lock_guard lock(mutex);
      what = on;
    }
    freed.notify_all();
  }
  vision::Frame frame(int call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    {
      std::unique_lock lock(mutex);
      freed.wait(lock, [&] { return !hangs; });  // whatever anyone says, as a driver does
    }
    if (unplugged) throw Error("unplugged rtsp://anna:geheim@camera/1");
    return vision::Frame{mpm::test::noisePicture(160 * scale, 320 * scale, call + 1), "frame", "camera", call + 1};
  }
};

class Faults : public Window {
 protected:
  void TearDown() override {
    camera_->set(camera_->hangs, false);
    Window::TearDown();
  }
  WindowOptions options() const override {
    WindowOptions options = Window::options();
    options.factory = [camera = camera_](const vision::SourceSpec& source) -> monitor::SourceFactory {
      if (source.kind != vision::SourceKind::kUrl) return {};
      return [camera](const vision::SourceOptions&) {
        if (camera->unplugged) throw Error("nothing at rtsp://anna:geheim@camera/1");
        return std::make_unique<monitor::test::FakeSource>([camera](int call) { return camera->frame(call); });
      };
    };
    return options;
  }
  bool openCamera() {
    camera().open("rtsp://anna:geheim@camera/1");
    return runs();
  }
  std::shared_ptr<Camera> camera_ = std::make_shared<Camera>();
};

TEST_F(Faults, ASourceThatHangsGreysTheFrameAndHoldsNothingUp) {
  ASSERT_TRUE(openCamera());
  EXPECT_FALSE(part<ImageView>()->paint().faded);
  EXPECT_TRUE(status("Age of the frame").isEmpty());
  camera_->set(camera_->hangs, true);
  ASSERT_TRUE(wait([&] { return part<ImageView>()->paint().faded; }));
  EXPECT_EQ(status("Connection"), "Stalled");
  EXPECT_THAT(status("Age of the frame"), Begins("frame of "));
  EXPECT_THAT(part<ImageView>()->banner(), Has("Stalled: the last frame is "));
  const QImage grey = shot(part<ImageView>());
  const QPoint middle = part<ImageView>()->viewport().pictureRect().center().toPoint();
  const QColor pixel = grey.pixelColor(middle);
  EXPECT_EQ(pixel.red(), pixel.green());
  EXPECT_EQ(pixel.green(), pixel.blue());
  EXPECT_TRUE(wait([&] { return reported(EventKind::kSource, "Stalled"); }));

  camera_->set(camera_->hangs, false);
  ASSERT_TRUE(wait([&] { return !part<ImageView>()->paint().faded; }));
  EXPECT_TRUE(status("Age of the frame").isEmpty());
  EXPECT_TRUE(part<ImageView>()->banner().isEmpty());
  EXPECT_TRUE(wait([&] { return status("Connection") == "Live"; }));

  camera_->set(camera_->hangs, true);
  camera().close();  // returns, or the test times out: the read comes back only when the test lets it
  EXPECT_TRUE(!part<WelcomePage>()->isHidden());
  ASSERT_TRUE(camera_->hangs);
  window_->close();
  window_.reset();
  EXPECT_TRUE(camera_->hangs);
}

TEST_F(Faults, NoPasswordIsShownAnywhere) {
  ASSERT_TRUE(openCamera());
  monitor::CameraConfig config;
  config.alarm = {"tokens>1"};
  config.alarm_minutes = 0;
  part<CameraConfigs>()->change("rtsp://anna:geheim@camera/1", config);
  EXPECT_TRUE(wait([&] { return reported(EventKind::kAlarm, "tokens"); })) << "a name without it finds its source";
  camera_->set(camera_->unplugged, true);
  ASSERT_TRUE(wait([&] { return reported(EventKind::kSource, "unplugged"); }));
  ASSERT_TRUE(logged("unplugged"));
  QStringList texts = {log(), window_->windowTitle(), QString::fromStdString(monitor::watchText({camera().config()})),
                       notice(), part<ImageView>()->banner()};
  for (const QLabel* label : window_->findChildren<QLabel*>()) texts << label->text() << label->toolTip();
  for (const QAbstractButton* button : window_->findChildren<QAbstractButton*>())
    texts << button->text() << button->toolTip();
  for (int row = 0; row < part<EventsModel>()->rowCount(); ++row)
    texts << QString::fromStdString(part<EventsModel>()->eventAt(row).message);
  window_->close();
  window_.reset();
  texts << QString::fromUtf8(content(file("settings.ini"))) << QString::fromUtf8(content(file("m.db")));
  for (const QString& text : texts) EXPECT_THAT(text, Not(Has("geheim")));
}

// What the command line said about the model holds for those that are opened later, and is said again where the job
// goes on without a window.
TEST_F(OwnWindow, HowModelsRunIsSaidOnce) {
  WindowOptions chosen = options();
  chosen.inference.input_size = Size2{64, 64};
  chosen.choose_reuse = true;
  make(chosen);
  ASSERT_TRUE(openAndWait());
  EXPECT_EQ(frame()->result.model->input, (Size2{64, 64}));
  const QString other = MPM_TEST_DATA_DIR "/segmenter_linear_ts12.onnx";
  window_->opener().open(other);
  ASSERT_TRUE(wait([&] { return frame()->result.model_path == other.toStdString(); })) << log();
  EXPECT_EQ(frame()->result.model->input, (Size2{64, 64}));
  const monitor::CameraConfig watch = camera().config();
  EXPECT_EQ(std::tuple(watch.reduce, watch.input_size, watch.threads, watch.reuse),
            std::tuple("mpm:blocks=2", "64x64", 1, ""));
}

TEST_F(Faults, ABrokenModelIsNeverTheOneThatIsNamed) {
  ASSERT_TRUE(openAndWait());
  std::ofstream(file("broken.onnx").toStdString()) << "garbage";
  window_->opener().open(file("broken.onnx"));
  ASSERT_TRUE(wait([&] { return reported(EventKind::kModel, "broken.onnx"); }));
  EXPECT_EQ(camera().config().model, QFileInfo(options().model).absoluteFilePath().toStdString());
  ASSERT_TRUE(openAndWait());
  for (const QLabel* label : window_->findChildren<QLabel*>())
    EXPECT_FALSE(label->toolTip().contains("broken.onnx") && label->toolTip() != notice());
  EXPECT_THAT(lastWatched().model, Ends("segmenter_mask_ts17.onnx"));
}

TEST_F(Faults, AnotherModelIsNamedOnceItRuns) {
  ASSERT_TRUE(openAndWait());
  const QString other = MPM_TEST_DATA_DIR "/segmenter_linear_ts12.onnx";
  emit part<WelcomePage>()->recentRequested({file("street"), other, "mpm:blocks=1", {}});
  ASSERT_TRUE(wait([&] { return frame() && frame()->result.model_path == other.toStdString(); })) << log();
  EXPECT_EQ(frame()->result.model->schedule(), Schedule{1});
  EXPECT_FALSE(reported(EventKind::kModel, "cannot load")) << "the schedule comes with the model";
  EXPECT_EQ(camera().config().model, QFileInfo(other).absoluteFilePath().toStdString());
  EXPECT_TRUE(wait([&] { return lastWatched().model == other; }));
}

TEST_F(Faults, AWallClockThatIsSetBackStopsNothing) {
  ASSERT_TRUE(openCamera() && stores());
  const WallClock back(-7200);
  QSignalSpy charts(part<History>(), &History::chartReady);
  EXPECT_TRUE(wait([&] { return charts.count() >= 2; }));
}

TEST_F(Faults, TheChartOfADemoEndsAtItsOwnPresent) {
  MPM_NEEDS_DEMO();
  camera().open("demo:street?seed=3&size=64x64&start=2020-06-20T12:00");
  ASSERT_TRUE(runs());
  EXPECT_TRUE(wait([&] { return part<ChartPanel>()->chart()->axis().to < 1'600'000'000; }));
}

TEST_F(Faults, TheChartOfACameraThatHangsEndsNow) {
  ASSERT_TRUE(openCamera() && stores());
  camera_->set(camera_->hangs, true);
  const WallClock later(3 * 3600);
  ASSERT_TRUE(looks()) << "the time of the last frame is reported with each look";
  EXPECT_TRUE(wait([&] {
    const double now = static_cast<double>(unixNow()) / 1000;
    return std::abs(part<TimeChart>()->axis().to - now) < 1800;
  })) << "the outage is a gap in it";
}

TEST_F(Faults, StatisticsGoOnWhileTheChartIsNotSeen) {
  dock("chart")->hide();
  dock("day_night")->raise();
  ASSERT_FALSE(part<ChartPanel>()->isVisible());
  ASSERT_TRUE(openAndWait());
  EXPECT_TRUE(wait([&] {
    const QString text = textIn<DayNightPanel>();
    return !text.contains("Samples, Day: 0") || !text.contains("Samples, Night: 0");
  })) << textIn<DayNightPanel>();
  QSignalSpy charts(part<History>(), &History::chartReady);
  const double end = part<TimeChart>()->axis().to;
  ASSERT_TRUE(looks());
  EXPECT_LE(charts.count(), 1) << "nobody sees it: but for the question that came with the source";
  EXPECT_GT(part<TimeChart>()->axis().to, end) << "the stretch that is judged moves on";
  charts.clear();
  dock("chart")->show();
  dock("chart")->raise();
  EXPECT_TRUE(wait([&] { return charts.count() >= 2; })) << "and the chart when it is seen again";
}

TEST_F(Faults, WhatWasChosenOutlivesAPowerCut) {
  ASSERT_TRUE(openAndWait());
  auto* night = dialogOf<CameraFieldsDialog>("night");
  monitor::CameraConfig wanted = night->config();
  wanted.night = "sun";
  wanted.lat = 48.25;
  wanted.lon = -4.5;
  wanted.night_elevation = -8;
  wanted.alarm = {"no-frame>45", "tokens<20"};
  wanted.alarm_minutes = 3;
  wanted.snapshot_every = 5;
  wanted.min_free = 250;
  emit night->chosen(wanted);
  const QString path = part<CameraConfigs>()->file(file("street"));
  ASSERT_TRUE(wait([&] { return content(path).contains("no-frame>45"); })) << "written without a close";
  ASSERT_TRUE(wait([&] { return content(file("settings.ini")).contains("street"); }));
  // The power goes: another window finds the settings as they are on the disk.
  QFile::copy(file("settings.ini"), file("after.ini"));
  WindowOptions again = options();
  again.settings = file("after.ini");
  again.database = file("after.db");
  make(again);
  EXPECT_EQ(part<CameraConfigs>()->config(file("street")), wanted);
  window_->opener().resumeLast();
  ASSERT_TRUE(runs());
  EXPECT_EQ(session().source(), file("street").toStdString());
  ASSERT_TRUE(stores());
  window_.reset();
  const monitor::StoreReader reader(file("after.db").toStdString());
  EXPECT_EQ(reader.sessions(1).back().latitude, 48.25) << "and they are what is watched by";
}

// As after the second start of a kiosk: there is no title that needs room above the window.
TEST_F(Faults, AWindowThatIsOpenedAgainIsOnTheScreen) {
  const QRect screen = window_->screen()->availableGeometry();
  window_->setGeometry(screen);
  window_->close();
  window_ = std::make_unique<MainWindow>(options());
  window_->show();
  EXPECT_LE(window_->geometry().top(), screen.top() + 4) << "a frame, but no title";
}

TEST_F(OwnWindow, OldSamplesAreForgottenWhenAsked) {
  const UnixMs old = unixNow() - 400 * kDayMs;
  storeSamples(file("street").toStdString(), old, 1, 1);
  storeSamples(file("street").toStdString(), unixNow() - 1000, 1, 601);  // enough of now that the clock is believed
  make();
  const auto left = [&] {
    return std::ranges::count_if(allSamples(file("m.db")), [&](const auto& one) { return one.time < old + kDayMs; });
  };
  EXPECT_EQ(left(), 1) << "by default nothing is forgotten";
  ASSERT_TRUE(openAndWait());
  auto* keep = dialogOf<CameraFieldsDialog>("keep");
  monitor::CameraConfig year = keep->config();
  year.keep = 365;
  emit keep->chosen(year);
  EXPECT_TRUE(wait([&] { return left() == 0; }));
}

// SQLite's lock for as long as a database is open: the byte 128 of DB-shm. Asked by a child, as another program would.
bool holdsItsLock(const QString& database) {
  const std::string path = (database + "-shm").toStdString();
  const pid_t child = fork();
  if (child == 0) {
    struct flock lock {
      F_WRLCK, SEEK_SET, 128, 1, 0
    };
    const int file = ::open(path.c_str(), O_RDWR);
    _exit(file >= 0 && fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

TEST_F(Faults, FileDialogsLeaveTheLocksOfTheDatabase) {
  ASSERT_TRUE(openAndWait() && stores());
  ASSERT_TRUE(holdsItsLock(file("m.db")));
  const QString before = QDir::currentPath();
  QDir::setCurrent(folder_.path());
  for (const char* id : {"database", "model"}) {
    auto* dialog = dialogOf<QFileDialog>(id);
    QDir::setCurrent(before);
    dialog->setNameFilter("*");
    dialog->setDirectory(folder_.path());
    const auto* files = childOf<QFileSystemModel>(dialog);
    EXPECT_TRUE(wait([&] { return !files->type(files->index(file("m.db"))).isEmpty(); }));
    delete dialog;
    EXPECT_TRUE(holdsItsLock(file("m.db"))) << id;
  }
  const std::unique_ptr<QFileDialog> pictures(pictureDialog(window_.get(), {}, folder_.path()));
  emit pictures->currentChanged(file("m.db"));
  EXPECT_TRUE(holdsItsLock(file("m.db"))) << "after its preview";
}

TEST_F(Faults, AStoreThatStoppedOffersANewFile) {
  ASSERT_TRUE(openCamera() && stores());
  QFile::remove(file("m.db"));
  ASSERT_TRUE(wait([&] { return reported(EventKind::kStorage, "nothing is stored any more"); }));
  EXPECT_TRUE(wait([&] { return labelOf(window_.get(), "Storage")->toolTip().contains("m.db' was deleted"); }));
  buttonOf(window_.get(), StatusLine::tr("Store in a new file…"))->click();
  auto* const where = childOf<QFileDialog>(window_.get());
  where->selectFile(file("new.db"));
  QMetaObject::invokeMethod(where, "accept");
  EXPECT_TRUE(wait([&] { return labelOf(window_.get(), "Storage")->toolTip().isEmpty(); }));
  EXPECT_TRUE(stores()) << "of the new file";
  EXPECT_FALSE(monitor::StoreReader(file("new.db").toStdString()).sources().empty());
}

TEST_F(Faults, AnEmptySourceSaysSoAndHasNoNumbersOfTheLastOne) {
  ASSERT_TRUE(openAndWait() && stores());
  const auto* pane = window_->findChild<PicturesPane*>();
  EXPECT_FALSE(valueOf(pane, "Frame on show").isEmpty());
  EXPECT_TRUE(wait([&] { return valueOf(pane, "Insertion on show").startsWith("Block 2: "); }));
  camera().open(file("none.mp4"));
  EXPECT_TRUE(wait([&] { return session().status().source.state == monitor::CaptureState::kEnded; }));
  camera().tick();
  EXPECT_THAT(part<ImageView>()->banner(), Has("none.mp4"));
  EXPECT_EQ(valueOf(pane, "Frame on show"), QString());
  EXPECT_EQ(valueOf(pane, "Insertion on show"), QString());
  EXPECT_EQ(status("Tokens"), QString());
  const LegendModel& legend = *part<LegendModel>();
  for (int c = 0; c < legend.classes(); ++c)
    EXPECT_EQ(legend.index(c, LegendModel::kArea).data(LegendModel::kSortRole).toDouble(), 0) << c;
  EXPECT_THAT(textIn<SpeedPanel>(), Has("Backbone: 0.0 ms"));
  ASSERT_TRUE(looks());
  EXPECT_FALSE(part<HistorySources>()->id().has_value()) << "the other source's";
  EXPECT_EQ(lastWatched().source, file("street")) << "what gave no frame is not remembered";
}

TEST_F(Faults, APauseIsOfItsSource) {
  QAction* const pause = action("pause");
  EXPECT_FALSE(pause->isEnabled()) << "nothing is watched";
  ASSERT_TRUE(openAndPause());
  EXPECT_THAT(textIn<SourcePanel>(), Has("Connection: Paused"));
  EXPECT_EQ(status("Connection"), "Paused");
  ASSERT_TRUE(openAndWait()) << "frames of the next one come";
  EXPECT_FALSE(pause->isChecked());
  EXPECT_THAT(textIn<SourcePanel>(), Not(Has("Connection: Paused")));
  trigger("pause");
  trigger("record");
  trigger("close");
  EXPECT_FALSE(session().paused());
  EXPECT_FALSE(pause->isEnabled());
  EXPECT_FALSE(action("record")->isChecked()) << "the next one was not asked for";
  EXPECT_FALSE(part<WelcomePage>()->isHidden());
}

TEST_F(OwnWindow, EventsAreOfTheSourceOnShowAtOnce) {
  storeSamples("garden", unixNow() - kDayMs, 1000, 3);
  make();
  ASSERT_TRUE(openAndWait() && wait([&] { return part<HistorySources>()->name() == file("street"); }));
  emit window_->live().eventHappened({unixNow(), EventKind::kAlarm, monitor::Severity::kWarning, "of here"}, false);
  pickSource("garden");
  EXPECT_FALSE(reported(EventKind::kAlarm, "of here"));
  pickSource(file("street"));
  EXPECT_TRUE(reported(EventKind::kAlarm, "of here"));
  fs::copy(street().path(), file("yard").toStdString());
  camera().open(file("yard"));
  EXPECT_FALSE(reported(EventKind::kAlarm, "of here")) << "it is of the source before";
  ASSERT_TRUE(wait([&] { return part<HistorySources>()->name() == file("yard"); }) && looks());
  EXPECT_FALSE(reported(EventKind::kAlarm, "of here"));
}

TEST_F(OwnWindow, ASnapshotWithoutAModelBlamesNoDisk) {
  WindowOptions none = options();
  none.model = file("none.onnx");
  make(none);
  window_->opener().openNamed(file("street/00.png"));
  ASSERT_TRUE(wait([&] { return frame() != nullptr; })) << "what the camera sees";
  trigger("snapshot");
  EXPECT_THAT(notice(), Begins("No model has seen this frame yet"));
}

TEST_F(OwnWindow, WhatAModelSaysDoesNotHideWhatAStoredPictureIs) {
  storeSamples("garden", unixNow() - kDayMs, 1000, 3);
  WindowOptions none = options();
  none.model = file("none.onnx");
  make(none);
  window_->opener().open(file("m.db"));
  const auto banner = [&] { return part<ImageView>()->banner(); };
  ASSERT_TRUE(comes("Last sample", banner));
  window_->opener().open(file("gone.onnx"));
  EXPECT_TRUE(wait([&] { return reported(EventKind::kModel, "gone.onnx"); }));
  EXPECT_THAT(banner(), Begins("Last sample"));
  window_->opener().open(Window::options().model);
  ASSERT_TRUE(wait([&] { return net().model() != nullptr; }));
  EXPECT_THAT(banner(), Begins("Last sample"));
}

// A disk that is too slow for a recording costs pictures, which is said; a picture that was asked for is confirmed.
TEST_F(Faults, ARecordingCountsWhatItLeavesOut) {
  ASSERT_TRUE(openCamera());
  camera_->scale = 6;  // noise of this size takes longer to write than to see
  trigger("record");
  EXPECT_TRUE(wait([&] { return part<Recording>()->text().endsWith(" left out"); }))
      << part<Recording>()->text().toStdString();
  EXPECT_TRUE(logged("leaves out frames"));
  EXPECT_EQ(log().count("leaves out frames"), 1);
  for (int i = 0; i < 2; ++i) trigger("record");
  EXPECT_TRUE(wait([&] { return log().count("leaves out frames") == 2; })) << "of another recording";
  const auto saved = [&] {
    trigger("snapshot");  // refused while the disk is behind
    return QTest::qWaitFor([&] { return notice().startsWith("Saved "); }, 500);
  };
  EXPECT_TRUE(wait(saved)) << notice();
}

TEST_F(Faults, AChangeThatNoFrameWillShowIsSaid) {
  ASSERT_TRUE(wait([&] { return part<ReductionPanel>()->editor()->blocks() == 3; }));
  camera().open(file("street"));
  trigger("pause");  // before the event loop brings a frame
  emit part<ReductionPanel>()->editor()->reductionChanged(kFullModel);
  EXPECT_THAT(notice(), Begins("It is paused"));
  camera().open(file("gone"));
  ASSERT_TRUE(wait([&] { return session().status().source.state == monitor::CaptureState::kEnded; }));
  trigger("compare");
  EXPECT_THAT(notice(), Begins("The source has ended; once it is opened again (Ctrl+R)"));
}

TEST_F(Faults, AChangeShowsOnTheFrameOnShowWhenNoOtherComes) {
  for (int i = 8; i < kPictures; ++i) QFile::remove(QString::fromStdString(path("street/%1.png", i)));
  ASSERT_TRUE(openAndPause() && stores());
  trigger("record");
  const LiveFramePtr before = frame();
  part<ReductionPanel>()->editor()->box(2)->click();
  EXPECT_THAT(notice(), Begins("On this frame: "));
  ASSERT_TRUE(wait([&] { return frame() != before; })) << log();
  EXPECT_EQ(frame()->result.frame.id, before->result.frame.id);
  EXPECT_EQ(frame()->result.model->schedule(), Schedule{1});
  EXPECT_EQ(frame()->image().data, before->image().data) << "no second picture in memory";
  trigger("compare");
  EXPECT_TRUE(wait([&] { return frame()->comparison.has_value(); }));
  EXPECT_EQ(frame()->result.frame.id, before->result.frame.id);
  EXPECT_THAT(part<Recording>()->text(), Begins("● REC 0 "));
  trigger("record");
  trigger("compare");

  trigger("pause");
  ASSERT_TRUE(wait([&] {
    const monitor::CaptureStatus status = session().status().source;
    return status.state == monitor::CaptureState::kEnded && frame()->result.frame.id == status.frames_in;
  }));
  const LiveFramePtr last = frame();
  emit part<ReductionPanel>()->editor()->reductionChanged(kFullModel);
  EXPECT_TRUE(wait([&] { return frame()->lookup.steps() == 1; })) << "also at the end";
  EXPECT_EQ(frame()->result.frame.id, last->result.frame.id);

  window_.reset();  // commits
  const auto stored = allSamples(file("m.db"));
  EXPECT_GT(stored.size(), 1U);
  EXPECT_EQ(std::ranges::adjacent_find(stored, {}, &monitor::Sample::time), stored.end()) << "one frame is one sample";
}

TEST_F(Faults, AStoredPictureIsSeenWithoutASource) {
  ASSERT_TRUE(openAndWait() && stores());
  trigger("snapshot");
  ASSERT_TRUE(wait([&] { return !part<PictureStore>()->pictures().empty(); }));
  trigger("close");
  ASSERT_TRUE(!part<WelcomePage>()->isHidden());
  emit part<ChartPanel>()->chart()->timePicked(part<PictureStore>()->pictures()[0].time);
  EXPECT_TRUE(wait([&] { return part<WelcomePage>()->isHidden(); }));
  EXPECT_TRUE(frame());
  EXPECT_THAT(part<ImageView>()->banner(), Ends("Esc: back"));
  trigger("unpin");
  EXPECT_TRUE(!part<WelcomePage>()->isHidden());
}

TEST_F(Faults, EventsRunTheCommandThatWasChosen) {
  ASSERT_TRUE(openAndWait());
  auto* alarms = dialogOf<CameraFieldsDialog>("alarms");
  fieldOf<QLineEdit>(alarms, "Run for each event")
      ->setText(QStringLiteral("sh -c 'echo $MPM_EVENT_KIND $MPM_EVENT_SOURCE >> \"%1\"'").arg(file("log")));
  alarms->accept();
  session().addEvent({unixNow(), EventKind::kAlarm, monitor::Severity::kWarning, "x"});
  EXPECT_TRUE(wait([&] { return content(file("log")).contains(("alarm " + file("street")).toUtf8()); }))
      << content(file("log"));
  make();
  EXPECT_EQ(part<CameraConfigs>()->camera(file("street")).session.on_event.size(), 3U) << "and after a restart";
  EXPECT_TRUE(part<CameraConfigs>()->camera(file("yard")).session.on_event.empty()) << "it belongs to its source";
}

// A file that somebody edited: what is wrong is said, the rest counts, and the file stays as it is.
TEST_F(Faults, AWatchFileThatIsWrongIsSaid) {
  const auto write = [&](const char* text) {
    const QString path = part<CameraConfigs>()->file(file("street"));
    QDir().mkpath(QFileInfo(path).path());
    std::ofstream(path.toStdString()) << text;
    make();
    return path;
  };
  const QString path = write("[[camera]]\nevry = 1\n");
  ASSERT_TRUE(openAndWait());
  EXPECT_TRUE(logged("line 2: there is no key 'evry'"));
  monitor::CameraConfig watch = camera().config();
  watch.keep = 9;
  emit dialogOf<CameraFieldsDialog>("keep")->chosen(watch);
  window_.reset();
  EXPECT_EQ(content(path), "[[camera]]\nevry = 1\n");
  make();
  write("[[camera]]\nnight = 'sun'\nlat = 9\nalarm = ['car>20']\nstates = ['gone.json']\n");
  ASSERT_TRUE(openAndWait());
  EXPECT_TRUE(logged("both, lat and lon"));
  EXPECT_TRUE(logged("gone.json"));
  EXPECT_EQ(part<CameraConfigs>()->plan(file("street")).alarms.alarms.size(), 1U) << "the rest counts";
}

TEST_F(OwnWindow, WhatCannotBeSavedIsSaid) {
  WindowOptions blocked = options();
  blocked.settings = file("no folder/settings.ini");
  write(file("no folder"), "");
  make(blocked);
  EXPECT_TRUE(logged("Not saved: cannot write"));
  camera().open(file("street"));
  trigger("command");
  EXPECT_TRUE(noticed("Not saved: cannot make the folder"));
}

// A source that is opened again goes on with its model and its reduction; what the command line names is newer.
TEST(Opener, GoesOnWithTheModelOfTheSourceOrThatOfTheCommandLine) {
  QTemporaryDir folder;
  const QString known = folder.filePath("known.onnx"), other = "other.onnx";
  QSettings stored(folder.filePath("s.ini"), QSettings::IniFormat);
  saveRecents(stored, {{folder.path(), known, "mpm:blocks=1", {}}, {"rtsp://***@camera/1", {}, {}, {}}});
  SettingsWriter settings(stored.fileName());
  LiveMonitor live({});
  QWidget window;
  const auto opened = [&](const Opener::Named& named, const std::function<void(Opener&)>& open) {
    Opener opener(named, &live, stored, &settings, &window);
    QStringList result;
    const auto text = [](const std::optional<Reduction>& variant) {
      return variant ? QString::fromStdString(toString(*variant)) : "its own";
    };
    QObject::connect(&opener, &Opener::modelChosen, [&](const QString& path, const std::optional<Reduction>& variant) {
      result << QFileInfo(path).fileName() << text(variant);
    });
    QObject::connect(&opener, &Opener::reductionChosen, [&](const Reduction& variant) { result << text(variant); });
    QObject::connect(&opener, &Opener::modelGone, [&](const QString& why) { result << why; });
    QObject::connect(&opener, &Opener::sourceChosen, [&] { result << "open"; });
    open(opener);
    return result.join(QLatin1Char(' ')).toStdString();
  };
  const auto resume = [](Opener& opener) { opener.resumeLast(); };
  EXPECT_EQ(opened({}, resume), known.toStdString() + " is gone open");
  opened({}, [&](Opener& opener) {
    const QDeadlineTimer early(3000);
    opener.resumeLast();
    opener.remember(folder.path(), kFullModel);
    EXPECT_EQ(opener.recents()[0].model, known) << "another one only stands in for it";
    EXPECT_EQ(opener.recents()[0].reduce, "mpm:blocks=1");
    QSignalSpy back(&opener, &Opener::modelChosen);
    write(known, "");
    EXPECT_TRUE(back.wait(kPatience)) << "it came back";
    EXPECT_TRUE(early.hasExpired()) << "twice the same: one that is being copied is not read";
  });
  const struct {
    Opener::Named named;
    const char* expected;
  } cases[] = {{{}, "known.onnx mpm:blocks=1 open"},
               {{{}, mpmBefore({2})}, "known.onnx mpm:blocks=2 open"},
               {{known, {}}, "mpm:blocks=1 open"},
               {{known, mpmBefore({2})}, "open"},
               {{other, {}}, "open"}};
  for (const auto& [named, expected] : cases) {
    EXPECT_EQ(opened(named, resume), expected);
    EXPECT_EQ(opened(named, [&](Opener& opener) { opener.openNamed(folder.path()); }), expected);
    EXPECT_EQ(opened(named, [&](Opener& opener) { opener.openRecent(opener.recents()[0]); }),
              "known.onnx mpm:blocks=1 open")
        << "a person chose it now";
  }
  EXPECT_EQ(opened({}, [](Opener& opener) { opener.openRecent(opener.recents()[1]); }), "") << "without its password";
  opened({}, [&](Opener& opener) {
    const QSignalSpy files(&opener, &Opener::watchFileChosen), databases(&opener, &Opener::databaseChosen);
    opener.open(QStringList{"A.TOML", "A.DB"});
    EXPECT_TRUE(files.count() == 1 && databases.count() == 1) << "endings as other systems write them";
    opener.resumeLast();
    opener.open(other);
    opener.remember(folder.path(), kFullModel);
    EXPECT_NE(opener.recents()[0].model, known) << "a person chose another one";
  });
  opened({}, [&](Opener& opener) {
    opener.resumeLast();
    opener.remember(folder.filePath("another"), kFullModel);
    EXPECT_NE(opener.recents()[0].model, known) << "of another source";
  });
}

TEST(CameraConfigs, AreOfASourceHoweverItIsOpened) {
  QTemporaryDir folder;
  SettingsWriter settings(folder.filePath("s.ini"));
  QWidget window;
  CameraConfigs configs(folder.filePath("watches"), &settings, &window);
  EXPECT_EQ(configs.file("demo:street?start=1"), configs.file("demo:street?start=2")) << "each demo has its own moment";
  EXPECT_EQ(configs.plan("0").every_s, 1);
  EXPECT_EQ(configs.plan(folder.path()).every_s, 0) << "each picture of a folder";
  EXPECT_GT(configs.snapshotOptions("0", "pictures").reserve_megabytes, 0);
  for (const char* name : {"yard", "gate"})
    configs.propose("0", {{.name = name, .size = {64, 48}, .polygons = {{{0, 0}, {9, 0}, {9, 9}}}}});
  EXPECT_EQ(configs.regions("0").at(0).name, "yard") << "known already";
}

// Its clock was a day ahead when one of them was taken.
TEST_F(Faults, TheLastPictureOfASourceIsOneWhoseTimeIsBelieved) {
  ASSERT_TRUE(openAndPause() && stores());
  trigger("snapshot");
  ASSERT_TRUE(wait([&] { return part<PictureStore>()->pictures().size() == 1; }));
  const monitor::StoredFrame own =
      monitor::readStored(part<PictureStore>()->pictures()[0].path.chopped(4).toStdString());
  monitor::InferenceResult ahead = frame()->result;
  ahead.frame.time = own.time + kDayMs;
  monitor::writeSnapshot(file("pictures").toStdString(), ahead, frame()->sample, own.owner);
  part<PictureStore>()->list();
  ASSERT_TRUE(wait([&] { return part<PictureStore>()->pictures().size() == 2; }));
  fs::copy(street().path(), file("yard").toStdString());
  camera().open(file("yard"));
  ASSERT_TRUE(runs() && wait([&] { return part<HistorySources>()->name() == file("yard"); }));
  fs::remove_all(file("street").toStdString());  // its own pictures are gone
  pickSource(file("street"));
  ASSERT_TRUE(wait([&] { return onShow().stored() && frame(); }));
  EXPECT_EQ(onShow().stored()->time, own.time);
}

}  // namespace
}  // namespace mpm::gui
