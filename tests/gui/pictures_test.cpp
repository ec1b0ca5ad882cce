// SPDX-License-Identifier: Apache-2.0
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>

#include "gui/models/history.h"
#include "gui/models/picture_store.h"
#include "gui/models/readout.h"
#include "gui/views/calendar_panel.h"
#include "gui/views/compare_panel.h"
#include "gui/views/inspector_panel.h"
#include "monitor/privacy.h"
#include "monitor/recorder.h"
#include "monitor/samples.h"
#include "monitor/store/snapshot.h"
#include "support/local_zone.h"
#include "text.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

LiveFramePtr frameAt(UnixMs time) {
  monitor::InferenceResult result;
  result.frame.image = cv::Mat(16, 24, CV_8UC3, cv::Scalar(10, 120, 240));
  result.frame.time = time;
  result.estimate.labels = cv::Mat(16, 24, CV_8U, cv::Scalar(1));
  result.estimate.grid = {2, 3};
  result.estimate.cluster_of_token = {{0, 0, 1, 2, 3, 4}};
  result.estimate.tokens = {6, 5};
  auto info = std::make_shared<ModelInfo>();
  info->classes = 2;
  info->reduction = mpmBefore({2});
  info->facts.classes = {{"road", {{1, 2, 3}}}, {"sky", {{4, 5, 6}}}};
  result.model = info;
  return makeLiveFrame(std::move(result));
}

TEST(PictureStore, ListsPicturesWithTheirSourceAndLoadsThem) {
  const QTemporaryDir folder;
  const std::string path = folder.filePath("pics").toStdString();
  const qint64 time = 1770000000123;
  const LiveFramePtr first = frameAt(time), second = frameAt(time + 1000);
  monitor::Sample sample;
  sample.token_counts = first->result.estimate.tokens;
  sample.view_offset = {.right = 12};
  sample.whole().areas = {{0, 1}};
  sample.regions.push_back({.region = 1, .name = "lake", .areas = {{1, 0.25}}});
  const std::string picture = monitor::writeSnapshot(path, first->result, sample, {"demo:", "d"});
  {
    monitor::SnapshotWriter writer({.folder = path}, {});
    writer.setRecording(true);
    writer.add(second->result, nullptr, "rtsp://u:geheim@camera");
  }
  PictureStore store(folder.filePath("none"));
  QSignalSpy listed(&store, &PictureStore::listed), loaded(&store, &PictureStore::loaded);
  store.list(QString::fromStdString(path));  // that of a camera of a watch file
  ASSERT_TRUE(listed.wait(60000));
  ASSERT_EQ(store.pictures().size(), 2U) << "the overlay is not a picture of its own";
  EXPECT_NEAR(store.pictures()[0].time, 1770000000.123, 1e-6);
  EXPECT_TRUE(store.pictures()[0].owner.sameAs({"demo:", "d"}));
  EXPECT_EQ(store.pictures()[1].owner.source, "rtsp://***@camera") << "a recording tells of its source too";
  EXPECT_THAT(store.filesOf({"demo:", "d"}), ElementsAre(QString::fromStdString(picture)));
  EXPECT_THAT(store.filesOf({"demo:", "another"}), IsEmpty());
  EXPECT_EQ(store.lastOf({"demo:", "d"}, time + 1), QString::fromStdString(picture));
  EXPECT_EQ(store.lastOf({"demo:", "d"}, time), "");
  store.load(QString::fromStdString(picture), {}, 5);
  ASSERT_TRUE(loaded.wait(60000));
  const auto& [frame, taken, areas, classes, text, source, last, question] = loaded[0][0].value<StoredSample>();
  EXPECT_EQ(frame->image().at<cv::Vec3b>(3, 3), cv::Vec3b(10, 120, 240));
  EXPECT_FALSE(frame->overlay.empty());
  EXPECT_EQ(frame->result.estimate.tokens, (std::vector<double>{6, 5}));
  EXPECT_EQ(frame->sample.view_offset.right, 12) << "outlines move along";
  EXPECT_EQ(taken, 1770000000123);
  EXPECT_EQ(frame->result.frame.time, taken) << "a region that was not valid then is not drawn over it";
  EXPECT_EQ(source, "demo:");
  EXPECT_EQ(question, 5);
  EXPECT_EQ(areas.value({}).value("road"), 1);
  EXPECT_EQ(areas.value("lake").value("sky"), 0.25);
  cv::imwrite(picture.substr(0, picture.size() - 4) + "_overlay.png", frame->overlay.rowRange(1, 16));
  store.load(QString::fromStdString(picture), {}, 5);
  ASSERT_TRUE(loaded.wait(5000));
  EXPECT_TRUE(loaded[1][0].value<StoredSample>().frame->overlay.empty()) << "of another size";
}

// It was stored before: now nothing of it shows what is to be hidden.
TEST(PictureStore, WhatIsHiddenByNowIsNotShown) {
  const QTemporaryDir folder;
  monitor::Sample sample;
  sample.view_offset = {.right = 12};
  const QString picture = QString::fromStdString(
      monitor::writeSnapshot(folder.path().toStdString(), frameAt(1770000000123)->result, sample, {"demo:", "d"}));
  PictureStore store(folder.path());
  QSignalSpy loaded(&store, &PictureStore::loaded);
  const auto load = [&](const monitor::PrivacyOptions& hidden) {
    store.load(picture, hidden, 1);
    EXPECT_TRUE(loaded.wait(60000));
    return loaded.takeFirst()[0].value<StoredSample>().frame;
  };
  const auto isBlack = [](const cv::Mat& image, const cv::Rect& part) {
    return cv::countNonZero(image(part).reshape(1)) == 0;
  };
  EXPECT_FALSE(load({})->result.hidden_by);
  const auto hidden =
      load({.hidden = {{.name = "left", .size = {24, 16}, .polygons = {{{0, 0}, {3, 0}, {3, 15}, {0, 15}}}}}});
  for (const cv::Mat& image : {hidden->image(), hidden->scales[0], hidden->overlay}) {
    EXPECT_TRUE(isBlack(image, {12, 0, 4, 16})) << "where the view had moved to";
    EXPECT_FALSE(isBlack(image, {0, 0, 11, 16}));
  }
  EXPECT_TRUE(hidden->result.hidden_by) << "a copy of it is for the group";

  const std::string stem = picture.chopped(4).toStdString();
  cv::imwrite(stem + "_depth.png", cv::Mat(16, 24, CV_16U, cv::Scalar(7)));
  EXPECT_FALSE(load({})->overlay.empty());
  EXPECT_TRUE(load({.blurred = {"person"}})->overlay.empty());
}

// A day shows the picture that is nearest to the moment, without what is hidden by now.
TEST(Calendar, HasTheDaysOfAYearAndTheirPictures) {
  const mpm::test::LocalZone zone("UTC");
  const mpm::test::TemporaryFolder folder;
  using monitor::test::kNoon;
  std::vector<monitor::Sample> samples;
  for (int day = 0; day < 3; ++day) {
    samples.push_back(monitor::test::sampleAt(kNoon + day * kDayMs, 100.0 + day));
    samples.back().states = {
        {.name = "gate", .state = "open", .probability = 1, .sure = true, .counted = day < 2 ? "shut" : "open"}};
  }
  monitor::test::record(folder / "a.db", samples);
  const std::string id = monitor::StoreReader(folder / "a.db").id();
  monitor::Sample flagged, good;
  flagged.whole().set("flagged", 1);
  std::vector<StoredPicture> pictures;
  for (const auto& [time, sample] : {std::pair(kNoon, flagged),
                                     {kNoon + kHourMs, good},
                                     {kNoon + kDayMs - kHourMs, good},
                                     {kNoon + kDayMs + 4 * kHourMs, good}}) {
    const auto path = monitor::writeSnapshot(folder / "shots", frameAt(time)->result, sample, {"camera 0", id});
    pictures.push_back({static_cast<double>(time) / 1000, QString::fromStdString(path), {"camera 0", id}});
  }
  CalendarReader reader;
  QSignalSpy read(&reader, &CalendarReader::read), pictured(&reader, &CalendarReader::pictured),
      failed(&reader, &CalendarReader::failed);
  CalendarQuestion question{.database = QString::fromStdString(folder / "a.db"),
                            .source = monitor::StoreReader(folder / "a.db").sources().at(0),
                            .pictures = pictures};
  question.hidden.hidden = {{.name = "left", .size = {24, 16}, .polygons = {{{0, 0}, {3, 0}, {3, 15}, {0, 15}}}}};
  CalendarPanel panel;
  const auto choose = [&](const char* name, const char* text) {
    for (QComboBox* box : panel.findChildren<QComboBox*>())
      if (box->accessibleName() == QLatin1String(name)) box->setCurrentText(QString::fromUtf8(text));
  };
  const auto says = [&](const char* text) {
    const auto labels = panel.findChildren<QLabel*>();
    return std::ranges::any_of(labels,
                               [&](const QLabel* label) { return label->text().startsWith(QString::fromUtf8(text)); });
  };
  const auto ask = [&] {
    panel.choose(question);
    reader.ask(question);
    EXPECT_TRUE(read.wait(60000));
    return read.takeFirst()[0].value<CalendarAnswer>();
  };
  const CalendarAnswer answer = ask();
  ASSERT_EQ(answer.drawing.days.size(), 3u);
  EXPECT_EQ(answer.year, 2026);
  EXPECT_EQ(answer.drawing.days[0].value, 100);
  EXPECT_EQ(answer.drawing.days[0].taken, kNoon + kHourMs) << "the nearer one is flagged";
  EXPECT_EQ(answer.drawing.days[1].taken, kNoon + kDayMs - kHourMs);
  EXPECT_EQ(answer.drawing.days[2].picture, "");
  ASSERT_TRUE(QTest::qWaitFor([&] { return pictured.size() == 2; }, 60000));
  const QImage first = pictured[0][1].value<QImage>();
  EXPECT_EQ(first.pixelColor(1, 8), QColor(0, 0, 0)) << "hidden";
  EXPECT_EQ(first.pixelColor(20, 8), QColor(240, 120, 10));

  panel.setAnswer(answer);
  panel.resize(700, 400);
  panel.show();
  panel.view()->setPicture(0, first);
  QSignalSpy picked(&panel, &CalendarPanel::picked);
  QTest::keyClick(panel.view(), Qt::Key_Right);
  EXPECT_TRUE(says("Mon 1 Jun 2026: 100.0, picture of 13:00"));
  QTest::keyClick(panel.view(), Qt::Key_Return);
  EXPECT_EQ(picked.takeFirst()[0].toLongLong(), kNoon + kHourMs);
  QTest::mouseClick(panel.view(), Qt::LeftButton, {}, panel.view()->placeOf(1).center().toPoint());
  EXPECT_EQ(picked.takeFirst()[0].toLongLong(), kNoon + kDayMs - kHourMs);
  QTest::mouseClick(panel.view(), Qt::LeftButton, {}, panel.view()->placeOf(2).center().toPoint());
  EXPECT_TRUE(picked.isEmpty()) << "it has no picture";
  EXPECT_TRUE(says("Wed 3 Jun 2026: 102"));

  ASSERT_EQ(panel.view()->drawnPictures(), std::set<std::string>({answer.drawing.days[0].picture}));
  question.known = panel.view()->drawnPictures();
  pictured.clear();
  (void)ask();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !pictured.empty(); }, 60000));
  QTest::qWait(50);
  ASSERT_EQ(pictured.size(), 1) << "the one that is known is not read again";
  EXPECT_EQ(pictured[0][0].toInt(), 1);
  question.known.clear();

  choose("Colour of a day", "gate: shut");
  const CalendarAnswer shut = ask();
  EXPECT_EQ(shut.drawing.days[0].value, 100) << "percent";
  EXPECT_NEAR(*shut.drawing.days[2].value, 100, 0.01) << "it opens with the last sample";
  choose("Picture of a day", "sun at 20°, morning");
  panel.choose(question);
  reader.ask(question);
  ASSERT_TRUE(failed.wait(60000));
  EXPECT_THAT(failed[0][0].toString(), Has("place of the camera"));
}

// The file of a day that was renamed is found by its content.
TEST(Calendar, FindsPicturesOfAnArchiveThatWereRenamed) {
  const mpm::test::LocalZone zone("UTC");
  const mpm::test::TemporaryFolder folder;
  using monitor::test::kNoon;
  namespace fs = std::filesystem;
  const std::string archive = folder / "archive";
  fs::create_directories(archive);
  {
    monitor::StoreWriter writer(folder / "a.db");
    writer.beginSession(monitor::test::session(archive), kNoon);
    for (int day = 0; day < 3; ++day) {
      const std::string name = std::to_string(day) + ".png";
      cv::imwrite(archive + "/" + name, cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(50 + 50 * day)));
      monitor::Sample sample = monitor::test::sampleAt(kNoon + day * kDayMs);
      sample.picture = name;
      sample.digest = vision::pictureDigest(archive + "/" + name);
      writer.append(sample);
    }
    ASSERT_TRUE(writer.flush());
  }
  fs::rename(archive + "/1.png", archive + "/noon.png");
  fs::remove(archive + "/2.png");
  cv::imwrite(archive + "/other.png", cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(7)));
  const monitor::SourceRecord source = monitor::StoreReader(folder / "a.db").sources().at(0);
  CalendarReader reader;
  QSignalSpy read(&reader, &CalendarReader::read), pictured(&reader, &CalendarReader::pictured);
  reader.ask({.database = QString::fromStdString(folder / "a.db"), .source = source});
  ASSERT_TRUE(read.wait(60000));
  const auto days = read[0][0].value<CalendarAnswer>().drawing.days;
  ASSERT_EQ(days.size(), 3u);
  EXPECT_EQ(days[0].picture, archive + "/0.png");
  EXPECT_EQ(days[1].picture, archive + "/noon.png");
  EXPECT_EQ(days[2].picture, "") << "it is gone, and the other one was never measured";
  ASSERT_TRUE(QTest::qWaitFor([&] { return pictured.size() == 2; }, 60000));
  EXPECT_EQ(pictured[1][1].value<QImage>().pixelColor(4, 4), QColor(100, 100, 100));

  // A click on the day asks for the sample.
  History history;
  QSignalSpy sources(&history, &History::sourcesChanged), shown(&history, &History::sampleReady);
  history.setDatabase(QString::fromStdString(folder / "a.db"));
  ASSERT_TRUE(sources.wait(60000));
  history.askSample(source, kNoon + kDayMs, kHourMs, {}, 1);
  ASSERT_TRUE(shown.wait(60000));
  const LiveFramePtr frame = shown[0][0].value<StoredSample>().frame;
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->result.frame.image.at<cv::Vec3b>(4, 4), cv::Vec3b(100, 100, 100));
}

charts::CalendarDrawing calendarOf(const std::vector<std::pair<int, std::string>>& days) {
  charts::CalendarDrawing calendar{.clock = vision::CameraClock("UTC")};
  for (const auto& [day, picture] : days) {
    calendar.days.push_back({.start = vision::timeOfIso("2026-06-01T00:00:00Z").value() + day * kDayMs,
                             .value = day,
                             .text = {},
                             .picture = picture});
  }
  calendar.from = calendar.days.front().start;
  calendar.to = calendar.days.back().start + kDayMs;
  return calendar;
}

// 2026-06-01 was a Monday.
TEST(Calendar, UpAndDownGoToTheSameDayOfAnotherWeek) {
  CalendarView view;
  view.setCalendar(calendarOf({{0, ""}, {1, ""}, {2, ""}, {4, ""}, {9, ""}, {10, ""}, {16, ""}, {22, ""}, {23, ""}}));
  QSignalSpy marked(&view, &CalendarView::marked);
  const auto after = [&](Qt::Key key) {
    QTest::keyClick(&view, key);
    return marked.takeLast()[0].toInt();
  };
  EXPECT_EQ(after(Qt::Key_Down), 0) << "without a mark";
  EXPECT_EQ(after(Qt::Key_Right), 1);
  EXPECT_EQ(after(Qt::Key_Right), 2);
  EXPECT_EQ(after(Qt::Key_Down), 4) << "Wednesday the 10th";
  EXPECT_EQ(after(Qt::Key_Down), 6) << "the 17th";
  EXPECT_EQ(after(Qt::Key_Down), 8) << "the 24th";
  EXPECT_EQ(after(Qt::Key_Down), 8) << "there is none below";
  EXPECT_EQ(after(Qt::Key_Left), 7);
  EXPECT_EQ(after(Qt::Key_Up), 1) << "the Tuesdays between have no samples";
  EXPECT_EQ(after(Qt::Key_Up), 1);
  EXPECT_EQ(after(Qt::Key_End), 8);
}

TEST(Calendar, PicturesAndMarkStayWhenDaysCome) {
  CalendarView view;
  view.setCalendar(calendarOf({{3, "a"}, {4, "b"}, {5, "c"}}));
  QImage picture(4, 3, QImage::Format_RGB888);
  picture.fill(Qt::red);
  view.setPicture(0, picture);
  view.setPicture(1, picture);
  QTest::keyClick(&view, Qt::Key_Right);
  QTest::keyClick(&view, Qt::Key_Right);
  view.setCalendar(calendarOf({{1, "z"}, {3, "a"}, {4, "other"}, {5, "c"}}));
  EXPECT_EQ(view.drawnPictures(), std::set<std::string>({"a"}));
  QSignalSpy marked(&view, &CalendarView::marked);
  QTest::keyClick(&view, Qt::Key_Left);
  EXPECT_EQ(marked.at(0)[0].toInt(), 1) << "left of the day that had the mark";
  view.setCalendar({});
  EXPECT_TRUE(view.drawnPictures().empty());
}

TEST(PictureStore, DamagedPictureFailsAndSaysWhy) {
  const QTemporaryDir folder;
  const QString path = QString::fromStdString(
      monitor::writeSnapshot(folder.path().toStdString(), frameAt(1770000000123)->result, {}, {"demo:"}));
  QFile file(path);
  ASSERT_TRUE(file.resize(file.size() - 20));
  PictureStore store(folder.path());
  QSignalSpy failed(&store, &PictureStore::failed);
  store.load(path, {}, 1);
  ASSERT_TRUE(failed.wait(60000));
  EXPECT_THAT(failed[0][0].toString(), Has(path + "': the file is damaged or cut off"));
}

TEST(PictureStore, APictureThatCannotBeWrittenIsNamedAndLeavesNothing) {
  const QTemporaryDir folder;
  PictureStore store(folder.path());
  QSignalSpy failed(&store, &PictureStore::failed), saved(&store, &PictureStore::saved);
  const QString name = folder.filePath("a.png");
  const QImage picture(4, 4, QImage::Format_RGB32);
  store.save([&] { return picture; }, folder.filePath("none/a.png"));
  store.save([] { return QImage(); }, name);
  store.save([&] { return QDir().mkdir(name) ? picture : QImage(); }, name);  // a folder has the name by now
  ASSERT_TRUE(QTest::qWaitFor([&] { return failed.count() + saved.count() == 3; }, 60000));
  EXPECT_EQ(failed.count(), 3);
  for (const auto& why : failed) EXPECT_THAT(why[0].toString(), Has("a.png cannot be written"));
  EXPECT_EQ(QDir(folder.path()).entryList(QDir::Files), QStringList());
}

TEST(PictureStore, NearestWithinTheTolerance) {
  const monitor::PictureOwner yard{"yard", "d"}, street{"street", "d"}, hiding{"yard", "another"};
  const std::vector<StoredPicture> pictures = {{10, "a", yard}, {14, "x", street}, {20, "b", yard}, {40, "c", yard}};
  EXPECT_EQ(nearestPicture(pictures, yard, 14, 10)->path, "a");
  EXPECT_EQ(nearestPicture(pictures, street, 16, 10)->path, "x");
  EXPECT_EQ(nearestPicture(pictures, yard, 16, 10)->path, "b");
  EXPECT_EQ(nearestPicture(pictures, yard, 36, 4)->path, "c");
  EXPECT_EQ(nearestPicture(pictures, yard, 24, 4)->path, "b");
  EXPECT_EQ(nearestPicture(pictures, street, 40, 10), nullptr);
  EXPECT_EQ(nearestPicture(pictures, hiding, 14, 10), nullptr) << "a camera of the same stream, with another database";
  EXPECT_EQ(nearestPicture(pictures, yard, 99, 10), nullptr);
  EXPECT_EQ(nearestPicture({}, yard, 16, 10), nullptr);
}

TEST(CountAges, CountsFramesSinceARowWasComputed) {
  std::vector<int> ages;
  Estimate estimate;
  const auto counted = [&] {
    countAges(ages, estimate);
    return ages;
  };
  estimate.grid = {1, 3};
  EXPECT_TRUE(counted().empty()) << "without reuse";
  estimate.reuse = ReuseReport{.key_frame = true};
  EXPECT_THAT(counted(), ElementsAre(0, 0, 0));
  estimate.reuse = ReuseReport{.patches = {1}};
  EXPECT_THAT(counted(), ElementsAre(1, 0, 1));
  estimate.reuse->patches = {2};
  EXPECT_THAT(counted(), ElementsAre(2, 1, 0));
  estimate.grid = {2, 1};
  EXPECT_THAT(counted(), ElementsAre(0, 0)) << "of another model";
  estimate.reuse->key_frame = true;
  estimate.grid = {1, 3};
  EXPECT_THAT(counted(), ElementsAre(0, 0, 0));
}

TEST(LiveFrame, ComparesWithAnotherReduction) {
  monitor::InferenceResult result = frameAt(1)->result;
  result.estimate.ms.total = 10;
  result.compared = {result.estimate, parseReduction("tome:count=1")};
  Estimate& other = result.compared->estimate;
  other.ms.total = 25;
  other.tokens = {6, 4};
  other.labels = result.estimate.labels.clone();
  other.labels(cv::Rect(0, 0, 12, 16)).setTo(0);
  for (const cv::Mat& part : {other.labels.colRange(0, 12), other.labels.rowRange(0, 8)}) {
    monitor::InferenceResult of_two_sizes = result;
    of_two_sizes.compared->estimate.labels = part;
    of_two_sizes.estimate.depth = cv::Mat(16, 24, CV_32F, cv::Scalar(1));
    of_two_sizes.compared->estimate.depth = cv::Mat(part.size(), CV_32F, cv::Scalar(2));
    const LiveFramePtr differ = makeLiveFrame(std::move(of_two_sizes));
    EXPECT_TRUE(differ->comparison->picture.isNull() && !differ->comparison->depth_difference) << part.size();
  }
  monitor::InferenceResult reusing = result;
  reusing.estimate.reuse = ReuseReport{.rows = 0.25};
  const LiveFramePtr frame = makeLiveFrame(std::move(result));
  ASSERT_TRUE(frame->comparison);
  EXPECT_EQ(frame->comparison->agreement, 50);
  EXPECT_EQ(frame->comparison->picture.pixelColor(3, 3), QColor(255, 140, 0));
  EXPECT_EQ(frame->comparison->picture.pixelColor(20, 3).saturation(), 0);
  ComparePanel panel;
  panel.box()->setChecked(true);
  panel.setFrame(frame);
  const auto text = [&panel] {
    QStringList texts;
    for (const auto* label : panel.findChildren<QLabel*>()) texts << label->text().remove(QChar(0x200b));
    return texts.join(' ');
  };
  EXPECT_THAT(text(), Has("mpm:blocks=2 10.0 ms 5 tome:count=1 25.0 ms 4 The live one is 2.50 times as fast"));
  panel.setFrame(makeLiveFrame(std::move(reusing)));
  EXPECT_THAT(text(), AllOf(Has("it computed 25.0 % of them"), Not(Has("times as fast"))));
  EXPECT_EQ(frame->tokenAt({0.4, 0.9}), 4);
  EXPECT_EQ(frame->classOfToken(0), 1);
  EXPECT_EQ(frame->classOfToken(6), std::nullopt);
}

TEST(LiveFrame, TheScoreOfAPatchIsThatOfTheClassOfMostPixels) {
  monitor::InferenceResult result = frameAt(1)->result;
  result.estimate.token_score = {0.5F, 0.6F, 0.7F, 0.8F, 0.9F, 1};
  cv::Mat& labels = result.estimate.labels;  // patches of 8 x 8 px
  labels(cv::Rect(3, 3, 1, 1)).setTo(0);
  labels(cv::Rect(8 + 4, 4, 1, 1)).setTo(0);
  labels(cv::Rect(16, 0, 3, 8)).setTo(0);
  labels(cv::Rect(0, 8, 5, 8)).setTo(0);
  const LiveFramePtr frame = makeLiveFrame(std::move(result));
  EXPECT_EQ(frame->scoreOfToken(0), std::nullopt) << "another class is in the middle";
  EXPECT_EQ(frame->scoreOfToken(1), std::nullopt) << "a corner of the middle";
  EXPECT_EQ(frame->scoreOfToken(2), static_cast<double>(0.7F)) << "another one is at its edge";
  EXPECT_EQ(frame->classOfToken(3), 0);
  EXPECT_EQ(frame->scoreOfToken(3), static_cast<double>(0.8F));
}

TEST(LiveFrame, SaysNothingOfHiddenPatches) {
  monitor::InferenceResult result = frameAt(1)->result;
  result.estimate.token_score.assign(6, 0.5F);
  result.hidden = cv::Mat::zeros(16, 24, CV_8U);
  result.hidden(cv::Rect(10, 7, 1, 1)).setTo(255);
  const LiveFramePtr frame = makeLiveFrame(monitor::InferenceResult(result), {}, std::vector<int>(6));
  EXPECT_EQ(frame->row_age, (std::vector<int>{0, -1, 0, 0, 0, 0}));
  EXPECT_EQ(rowAge(*frame, {12.5 / 24, 4.5 / 16}), "hidden");
  PatchSelection selection;
  selection.setStep(1);
  LegendModel legend;
  legend.setClasses(*result.model);
  InspectorPanel panel(&selection, &legend);
  panel.setFrame(frame);
  const auto said = [&](int token) {
    selection.point(token, std::nullopt);
    QStringList texts;
    for (const auto* label : panel.findChildren<QLabel*>())
      if (label->isVisibleTo(&panel)) texts << label->accessibleName();
    return texts.join(QLatin1Char('\n'));
  };
  EXPECT_THAT(said(0), AllOf(Has("Class: sky"), Has("Score: 50.0 %"), Has("Size: 1 patch")))
      << "without the hidden one";
  EXPECT_THAT(said(1), AllOf(Has("Class: hidden"), Has("Patch: row 0, column 1"), Not(Has("%")), Not(Has("Cluster"))));
  EXPECT_THAT(said(2), AllOf(Has("Class: sky"), Has("Score: 50.0 %"), Has("Cluster: 1 of 5")));

  result.estimate.depth = cv::Mat(16, 24, CV_32F, cv::Scalar(2));
  const LiveFramePtr depths = makeLiveFrame(std::move(result));
  EXPECT_EQ(readout(*depths, {10.5 / 24, 7.5 / 16}), "hidden");
  EXPECT_THAT(readout(*depths, {11.5 / 24, 7.5 / 16}), Begins("2"));
}

}  // namespace
}  // namespace mpm::gui
