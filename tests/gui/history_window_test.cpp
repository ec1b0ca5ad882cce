// SPDX-License-Identifier: Apache-2.0
// Databases of other programs, in windows of their own.

#include "gui/controllers/calendar_browser.h"
#include "monitor/store/snapshot.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

using monitor::EventKind;

class Others : public Window {
 protected:
  QMainWindow* windowOf(const QString& database) const {
    for (QWidget* widget : QApplication::topLevelWidgets())
      if (auto* other = qobject_cast<HistoryWindow*>(widget); other && other->database() == database) return other;
    return nullptr;
  }
  QStringList classes() const {
    QStringList names;
    for (int c = 0; c < part<LegendModel>()->classes(); ++c) names << part<LegendModel>()->name(c);
    return names;
  }
  /// A watch file with these sources and their databases: the first one is on show.
  void openCameras(const std::vector<std::pair<const char*, const char*>>& cameras) {
    std::ofstream watch(file("cameras.toml").toStdString());
    for (const auto& [source, database] : cameras)
      watch << "[[camera]]\nsource = '" << source << "'\ndb = '" << database << "'\n";
    watch.close();
    window_->opener().open(file("cameras.toml"));
    emit window_->findChild<CamerasPage*>()->chosen(0);
    lookAtOther();
  }
  static int others() {
    return static_cast<int>(std::ranges::count_if(
        QApplication::topLevelWidgets(), [](QWidget* widget) { return qobject_cast<HistoryWindow*>(widget); }));
  }
};

TEST_F(Others, OpenBesideWhatIsWatchedWhichGoesOn) {
  store(file("other.db"), "yard", unixNow() - kDayMs, 1000, 3, {}, "of the yard");
  ASSERT_TRUE(openAndWait() && stores());
  const QString title = window_->windowTitle();
  openOther(file("other.db"));
  ASSERT_TRUE(wait([&] { return reported(EventKind::kAlarm, "of the yard"); }));
  EXPECT_EQ(looked()->windowTitle(), "yard, stored in other.db – MPM Monitor");
  EXPECT_EQ(part<HistorySources>()->name(), "yard");
  EXPECT_THAT(part<ImageView>()->banner(), Begins("Last sample: "));
  EXPECT_EQ(dock("day_night")->titleBarWidget(), nullptr) << "no tab says its name";
  lookAtMain();
  EXPECT_EQ(window_->windowTitle(), title);
  EXPECT_FALSE(reported(EventKind::kAlarm, "of the yard"));
  EXPECT_EQ(part<HistorySources>()->name(), file("street"));
  const auto count = session().status().inference.processed;
  EXPECT_TRUE(wait([&] { return session().status().inference.processed > count; }));

  window_->opener().open(file("other.db"));
  EXPECT_EQ(others(), 1) << "once";
  lookAtOther();
  trigger("main");
  trigger("close");
  settle();
  EXPECT_EQ(others(), 0);
  EXPECT_TRUE(session().isOpen());
}

TEST_F(Others, CloseWithTheWindowThatWatches) {
  for (const char* name : {"a.db", "b.db"}) {
    store(file(name), "yard", unixNow() - kDayMs, 1000, 3);
    window_->opener().open(file(name));
  }
  EXPECT_EQ(others(), 2);
  EXPECT_TRUE(windowOf(file("a.db")) && windowOf(file("b.db")));
  window_->close();
  settle();
  EXPECT_EQ(others(), 0);
}

// The one that watches has nothing to show, and is brought up by a key.
TEST_F(Others, MayBeAllThatThereIsToSee) {
  EXPECT_FALSE(window_->showsOnlyOthers());
  openOther(file("none-yet.db"));
  EXPECT_EQ(looked()->windowTitle(), "none-yet.db – MPM Monitor");
  EXPECT_TRUE(window_->showsOnlyOthers());
  trigger("keys");
  const auto* const keys = childOf<QTableWidget>(childOf<QDialog>(looked(), "keys"));
  EXPECT_FALSE(keys->findItems("Overlay", Qt::MatchContains).isEmpty());
  EXPECT_TRUE(keys->findItems("Computed", Qt::MatchContains).isEmpty()) << "which this window does not offer";
  window_->hide();
  trigger("main");
  EXPECT_TRUE(window_->isVisible());
  lookAtMain();
  camera().open(file("street"));
  EXPECT_FALSE(window_->showsOnlyOthers());
}

TEST_F(Others, FollowADatabaseWhileItIsWritten) {
  const QString path = file("yard db.db");
  const UnixMs noon = unixNow() - 3 * kDayMs;
  const auto day = [](monitor::Sample& sample) { sample.night = false; };
  store(path, "yard", noon, 1000, 120, day, "first");
  openOther(QUrl::fromLocalFile(path).toString(QUrl::FullyEncoded));
  TimeChart* chart = part<ChartPanel>()->chart();
  ASSERT_TRUE(wait([&] { return reported(EventKind::kAlarm, "first") && !chart->chart().buckets.empty(); }));
  EXPECT_NEAR(chart->axis().to, static_cast<double>(noon) / 1000 + 119, 2) << "ends at the data's own present";
  store(path, "yard", noon + 120000, 1000, 60, day, "second");
  ASSERT_TRUE(wait([&] { return reported(EventKind::kAlarm, "second"); }));
  EXPECT_TRUE(reported(EventKind::kAlarm, "first"));
  EXPECT_TRUE(wait([&] { return std::abs(chart->axis().to - (static_cast<double>(noon) / 1000 + 179)) < 2; }));
  for (const char* suffix : {"", "-wal", "-shm"}) QFile::remove(path + suffix);
  store(path, "garden", noon, 1000, 30, day, "third");
  ASSERT_TRUE(wait([&] { return reported(EventKind::kAlarm, "third"); }));
  // Sources are asked for before events, and the file may have been replaced between the two.
  EXPECT_TRUE(wait([&] { return part<HistorySources>()->name() == "garden"; }));
  EXPECT_TRUE(wait([&] { return part<DayNightPanel>() && textIn<DayNightPanel>().contains("Samples, Day: 30"); }));
}

// Where a camera is opened again, an alarm of the night before stands below what happens now.
TEST_F(Others, EventsOfEarlierRunsStayInTheList) {
  const UnixMs night = unixNow() - kDayMs;
  window_.reset();
  store(file("m.db"), file("street").toStdString(), night, 1000, 3, {}, "of last night");
  make();
  ASSERT_TRUE(openAndWait());
  EXPECT_TRUE(wait([&] { return reported(EventKind::kAlarm, "of last night"); }));
  EXPECT_GT(part<EventsModel>()->eventAt(0).time, night + kHourMs) << "and what happens now";
  ASSERT_TRUE(looks());
  const EventsModel& events = *part<EventsModel>();
  std::map<std::pair<UnixMs, std::string>, int> times;
  for (int row = 0; row < events.rowCount(); ++row) {
    const monitor::Event& one = events.eventAt(row);
    EXPECT_EQ((++times[{one.time, one.message}]), 1) << one.message << " is stored, and was seen";
  }
  const QSignalSpy read(part<History>(), &History::eventsReady);
  part<HistoryBrowser>()->add({unixNow(), EventKind::kSource, monitor::Severity::kInfo, "which is not stored"});
  ASSERT_TRUE(wait([&] { return read.count() >= 2; }));
  EXPECT_TRUE(reported(EventKind::kSource, "which is not stored"));
}

TEST_F(Others, HaveTheKeysAndTheLookOfTheWindowThatWatches) {
  openOther(file("other.db"));
  const auto keys = [this] {
    QStringList all;
    for (const char* id : {"dock_legend", "dock_day_night", "dock_chart", "dock_events", "dock_calendar"})
      all << action(id)->shortcut().toString();
    return all;
  };
  const QStringList here = keys();
  EXPECT_EQ(here, (QStringList{"Alt+3", "Alt+6", "Alt+8", "Alt+9", "Alt+Shift+1"}));
  trigger("curtain");
  trigger("dark");
  EXPECT_TRUE(theme().dark);
  lookAtMain();
  EXPECT_EQ(keys(), here);
  EXPECT_TRUE(action("dark")->isChecked());
  EXPECT_NE(part<ImageView>()->paint().mode, ViewMode::kCurtain) << "a window of its own";
  trigger("dark");
  lookAtOther();
  EXPECT_FALSE(action("dark")->isChecked());
  looked()->close();
  settle();
  openOther(file("other.db"));
  EXPECT_EQ(part<ImageView>()->paint().mode, ViewMode::kCurtain) << "as it was closed";
}

TEST_F(Others, ShowNothingOfTheSourceBefore) {
  const UnixMs first = unixNow() - kDayMs;
  store(file("other.db"), "yard", first, 1000, 9, {}, "of the yard");
  store(file("other.db"), "lane", first, 1000, 9, {}, "of the lane");
  openOther(file("other.db"));
  ChartPanel* const panel = part<ChartPanel>();
  auto* const sources = fieldOf<QComboBox>(panel, "Source whose samples are drawn");
  ASSERT_TRUE(wait([&] { return sources->count() == 2; }));
  pickSource("yard");
  ASSERT_TRUE(
      wait([&] { return reported(EventKind::kAlarm, "of the yard") && !panel->chart()->chart().buckets.empty(); }));
  const auto before = *part<HistorySources>()->id();
  History* const history = part<History>();
  emit history->namesReady({before, "yard", {"road"}, {"gate"}});
  const auto* const regions = fieldOf<QComboBox>(panel, "Region whose numbers are drawn");
  ASSERT_EQ(regions->count(), 2);

  const int question = onShow().ask();
  pickSource("lane");
  EXPECT_EQ(regions->count(), 1);
  emit part<PictureStore>()->loaded({.source = "yard", .question = question});
  emit history->sampleReady(
      {.frame = makeLiveFrame(cv::Mat(8, 8, CV_8UC3, cv::Scalar(1, 2, 3))), .source = "yard", .question = question});
  emit history->eventsReady(before, {{first, EventKind::kAlarm, monitor::Severity::kWarning, "late"}});
  charts::Chart chart;
  chart.buckets.resize(1);
  emit history->chartReady(chart, {{"gate"}}, {.source = before, .series = panel->chart()->quantities()});
  JudgedHistory judged{.source = before};
  judged.statistics.day.samples = judged.statistics.night.samples = 777;
  emit history->statisticsReady(judged);
  emit history->sampleReady({.text = "late", .source = "yard", .last = true});
  EXPECT_EQ(onShow().source().name, "lane");
  EXPECT_FALSE(reported(EventKind::kAlarm, "late"));
  EXPECT_FALSE(reported(EventKind::kAlarm, "of the yard"));
  EXPECT_TRUE(panel->chart()->chart().buckets.empty());
  EXPECT_TRUE(panel->chart()->scene().bands.empty());
  EXPECT_THAT(textIn<DayNightPanel>(), Not(Has("777")));
  EXPECT_TRUE(wait([&] { return reported(EventKind::kAlarm, "of the lane"); }));
  EXPECT_TRUE(wait([&] { return part<ImageView>()->banner().contains("Last sample"); })) << "its own one is shown";
}

TEST_F(Others, HaveTheClassesOfTheModelThatMeasured) {
  {
    monitor::StoreWriter writer(file("other.db").toStdString());
    monitor::SessionInfo session;
    session.source = "glacier";
    session.classes = {"ice", "rock", "class_1"};
    writer.beginSession(session);
    monitor::Sample sample;
    sample.time = unixNow() - kDayMs;
    sample.whole().areas = {{0, 0.75}, {1, 0.25}};
    writer.append(sample);
    ASSERT_TRUE(writer.flush());
  }
  ASSERT_TRUE(openAndWait() && stores());
  const QStringList own = classes();
  part<LegendModel>()->setColor(0, QColor(1, 254, 3));
  part<LegendModel>()->chooseColor(0);
  openOther(file("other.db"));
  LegendModel& legend = *part<LegendModel>();
  ASSERT_TRUE(wait([&] { return classes() == QStringList({"ice", "rock", "class_1"}); }));
  EXPECT_TRUE(wait([&] { return legend.index(1, LegendModel::kArea).data(LegendModel::kSortRole).toDouble() == 0.25; }))
      << "of its last sample";
  window_->findChild<LegendModel*>()->setColor(1, QColor(9, 8, 7));
  EXPECT_EQ(legend.color(2), QColor(9, 8, 7)) << "the same class, the same colour";
  legend.setColor(1, QColor(2, 3, 253));
  legend.chooseColor(1);
  looked()->close();
  settle();
  EXPECT_EQ(classes(), own);
  make();
  QSettings stored(file("settings.ini"), QSettings::IniFormat);
  EXPECT_EQ(loadClassColors(stored), (ClassColors{{own[0], QColor(1, 254, 3)}, {"rock", QColor(2, 3, 253)}}))
      << "both windows stored one";
}

// The first camera has classes; another one in its database, and the next of the watch file, have none.
TEST_F(Others, HaveNoClassesOfTheCameraBefore) {
  store(file("b.db"), "/dev/video3", unixNow() - kDayMs, 1000, 3);
  for (const char* source : {"/dev/video1", "/dev/video2"}) {
    monitor::StoreWriter writer(file("a.db").toStdString());
    monitor::SessionInfo session;
    session.source = source;
    if (source == std::string("/dev/video1")) session.classes = {"ice", "rock"};
    writer.beginSession(session);
    writer.append(monitor::Sample{.time = unixNow() - kDayMs});
    ASSERT_TRUE(writer.flush());
  }
  openCameras({{"/dev/video1", "a.db"}, {"/dev/video3", "b.db"}});
  const auto lastSampleOf = [&](const char* source) {
    return wait(
        [&] { return onShow().source().name == source && part<ImageView>()->banner().contains("Last sample"); });
  };
  ASSERT_TRUE(lastSampleOf("/dev/video1"));
  EXPECT_EQ(classes(), QStringList({"ice", "rock"}));
  part<LegendModel>()->setData(part<LegendModel>()->index(1, 0), Qt::Unchecked, Qt::CheckStateRole);
  trigger("unpin");
  ASSERT_TRUE(lastSampleOf("/dev/video1"));
  EXPECT_FALSE(part<LegendModel>()->visible(1)) << "it stays as a person chose";
  pickSource("/dev/video2");
  ASSERT_TRUE(lastSampleOf("/dev/video2"));
  EXPECT_EQ(classes(), QStringList());
  pickSource("/dev/video1");
  ASSERT_TRUE(lastSampleOf("/dev/video1"));
  EXPECT_EQ(classes().size(), 2);
  trigger("next_camera");
  EXPECT_EQ(classes(), QStringList()) << "before anything of it is read";
  ASSERT_TRUE(lastSampleOf("/dev/video3"));
  EXPECT_EQ(classes(), QStringList());
}

TEST_F(Others, SayWhyTheyCannotBeRead) {
  std::ofstream(file("broken.db").toStdString()) << std::string(5000, 'x');
  openCameras({{"yard", "broken.db"}, {"lane", "broken.db"}});
  const auto said = [&] { return comes("broken.db", [&] { return part<ImageView>()->placeholder(); }); };
  EXPECT_TRUE(said());
  trigger("next_camera");
  EXPECT_TRUE(said()) << "also of the next one";
}

// It never gave a frame, so it is no source yet.
TEST_F(Others, SayWhyACameraGaveNothing) {
  {
    monitor::StoreWriter writer(file("other.db").toStdString());
    writer.setSource("yard");
    writer.append(monitor::Event{unixNow(), EventKind::kSource, monitor::Severity::kError, "no route to the yard"});
    ASSERT_TRUE(writer.flush());
  }
  openOther(file("other.db"));
  EXPECT_TRUE(wait([&] { return reported(EventKind::kSource, "no route to the yard"); }));
  store(file("other.db"), "lane", unixNow(), 1000, 3, {}, "of the lane");
  ASSERT_TRUE(wait([&] { return reported(EventKind::kAlarm, "of the lane"); }));
  EXPECT_FALSE(reported(EventKind::kSource, "no route to the yard")) << "that of another camera";
}

TEST_F(Others, SayHowManyAlarmsRing) {
  monitor::StoreWriter writer(file("other.db").toStdString());
  monitor::SessionInfo session;
  session.source = "yard";
  writer.beginSession(session);
  const auto ring = [&](bool second) {
    writer.append(
        monitor::Recorded{.sample = monitor::Sample{.time = unixNow()},
                          .alarms = {{{"tokens>5", 1, true}, {"car>20", 1, second}, {"sharpness<3", 1, false}}}});
    ASSERT_TRUE(writer.flush());
  };
  ring(true);
  openOther(file("other.db"));
  EXPECT_TRUE(wait([&] { return status("Alarms") == "2 alarm(s) ring"; })) << status("Alarms").toStdString();
  EXPECT_EQ(labelOf(looked(), "Alarms")->toolTip(), "car>20\ntokens>5");
  ring(false);
  EXPECT_TRUE(wait([&] { return status("Alarms") == "1 alarm(s) ring"; }));
  writer.append(monitor::Recorded{.alarms = std::vector<monitor::AlarmState>()});
  ASSERT_TRUE(writer.flush());
  EXPECT_TRUE(wait([&] { return status("Alarms").isEmpty(); }));
}

TEST_F(Others, HaveTheirOwnRegionsWhichDoNotBecomeOurs) {
  monitor::StoreWriter(file("other.db").toStdString())
      .setRegions("garden", {{.name = "pond", .size = {320, 160}, .polygons = {{{10, 10}, {90, 10}, {90, 90}}}}});
  store(file("other.db"), "garden", unixNow(), 1000, 1);
  openOther(file("other.db"));
  ASSERT_TRUE(wait([&] { return part<ImageView>()->regions().size() == 1; }));
  EXPECT_EQ(part<ImageView>()->regions()[0].region.name, "pond");
  lookAtMain();
  EXPECT_TRUE(part<CameraConfigs>()->regions("garden").empty());
}

TEST_F(Others, ShowTheLastPictureAndThoseOfTheChart) {
  QDir(folder_.path()).mkpath("dated");
  for (int i = 0; i < 3; ++i) fs::copy_file(path("street/%1.png", i), path("dated/20130708_0554%1.png", 12 - i));
  window_->opener().open(file("dated"));
  auto* dialog = dialogThatComes<TimesDialog>();
  ASSERT_TRUE(wait([&] { return dialog->isVisible(); }));
  dialog->accept();
  ASSERT_TRUE(wait([&] { return session().isOpen() && session().status().finished; }));
  WindowOptions other = options();
  other.database = file("other.db");
  make(other);
  openOther(file("m.db"));
  ASSERT_TRUE(wait([&] { return frame() != nullptr; }));
  EXPECT_EQ(frame()->result.frame.name, "20130708_055412");
  EXPECT_EQ(frame()->result.estimate.tokens.size(), 3u);
  const QString banner = part<ImageView>()->banner();
  EXPECT_THAT(banner, AllOf(Begins("Last sample: 8 Jul 2013 05:54:12"), Has("  ·  no gaps")));
  const ChartPanel* chart = part<ChartPanel>();
  emit chart->chart()->timePicked(static_cast<double>(part<HistorySources>()->current()->last) / 1000 - 2.02);
  EXPECT_TRUE(wait([&] { return frame()->result.frame.name == "20130708_055410"; })) << "a click shows its picture";
  trigger("unpin");
  EXPECT_TRUE(wait([&] { return frame() && frame()->result.frame.name == "20130708_055412"; }));
  QFile::remove(file("dated/20130708_055412.png"));
  trigger("unpin");
  EXPECT_TRUE(wait([&] { return !part<OnShow>()->isNothing() && !frame(); })) << "its numbers are there";
  EXPECT_EQ(part<ImageView>()->banner(), banner);
}

TEST_F(Others, ShowThePicturesThatTheirProgramWritesMeanwhile) {
  ASSERT_TRUE(openAndPause());
  const UnixMs first = unixNow() - kHourMs;
  const LiveFramePtr live = frame();
  const auto storeAt = [&](UnixMs time) {
    store(file("other.db"), "yard", time, 1000, 1);
    monitor::InferenceResult result = live->result;
    result.frame.time = time;
    const std::string id = monitor::StoreReader(file("other.db").toStdString()).id();
    monitor::writeSnapshot(file("pictures").toStdString(), result, live->sample, {"yard", id});
  };
  storeAt(first);
  openOther(file("other.db"));
  const auto showsThatOf = [&](UnixMs time) {
    return wait([&] { return frame() && frame()->result.frame.time == time; });
  };
  ASSERT_TRUE(showsThatOf(first));
  const UnixMs second = first + 10 * kMinuteMs;
  storeAt(second);
  ASSERT_TRUE(wait([&] { return part<ChartPanel>()->chart()->scene().pictures.size() == 2; }));
  trigger("unpin");
  EXPECT_TRUE(showsThatOf(second));
  emit part<ChartPanel>()->chart()->timePicked(static_cast<double>(first - kDayMs) / 1000);
  EXPECT_EQ(labelOf(looked(), "Notice")->toolTip(), "No picture is stored near that time");
}

TEST_F(Others, TryAPictureThatIsDamagedOnce) {
  store(file("other.db"), "yard", unixNow() - kHourMs, 1000, 1);
  QDir(folder_.path()).mkpath("pictures");
  const std::string stem = file("pictures/").toStdString() + fileTime(unixNow() - kHourMs, true);
  write(QString::fromStdString(stem + ".png"), "no picture");
  write(QString::fromStdString(stem + ".json"),
        R"({"source": "yard", "database": ")" +
            QByteArray::fromStdString(monitor::StoreReader(file("other.db").toStdString()).id()) + "\"}");
  openOther(file("other.db"));
  auto* const pictures = part<PictureStore>();
  const QSignalSpy failed(pictures, &PictureStore::failed);
  QSignalSpy listed(pictures, &PictureStore::listed);
  ASSERT_TRUE(wait([&] { return failed.count() == 1; }));
  for (int i = 0; i < 3; ++i) {
    listed.clear();
    pictures->list();
    ASSERT_TRUE(wait([&] { return listed.count() > 0; }));
  }
  EXPECT_EQ(failed.count(), 1);
}

TEST_F(Others, AreACameraOrWhereThatIsNotInThemTheirLastSource) {
  for (const char* source : {"/dev/video1", "/dev/video2"}) store(file("yard.db"), source, unixNow(), 1000, 2);
  for (const auto& [source, shown] : {std::pair("/dev/video1", "/dev/video1"), {"/dev/video3", "/dev/video2"}}) {
    std::ofstream(file("yard.toml").toStdString()) << "[[camera]]\nsource = '" << source << "'\ndb = 'yard.db'\n";
    openOther(file("yard.toml"));
    ASSERT_TRUE(wait([&] { return !part<HistorySources>()->name().isEmpty(); }));
    EXPECT_EQ(part<HistorySources>()->name(), shown);
    looked()->close();
    settle();
  }
}

// A calendar that stays open has what came since.
TEST_F(Others, HaveACalendarThatGrows) {
  const UnixMs first = unixNow() - 5 * kDayMs;
  store(file("other.db"), "yard", first, 1000, 3);
  openOther(file("other.db"));
  part<CalendarBrowser>()->setPace(10);
  dock("calendar")->show();
  dock("calendar")->raise();
  const auto days = [&] { return part<CalendarPanel>()->view()->calendar().days.size(); };
  ASSERT_TRUE(wait([&] { return days() == 1; }));
  store(file("other.db"), "yard", first + 2 * kDayMs, 1000, 3);
  EXPECT_TRUE(wait([&] { return days() == 2; }));
}

}  // namespace
}  // namespace mpm::gui
