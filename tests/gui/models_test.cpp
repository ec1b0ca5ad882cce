// SPDX-License-Identifier: Apache-2.0
#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>
#include <QtWidgets>
#include <latch>

#include "gui/models/camera_configs.h"
#include "gui/models/events_model.h"
#include "gui/models/history.h"
#include "gui/models/legend_model.h"
#include "gui/models/picture_store.h"
#include "gui/models/readout.h"
#include "gui/models/recents.h"
#include "gui/models/viewport.h"
#include "gui/models/worker.h"
#include "gui/views/chart_scene.h"
#include "gui/views/legend_panel.h"
#include "monitor/samples.h"
#include "mpm/error.hpp"
#include "support/local_zone.h"
#include "text.h"

namespace mpm::gui {
namespace {

using Mode = QAbstractItemModelTester::FailureReportingMode;

ModelInfo classes(std::initializer_list<const char*> names) {
  ModelInfo info;
  info.classes = static_cast<int>(names.size());
  for (const char* name : names) info.facts.classes.push_back({name, {{10, 20, 30}}});
  return info;
}

TEST(LegendModel, IsAModel) {
  LegendModel model;
  LegendPanel panel(&model);
  auto& filter = *panel.findChild<QSortFilterProxyModel*>();
  QAbstractItemModelTester tester(&model, Mode::Fatal), filter_tester(&filter, Mode::Fatal);
  model.setClasses(classes({"road", "sky", "tree"}));
  model.setAreas({{0, 0.5}, {2, 0.25}});
  model.setColor(1, Qt::red);
  model.toggleSolo(2);
  model.setAllVisible(false);
  panel.findChild<QLineEdit*>()->setText("R");
  ASSERT_EQ(filter.rowCount(), 2);
  for (auto* table : panel.findChildren<QTableView*>())
    if (table->accessibleName() == "Classes") emit table->doubleClicked(filter.index(0, 0));
  EXPECT_EQ(model.solo(), 0) << "a double click shows the class alone; road is the larger one";
  model.setClasses(classes({"a"}));
  EXPECT_EQ(model.rowCount(), 1);
}

TEST(LegendModel, ChecksSoloAndColoursReachThePaint) {
  LegendModel model;
  model.setClasses(classes({"road", "sky", "tree"}));
  const QSignalSpy spy(&model, &LegendModel::paintChanged);
  ClassPaint paint;
  const auto visible = [&] {
    model.apply(paint);
    return std::vector(paint.visible.begin(), paint.visible.begin() + 3);
  };
  EXPECT_TRUE(model.setData(model.index(1, 0), Qt::Unchecked, Qt::CheckStateRole));
  model.setColor(2, QColor(1, 2, 3));
  EXPECT_EQ(spy.count(), 2);
  EXPECT_THAT(visible(), ElementsAre(true, false, true));
  EXPECT_EQ(paint.color[2], qRgb(1, 2, 3));
  model.toggleSolo(1);
  EXPECT_THAT(visible(), ElementsAre(false, true, false));
  model.toggleSolo(1);
  EXPECT_THAT(visible(), ElementsAre(true, false, true)) << "the check marks are as before";
  model.toggleSolo(2);
  EXPECT_TRUE(model.setData(model.index(0, 0), Qt::Checked, Qt::CheckStateRole));
  EXPECT_THAT(visible(), ElementsAre(true, false, true)) << "the solo stays, the mark joins it";
  model.toggleSolo(1);
  model.setAllVisible(true);
  EXPECT_THAT(visible(), ElementsAre(true, true, true)) << "all are more than the solo";
  model.toggleSolo(1);
  model.setClasses(classes({"a", "b"}));
  EXPECT_THAT(visible(), ElementsAre(true, true, false)) << "the solo was of another model";
}

TEST(LegendModel, AreasAreSharesAndSort) {
  LegendModel model;
  LegendPanel panel(&model);
  auto& filter = *panel.findChild<QSortFilterProxyModel*>();
  const auto areas = [&] {
    QStringList texts;
    for (int row = 0; row < model.rowCount(); ++row) texts << model.index(row, LegendModel::kArea).data().toString();
    return texts.join(' ');
  };
  for (const char* round : {"the first model", "another one with as many classes"}) {
    model.setClasses(classes({"road", "sky", "tree"}));
    EXPECT_EQ(areas(), "– – –") << "nothing was measured yet";
    model.setAreas({{0, 0.085}, {1, 0.5}, {1 << 28, 0.25}, {-1, 0.25}});  // two of them are of another model
    EXPECT_EQ(areas(), "8.5 % 50.0 % 0.0 %");
    EXPECT_EQ(filter.index(0, 0).data().toString(), "sky") << "by area at first: " << round;
    model.setAreas({{2, 0.5}});
    EXPECT_EQ(areas(), "0.0 % 0.0 % 50.0 %") << "the others are gone from the picture";
    EXPECT_EQ(filter.index(0, 0).data().toString(), "sky") << "rows do not jump: " << round;
  }
  filter.sort(LegendModel::kArea, Qt::AscendingOrder);
  EXPECT_NE(filter.index(0, 0).data().toString(), "tree") << "it has the largest area";
  EXPECT_EQ(filter.index(2, 0).data().toString(), "tree");
  filter.sort(LegendModel::kName, Qt::DescendingOrder);
  EXPECT_EQ(filter.index(0, 0).data().toString(), "tree");
  EXPECT_EQ(filter.index(2, 0).data().toString(), "road");
  filter.sort(LegendModel::kArea, Qt::DescendingOrder);
  emit panel.findChild<QComboBox*>()->activated(0);
  model.setAreas({{2, 0.5}});
  EXPECT_EQ(filter.index(0, 0).data().toString(), "tree") << "of another region";
  model.setNamedAreas({{"tree", 0.25}, {"boat", 0.75}});
  EXPECT_EQ(areas(), "– – 25.0 %") << "another model may not know the others";
  model.setNamedAreas({{"tree", 0.25}});
  EXPECT_EQ(areas(), "0.0 % 0.0 % 25.0 %") << "none in the stored picture";
  model.setNamedAreas({{"tree", 0.25}}, {"road", "tree", "boat"});
  EXPECT_EQ(areas(), "0.0 % – 25.0 %") << "the model that measured has no sky";
  model.setNamedAreas({{"class_0", 0.25}, {"boat", 0.75}});
  EXPECT_EQ(areas(), "– – –") << "of a model with other classes";
  model.setNamedAreas({{"tree", 1.0}});
  model.clearAreas();
  EXPECT_EQ(areas(), "– – –") << "nothing is on show";
}

TEST(LegendModel, AClassifierHasNoAreas) {
  LegendModel model;
  model.setClasses(classes({"road", "sky"}));
  OnShow show;
  show.setLive(Live());
  const auto areaOf = [&](const cv::Mat& labels) {
    auto frame = std::make_shared<LiveFrame>();
    frame->result.estimate.labels = labels;
    show.takeFrame(frame);
    model.setAreasOf(show, {});
    return model.index(0, LegendModel::kArea).data().toString();
  };
  EXPECT_EQ(areaOf(cv::Mat(2, 2, CV_8U, cv::Scalar(255))), "0.0 %") << "the model found nothing";
  EXPECT_EQ(areaOf({}), "–");
}

TEST(ChartScene, TheTextOfTheCrosshairIsNotCutOff) {
  using monitor::test::kNoon;
  ChartScene scene;
  scene.series = {{.quantity = {.quantity = "tokens"}, .name = "A quantity with a long name"}};
  scene.chart.bucket_ms = kMinuteMs;
  scene.chart.buckets = {{.start = kNoon, .middle = kNoon + 30000, .samples = 1, .values = {{1, 400, 400, 400}}}};
  scene.clock = vision::CameraClock("UTC");
  scene.look = lightTheme();
  scene.axis.from = static_cast<double>(kNoon - kHourMs) / 1000;
  scene.axis.to = static_cast<double>(kNoon + kHourMs) / 1000;
  const auto painted = [&] {
    QImage image(480, 160, QImage::Format_RGB32);
    QPainter painter(&image);
    scene.paint(painter, image.size());
    return image;
  };
  const QImage without = painted();
  scene.crosshair = static_cast<double>(kNoon) / 1000;
  EXPECT_EQ(scene.crosshairText().count("UTC"), 1) << scene.crosshairText();
  const QImage with = painted();
  EXPECT_NE(with, without);
  for (const QRect edge : {QRect(0, 0, 1, 160), QRect(479, 0, 1, 160)})
    EXPECT_EQ(with.copy(edge), without.copy(edge)) << edge.x();
}

// Its name has a title for people, which another language writes otherwise.
TEST(CameraConfigs, AFileIsFoundByItsSourceInAnyLanguage) {
  QTemporaryDir folder;
  std::optional<SettingsWriter> settings(folder.filePath("s.ini"));
  monitor::CameraConfig alarm;
  QString first;
  {
    CameraConfigs configs(folder.filePath("watches"), &*settings, nullptr);
    alarm = configs.config("demo:street");
    alarm.alarm = {"car>12"};
    configs.change("demo:street", alarm);
    first = configs.file("demo:street");
  }
  settings.reset();  // writes all
  const QString french = QString(first).replace("Demo_street", "Rue_de_demonstration");
  ASSERT_TRUE(QFile::rename(first, french));
  settings.emplace(folder.filePath("s.ini"));
  CameraConfigs configs(folder.filePath("watches"), &*settings, nullptr);
  EXPECT_EQ(configs.file("demo:street"), french);
  EXPECT_EQ(configs.config("demo:street").alarm, alarm.alarm);
}

// A later start may be in another folder, and the file of a source in a third one.
TEST(CameraConfigs, FilesAreNamedAbsolutely) {
  QTemporaryDir folder;
  SettingsWriter settings(folder.filePath("s.ini"));
  CameraConfigs configs(QDir().relativeFilePath(folder.filePath("watches")), &settings, nullptr);
  EXPECT_EQ(QFileInfo(configs.file("0")).path(), folder.filePath("watches"));
  evaluation::StateHead head{.name = "gate", .states = {"closed", "open"}, .model_name = "m", .model_digest = "a1"};
  head.weights = cv::Mat(2, 4, CV_64F, cv::Scalar(0));
  for (const QString& file : {folder.filePath("gate.json"), folder.filePath("other.json")}) {
    evaluation::writeStates(file.toStdString(), head);
    for (const QString& written : {QDir().relativeFilePath(file), file}) {
      configs.useStates("0", head, written, true);
      EXPECT_EQ(configs.config("0").states, std::vector{file.toStdString()})
          << written.toStdString() << ", once each name";
    }
  }
}

// A camera of another program's watch file is opened as that says each time. What was chosen for it in the app before
// is not lost with what is chosen then.
TEST(CameraConfigs, AnotherWatchFileChangesNothingInTheFileOfTheApp) {
  QTemporaryDir folder;
  std::optional<SettingsWriter> settings(folder.filePath("s.ini"));
  CameraConfigs configs(folder.filePath("watches"), &*settings, nullptr);
  const QString source = "rtsp://gate/1";
  const monitor::CameraConfig theirs{.source = source.toStdString(), .lat = 48.0, .lon = 11.0, .alarm_minutes = 5.0};
  const auto change = [&](auto how) {
    configs.follow(theirs);
    monitor::CameraConfig config = configs.config(source);
    how(config);
    configs.change(source, config);
  };
  monitor::CameraConfig own = configs.config(source);
  own.blur = {"person"};
  configs.change(source, own);
  change([](monitor::CameraConfig& config) { config.night_brightness = 60; });
  change([](monitor::CameraConfig& config) { config.alarm = {"car>10"}; });
  EXPECT_EQ(configs.config(source).night_brightness, std::nullopt) << "the watch file says nothing of it";
  settings.emplace(folder.filePath("s.ini"));  // the one before ends once all is written

  const monitor::CameraConfig later = CameraConfigs(folder.filePath("watches"), &*settings, nullptr).config(source);
  EXPECT_EQ(later.blur, own.blur);
  EXPECT_EQ(later.night_brightness, 60);
  EXPECT_EQ(later.lat, theirs.lat) << "what belongs to the rule";
  EXPECT_EQ(later.alarm, std::vector<std::string>{"car>10"});
  EXPECT_EQ(later.alarm_minutes, theirs.alarm_minutes);
}

TEST(LegendModel, PaintsTheFirst256ClassesOfALargerModel) {
  ModelInfo info;
  info.classes = 600;
  LegendModel large;
  large.setClasses(info);
  struct {
    ClassPaint paint;
    std::array<QRgb, 400> behind{};
  } guarded;
  large.apply(guarded.paint);
  ClassPaint expected;
  for (int c = 0; c < 256; ++c) expected.color[c] = large.color(c).rgb();
  expected.visible.fill(true);
  EXPECT_EQ(guarded.paint, expected);
  EXPECT_EQ(guarded.behind, decltype(guarded.behind){});
  EXPECT_EQ(large.name(2), "class_2") << "without names: a number and a colour of the palette";
  EXPECT_NE(large.color(0), large.color(1));
}

TEST(EventsModel, IsAModelNewestFirstAndBounded) {
  EventsModel model;
  QAbstractItemModelTester tester(&model, Mode::Fatal);
  model.setEvents({{1, monitor::EventKind::kSession, monitor::Severity::kInfo, "old"},
                   {2, monitor::EventKind::kAlarm, monitor::Severity::kError, "new"}});
  EXPECT_EQ(model.index(0, EventsModel::kMessage).data().toString(), "new");
  EXPECT_EQ(model.index(0, EventsModel::kSeverity).data().toString(), "Error");
  EXPECT_EQ(model.index(0, EventsModel::kSeverity).data(Qt::ForegroundRole), QVariant(theme().bad));
  EXPECT_EQ(model.index(1, EventsModel::kSeverity).data(Qt::ForegroundRole), QVariant()) << "news are no warning";
  model.setEvents({{1, monitor::EventKind::kSummary, static_cast<monitor::Severity>(9), "of a newer version"}});
  EXPECT_EQ(model.index(0, EventsModel::kKind).data().toString(), "Summary");
  EXPECT_EQ(model.index(0, EventsModel::kSeverity).data().toString(), "?");
  for (int i = 0; i < EventsModel::kMax + 5; ++i) model.add(monitor::test::eventAt(i, std::to_string(i)));
  EXPECT_EQ(model.rowCount(), EventsModel::kMax);
  EXPECT_EQ(model.index(0, EventsModel::kMessage).data().toString(), QString::number(EventsModel::kMax + 4));
  model.setEvents(std::vector<monitor::Event>(EventsModel::kMax + 5));
  EXPECT_EQ(model.rowCount(), EventsModel::kMax);
}

// The window never waits: work is done on another thread, in its order, and what it throws is said on this one.
TEST(Worker, WorksElsewhereAndAnswersHere) {
  const QThread* const here = QThread::currentThread();
  QObject owner;
  QStringList said;
  std::vector<int> order;
  bool elsewhere = false, back = false;
  std::latch gate(1);
  Worker worker(&owner, [&](const QString& why) {
    back = QThread::currentThread() == here;
    said << why;
  });
  worker.run([&] {
    gate.wait();
    elsewhere = QThread::currentThread() != here;
  });
  for (const int i : {1, 2}) worker.run([&order, i] { order.push_back(i); });
  worker.run([&] { order.push_back(0); }, 1);
  worker.run([] { throw Error("it broke"); });
  gate.count_down();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !said.isEmpty(); }, 60000));
  EXPECT_TRUE(elsewhere && back);
  EXPECT_EQ(order, (std::vector{0, 1, 2})) << "what is urgent comes first";
  EXPECT_EQ(said, QStringList{"it broke"});
}

TEST(Job, TellsEachPercentOnce) {
  Job job([](const Job::Progress& progress) {
    for (int i = 0; i <= 5000; ++i) progress(i, 5000);
    return std::optional(QVariant());
  });
  QSignalSpy told(&job, &Job::progressed), done(&job, &Job::finished);
  ASSERT_TRUE(done.wait(60000));
  EXPECT_EQ(told.count(), 101);
}

TEST(EventsModel, EveryKindHasAName) {
  using Kind = monitor::EventKind;
  EventsModel model;
  QStringList names;
  for (const Kind kind : {Kind::kView, Kind::kReuse, Kind::kQuality, Kind::kCommand, static_cast<Kind>(99)}) {
    model.add({1, kind, monitor::Severity::kInfo, "x"});
    names << model.index(0, EventsModel::kKind).data().toString();
  }
  EXPECT_EQ(names, QStringList({"View", "Reuse", "Quality", "Command", "?"})) << "the last is of a newer version";
}

TEST(EventsModel, GrowsWithoutLosingItsPlace) {
  const auto event = [](int i) { return monitor::test::eventAt(i, std::to_string(i)); };
  EventsModel model;
  QAbstractItemModelTester tester(&model, Mode::Fatal);
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  model.setEvents({event(1), event(2)});
  ASSERT_EQ(resets.count(), 1);
  model.setEvents({event(1), event(2)});
  model.setEvents({event(1), event(2), event(3), event(4)});
  EXPECT_EQ(resets.count(), 1);
  ASSERT_EQ(model.rowCount(), 4);
  EXPECT_EQ(model.eventAt(0), event(4));
  EXPECT_EQ(model.eventAt(3), event(1));
  model.setEvents({event(7), event(4)});
  EXPECT_EQ(resets.count(), 2) << "another list";
  EXPECT_EQ(model.rowCount(), 2);
}

TEST(Recents, KeepNoPasswordAndOneEntryPerSource) {
  QTemporaryDir folder;
  QSettings settings(folder.filePath("s.ini"), QSettings::IniFormat);
  const Recent camera{"rtsp://anna:geheim@camera/1", "m.onnx", "2,5", 1000};
  QVector<Recent> watched = remembered({}, camera);
  for (int i = 0; i < 20; ++i) watched = remembered(watched, {QStringLiteral("video%1.avi").arg(i), {}, {}, 2000});
  saveRecents(settings, remembered(watched, camera));
  settings.sync();
  const auto recents = loadRecents(settings);
  ASSERT_EQ(recents.size(), kMaxRecents);
  EXPECT_EQ(recents[0].source, "rtsp://***@camera/1");
  EXPECT_TRUE(recents[0].needsPassword());
  EXPECT_EQ(recents[0].reduce, "2,5");
  EXPECT_EQ(recents[0].last, 1000);
  EXPECT_FALSE(recents[1].needsPassword());
  EXPECT_THAT(content(settings.fileName()), AllOf(Has("camera"), Not(Has("geheim"))));
  settings.setValue("recent", QStringList{"{", "[1]", R"({"source": "a.avi", "last": 7})", R"({"model": "m.onnx"})"});
  ASSERT_EQ(loadRecents(settings).size(), 1) << "edited by hand: only what names a source counts";
  EXPECT_EQ(loadRecents(settings)[0].source, "a.avi");
}

// As in tests/data/releases.
TEST(Recents, OfVersion010HaveTheTimeThatTheClockOfTheMachineShowed) {
  const mpm::test::LocalZone zone("Europe/Paris");  // an hour ahead in November
  QTemporaryDir folder;
  QSettings settings(folder.filePath("s.ini"), QSettings::IniFormat);
  settings.setValue("recent", QStringList{R"({"last": "2026-11-25T07:32:17.203", "source": "a.avi"})",
                                          R"({"last": "soon", "source": "b.avi"})"});
  const auto recents = loadRecents(settings);
  ASSERT_EQ(recents.size(), 2);
  EXPECT_EQ(isoTime(recents[0].last, true), "2026-11-25T06:32:17.203Z");
  EXPECT_EQ(recents[1].last, 0);
}

TEST(Sources, HaveTitles) {
  QTemporaryDir folder;
  EXPECT_EQ(sourceSpec(folder.path()).kind, vision::SourceKind::kFolder);
  EXPECT_EQ(sourceTitle("demo:"), "Demo street");
  for (const char* camera : {"7", "camera:7"}) EXPECT_EQ(sourceTitle(camera), "Camera 7");
  EXPECT_EQ(sourceTitle("/dev/video2"), "Camera video2");
  EXPECT_EQ(sourceTitle("rtsp://u:p@cam/x"), "rtsp://***@cam/x");
  EXPECT_EQ(sourceTitle("/x/y.mp4"), "y.mp4");
}

TEST(Sources, WhatHasANumberOfPicturesIsNoCamera) {
  QTemporaryDir folder;
  EXPECT_TRUE(isNumbered(sourceSpec(folder.path())));
  EXPECT_TRUE(isNumbered(sourceSpec(folder.filePath("*.png"))));
  EXPECT_TRUE(isNumbered(sourceSpec("demo:street?seed=7&frames=100")));
  for (const char* other : {"demo:", "demo:street?frames=0&seed=3", "0", "/x/y.mp4", "rtsp://a/b?frames=3"})
    EXPECT_FALSE(isNumbered(sourceSpec(other))) << other;
}

TEST(Sources, FilesAsFileManagersHandThemOver) {
  EXPECT_EQ(localPath("file:///home/a%20b/stra%C3%9Fe.mp4"), "/home/a b/straße.mp4");
  EXPECT_EQ(localPath("/home/a%20b"), "/home/a%20b");
  EXPECT_EQ(localPath("rtsp://a/b"), "rtsp://a/b");
}

TEST(Settings, EditedByHandAreWithinTheirRange) {
  QTemporaryDir folder;
  QSettings settings(folder.filePath("s.ini"), QSettings::IniFormat);
  for (const auto& [text, expected] : {std::pair("4", 4.), {"1", 1.}, {"5", 2.}, {"0", 2.}, {"nan", 2.}, {"x", 2.}}) {
    settings.setValue("size", text);
    EXPECT_EQ(storedNumber(settings, "size", 1, 4, 2), expected) << text;
  }
}

TEST(RegionOutline, IsInSharesOfWidthAndHeight) {
  const RegionOutline outline = outlineOf({.size = {200, 50}, .polygons = {{{0, 0}, {199, 49}, {0, 49}}}});
  ASSERT_EQ(outline.polygons.size(), 1);
  EXPECT_EQ(outline.polygons[0][1], QPointF(199.5 / 200, 49.5 / 50));
}

TEST(Thumbnails, AreSmallAndMadeOnce) {
  QTemporaryDir folder;
  for (const auto& [name, size] : {std::pair("wide", QSize(900, 30)), {"tall", {30, 900}}, {"tiny", {3, 2}}})
    ASSERT_TRUE(QImage(size, QImage::Format_RGB32).save(folder.filePath(QStringLiteral("%1.png").arg(name))));
  Thumbnails thumbnails(folder.path());
  QStringList made;
  QObject::connect(&thumbnails, &Thumbnails::made, [&](const QString& name, const QImage& picture) {
    made << name;
    EXPECT_EQ(picture.size().boundedTo(Thumbnails::kSize), picture.size()) << name;
  });
  thumbnails.setNames({"wide", "tall"});
  thumbnails.setNames({"tall", "tiny", "wide"});
  ASSERT_TRUE(QTest::qWaitFor([&] { return made.contains("tiny"); }, 60000));
  EXPECT_EQ(made, QStringList({"tall", "wide", "tiny"}));
}

TEST(ClassColors, ComeBack) {
  QTemporaryDir folder;
  QSettings settings(folder.filePath("s.ini"), QSettings::IniFormat);
  const ClassColors colors = {{"road/wet, 50 %", QColor(1, 2, 3)}, {"ciel", Qt::red}};
  save(settings, colors);
  EXPECT_EQ(loadClassColors(settings), colors);
  settings.setValue("colors", QStringList{"rouge ciel", "#112233"});
  EXPECT_TRUE(loadClassColors(settings).empty());
}

TEST(Sources, CredentialsAreEncoded) {
  EXPECT_EQ(withCredentials("rtsp://cam/x", "a@b", "p/w:1"), "rtsp://a%40b:p%2Fw%3A1@cam/x");
  EXPECT_EQ(withCredentials("rtsp://***@cam/x", "u", {}), "rtsp://u@cam/x");
  EXPECT_EQ(withCredentials("rtsp://cam/x", {}, "p"), "rtsp://cam/x");
}

TEST(Sources, CamerasAreListedByTheirNames) {
  QTemporaryDir root;
  QDir dir(root.path());
  ASSERT_TRUE(dir.mkpath("dev"));
  for (const auto& [node, index] : {std::pair(QString("video0"), "0"), {"video1", "1"}, {"video2", "0"}}) {
    const QString base = "sys/class/video4linux/" + node;
    ASSERT_TRUE(dir.mkpath(base));
    write(root.filePath("dev/" + node), "");
    write(root.filePath(base + "/name"), "HD Webcam\n");
    write(root.filePath(base + "/index"), index);
  }
  const auto found = cameras(root.path());
  ASSERT_EQ(found.size(), 2) << "the second node of a camera carries no pictures";
  EXPECT_EQ(found[1].path, "/dev/video2");
  EXPECT_EQ(found[0].name, "HD Webcam");
}

TEST(SpanText, ReadsLikeASpan) {
  EXPECT_EQ(spanText(3.25), "3.3 s");
  EXPECT_EQ(spanText(60), "1 min 00 s");
  EXPECT_EQ(spanText(7500), "2 h 05 min");
  EXPECT_EQ(spanText(90000), "1 d 1 h");
}

}  // namespace
}  // namespace mpm::gui
