// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <opencv2/imgcodecs.hpp>

#include "gui/views/cameras_page.h"
#include "monitor/samples.h"
#include "text.h"
#include "vision/pictures/pictures.h"
#include "wall_clock.h"

namespace mpm::gui {
namespace {

using namespace monitor::test;

// 11:00 of a day by the clock of this machine.
const QDateTime kMorning(QDate(2026, 6, 1), QTime(11, 0));

class CamerasTest : public InFolder {
 protected:
  void open(const std::string& text) {
    std::ofstream(folder_ / "cameras.toml") << text;
    list_.open(QString::fromStdString(folder_ / "cameras.toml"));
  }
  // What a camera says once each line of it has come.
  testing::AssertionResult says(int row, const QString& piece, int role = Qt::DisplayRole) {
    list_.showAll();
    const auto text = [&] { return list_.item(row)->data(role).toString(); };
    if (QTest::qWaitFor([&] { return text().contains(piece); }, 60000)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << text();
  }

  CamerasPage list_;
};

TEST_F(CamerasTest, EachSaysItsStateAndTheNumbersOfItsLastDay) {
  const UnixMs morning = kMorning.toMSecsSinceEpoch();
  std::vector<monitor::Sample> samples = {sampleAt(morning - kDayMs, 100), sampleAt(morning - 20000, 300),
                                          sampleAt(morning, 401, true)};
  samples.back().states = {{.name = "gate", .state = "open", .counted = "open"}, {.name = "lamp"}};
  record(path_, samples, session("rtsp://street/1"));
  record(path_, {sampleAt(morning + 10000)}, session("rtsp://before/1"));
  record(folder_ / "d.db", {sampleAt(morning)}, session("demo:street"));
  open(
      "[[camera]]\nname = 'yard'\nsource = 'rtsp://street/1'\ndb = 'a.db'\n"
      "[[camera]]\nname = 'shed'\nsource = 'rtsp://me:secret@shed/1'\ndb = 'b.db'\n"
      "[[camera]]\nname = 'barn'\ntitle = 'The barn'\nsource = '0'\ndb = 'c.db'\n"
      "[[camera]]\nname = 'scene'\nsource = 'demo:street'\ndb = 'd.db'\n"
      "[[camera]]\nname = 'lane'\nsource = 'rtsp://lane/1'\ndb = 'e.db'\n"
      "[[camera]]\nname = 'lake'\nsource = 'rtsp://lake/1'\ndb = 'f.db'\n");
  std::ofstream(folder_ / "c.db") << std::string(5000, 'x');
  for (const auto& [name, database] : {std::pair("lane", "e.db"), {"lake", "f.db"}}) {
    monitor::StoreWriter writer(folder_ / database);
    writer.setSource(std::string("rtsp://") + name + "/1");
    writer.append(
        {morning, monitor::EventKind::kSource, monitor::Severity::kWarning, std::string("no route to the ") + name});
    writer.append(eventAt(morning + 1, "another try"));
    if (name == std::string("lake")) writer.append(monitor::Recorded{.alarms = {{{"no-frame>60", morning, true}}}});
    ASSERT_TRUE(writer.flush());
  }
  ASSERT_EQ(list_.count(), 6);
  EXPECT_TRUE(says(0, "yard\n■ ended  ·  "));
  EXPECT_TRUE(says(0, "ago\nnight  ·  gate: open  ·  lamp: not known\n"));
  EXPECT_TRUE(says(0, "1 Jun 2026  ·  2 sample(s)\nTokens kept 351  ·  Brightness 100"));
  EXPECT_TRUE(says(0, "yard, ended", Qt::AccessibleTextRole)) << "a screen reader says no sign";
  EXPECT_TRUE(says(3, "scene\n■ ended\n")) << "its clock does not say how long ago";
  EXPECT_TRUE(says(1, "shed\n□ nothing is stored yet"));
  EXPECT_TRUE(says(4, "lane\n□ nothing is stored yet\nno route to the lane"));
  EXPECT_TRUE(says(5, "lake\n□ nothing is stored yet\nno route to the lake")) << "which is a source by its alarm";
  EXPECT_TRUE(says(2, "The barn\n▲ cannot be read\n"));
  EXPECT_EQ(list_.item(2)->icon().actualSize(StoredCamera::kPicture), StoredCamera::kPicture) << "texts align";
  EXPECT_TRUE(says(1, "rtsp://***@shed/1", Qt::ToolTipRole));
  EXPECT_THROW(open("[[camera]]\nevry = 3\n"), Error);
  EXPECT_TRUE(list_.item(2)->text().startsWith("The barn\n")) << "they stay";
}

TEST_F(CamerasTest, AnArchiveShowsItsLastPictureWithoutWhatIsHidden) {
  const std::string archive = folder_ / "archive";
  QDir().mkpath(QString::fromStdString(archive));
  cv::imwrite(archive + "/1.png", cv::Mat(140, 224, CV_8UC3, cv::Scalar(0, 200, 0)));  // as small as it is shown
  monitor::Sample sample = sampleAt(kNoon);
  sample.picture = "1.png";
  sample.digest = vision::pictureDigest(archive + "/1.png");
  monitor::StoreWriter writer(path_);
  writer.beginSession(session(archive), kNoon);
  writer.append(sample);
  ASSERT_TRUE(writer.flush());
  open("[[camera]]\nname = 'yard'\nsource = 'archive'\ndb = 'a.db'\n");
  const auto color = [&](double x) {
    const QImage picture = list_.item(0)->icon().pixmap(StoredCamera::kPicture).toImage();
    return picture.pixelColor(static_cast<int>(x * picture.width()), picture.height() / 2);
  };
  const auto becomes = [&](const QColor& expected) {
    list_.showAll();
    return QTest::qWaitFor([&] { return color(0.1) == expected; }, 60000);
  };
  const QColor green(0, 200, 0);
  EXPECT_TRUE(becomes(green));
  std::ofstream(folder_ / "hide.json")
      << R"({"regions": [{"name": "left", "width": 64, "height": 48, "polygons": [[[0, 0], [20, 0], [20, 47], [0, 47]]]}]})";
  open("[[camera]]\nname = 'yard'\nsource = 'archive'\ndb = 'a.db'\nhide = 'hide.json'\n");
  EXPECT_TRUE(becomes(Qt::black)) << "the watch file says it, the database not yet";
  open("[[camera]]\nname = 'yard'\nsource = 'archive'\ndb = 'a.db'\n");
  EXPECT_TRUE(becomes(green));
  writer.setPrivacy(
      archive,
      monitor::PrivacyOptions{
          .hidden = {{.name = "left", .size = {64, 48}, .polygons = {{{0, 0}, {20, 0}, {20, 47}, {0, 47}}}}}}
          .json());
  ASSERT_TRUE(writer.flush());
  EXPECT_TRUE(becomes(Qt::black)) << "said since";
  EXPECT_EQ(color(0.8), green);
}

TEST_F(CamerasTest, IsFollowedWhileItIsWatched) {
  const WallClock at_noon((kMorning.toMSecsSinceEpoch() - unixNow()) / kSecondMs);
  const std::string stem = folder_ / "shots/" + fileTime(unixNow() - kMinuteMs, true);
  QDir().mkpath(QString::fromStdString(folder_ / "shots"));
  cv::imwrite(stem + ".png", cv::Mat(480, 640, CV_8UC3, cv::Scalar(0, 0, 200)));
  cv::imwrite(stem + "_overlay.png", cv::Mat(480, 640, CV_8UC3, cv::Scalar(0, 200, 0)));
  RunningWriter writer(path_);
  writer.append(sampleAt(unixNow()));
  ASSERT_TRUE(writer.flush());
  std::ofstream(stem + ".json") << R"({"source": "camera 0", "database": ")" << monitor::StoreReader(path_).id()
                                << "\"}";
  open("[[camera]]\nname = 'yard'\nsource = '0'\ndb = 'a.db'\nsnapshots = 'shots'\n");
  EXPECT_TRUE(says(0, "● online"));
  EXPECT_TRUE(says(0, "Today  ·  1 sample(s)"));
  const QImage picture = list_.item(0)->icon().pixmap(StoredCamera::kPicture).toImage();
  EXPECT_EQ(picture.size(), QSize(186, 140));
  EXPECT_GT(picture.pixelColor(90, 70).green(), 180) << "the overlay";
  for (const char* count : {"2 sample(s)", "3 sample(s)"}) {  // the first one may have been asked for before
    writer.append(sampleAt(unixNow()));
    ASSERT_TRUE(writer.flush());
    EXPECT_TRUE(QTest::qWaitFor([&] { return list_.item(0)->text().contains(count); }, 60000)) << "by itself";
  }
  writer.setPrivacy(
      "camera 0",
      monitor::PrivacyOptions{
          .hidden = {{.name = "all", .size = {640, 480}, .polygons = {{{0, 0}, {639, 0}, {639, 479}, {0, 479}}}}}}
          .json());
  ASSERT_TRUE(writer.flush());
  list_.showAll();
  EXPECT_TRUE(QTest::qWaitFor(
      [&] {
        const QImage now = list_.item(0)->icon().pixmap(StoredCamera::kPicture).toImage();
        return now.pixelColor(90, 70) == Qt::black;
      },
      60000))
      << "hidden since";
}

}  // namespace
}  // namespace mpm::gui
