// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <atomic>
#include <opencv2/imgcodecs.hpp>

#include "gui/models/picture_store.h"

namespace mpm::gui {
namespace {

LiveFramePtr frameAt(monitor::UnixMs time) {
  monitor::InferenceResult result;
  result.frame.image = cv::Mat(16, 24, CV_8UC3, cv::Scalar(10, 120, 240));
  result.frame.time = time;
  result.segmentation.labels = cv::Mat(16, 24, CV_8U, cv::Scalar(1));
  result.segmentation.grid = {2, 3};
  result.segmentation.cluster_of_token = {{0, 0, 1, 2, 3, 4}};
  result.segmentation.tokens = {6, 5};
  auto info = std::make_shared<ModelInfo>();
  info->classes = 2;
  info->schedule = {2};
  info->facts.classes = {{"road", {1, 2, 3}}, {"sky", {4, 5, 6}}};
  result.model = info;
  return makeLiveFrame(std::move(result));
}

TEST(PictureStore, SnapshotIsAPictureAnOverlayAndItsFacts) {
  QTemporaryDir folder;
  PictureStore store(folder.filePath(QStringLiteral("pics")));
  QSignalSpy written(&store, &PictureStore::written), listed(&store, &PictureStore::listed),
      loaded(&store, &PictureStore::loaded);
  const qint64 time = 1770000000123;
  ASSERT_TRUE(store.write(frameAt(time), {0.5, QStringLiteral("demo:")}));
  ASSERT_TRUE(written.wait(5000));
  const QString path = written[0][0].toString();
  const cv::Mat clean = cv::imread(path.toStdString());
  ASSERT_FALSE(clean.empty());
  EXPECT_EQ(clean.at<cv::Vec3b>(3, 3), cv::Vec3b(10, 120, 240));
  EXPECT_FALSE(cv::imread((path.chopped(4) + QStringLiteral("_overlay.png")).toStdString()).empty());
  QFile json(path.chopped(4) + QStringLiteral(".json"));
  ASSERT_TRUE(json.open(QIODevice::ReadOnly));
  const QJsonDocument facts = QJsonDocument::fromJson(json.readAll());
  EXPECT_EQ(facts[QStringLiteral("tokens")][1].toDouble(), 5);
  EXPECT_TRUE(facts[QStringLiteral("night")].isNull());

  ASSERT_TRUE(store.write(frameAt(time + 1000), {0.5, QStringLiteral("rtsp://u:geheim@camera")},
                          PictureStore::Occasion::kRecording));
  ASSERT_TRUE(written.wait(5000));
  store.list();
  ASSERT_TRUE(listed.wait(5000));
  ASSERT_EQ(store.pictures().size(), 2U) << "the overlay is not a picture of its own";
  EXPECT_NEAR(store.pictures()[0].time, 1770000000.123, 1e-6);
  EXPECT_EQ(store.pictures()[0].source, QStringLiteral("demo:"));
  EXPECT_EQ(store.pictures()[1].source, QStringLiteral("rtsp://***@camera")) << "a recording tells of its source too";
  store.load(path);
  ASSERT_TRUE(loaded.wait(5000));
}

TEST(PictureStore, ASnapshotHasTheChosenColoursAndSaysWhetherItIsNight) {
  QTemporaryDir folder;
  PictureStore store(folder.path());
  QSignalSpy written(&store, &PictureStore::written);
  const std::vector<cv::Vec3b> colors = {{0, 0, 0}, {0, 0, 255}};
  ASSERT_TRUE(store.write(frameAt(1770000000123), {1.0, QStringLiteral("demo:"), true, colors}));
  ASSERT_TRUE(written.wait(5000));
  const QString stem = written[0][0].toString().chopped(4);
  EXPECT_EQ(cv::imread((stem + QStringLiteral("_overlay.png")).toStdString()).at<cv::Vec3b>(3, 3), colors[1]);
  QFile json(stem + QStringLiteral(".json"));
  ASSERT_TRUE(json.open(QIODevice::ReadOnly));
  EXPECT_TRUE(QJsonDocument::fromJson(json.readAll())[QStringLiteral("night")].toBool());
}

TEST(PictureStore, RetentionForgetsTheOld) {
  QTemporaryDir folder;
  PictureStore store(folder.path());
  store.setRetention(10, 0);
  QSignalSpy written(&store, &PictureStore::written);
  const qint64 now = QDateTime::currentMSecsSinceEpoch();
  for (const int days : {30, 20, 5, 0}) {
    ASSERT_TRUE(store.write(frameAt(now - days * 86400000LL), {0.5, {}}));
    ASSERT_TRUE(written.wait(5000));
  }
  EXPECT_EQ(QDir(folder.path()).entryList({QStringLiteral("*.json")}, QDir::Files).size(), 2);
}

TEST(PictureStore, AClockThatIsWrongMakesNoPictureOld) {
  QTemporaryDir folder;
  const qint64 right = QDateTime::currentMSecsSinceEpoch(), year = 365LL * 86400000;
  const auto pictures = [&] { return QDir(folder.path()).entryList({QStringLiteral("*.json")}, QDir::Files).size(); };
  std::atomic<qint64> clock = right;
  const auto run = [&](int first, int last) {
    PictureStore store(folder.path(), nullptr, [&] { return clock.load(); });
    store.setRetention(10, 0);
    QSignalSpy written(&store, &PictureStore::written);
    for (int second = first; second <= last; ++second) {
      if (second == 2) clock = right + 12 * year;
      ASSERT_TRUE(store.write(frameAt(right + second * 1000), {0.5, {}}));
      ASSERT_TRUE(written.wait(5000));
    }
  };
  run(0, 2);
  EXPECT_EQ(pictures(), 3) << "it jumps while the program runs";
  run(3, 3);
  EXPECT_EQ(pictures(), 4) << "and is still wrong when it begins anew";
}

TEST(PictureStore, TheNewestPictureStaysHoweverFullTheDisk) {
  QTemporaryDir folder;
  PictureStore store(folder.path());
  store.setRetention(0, 1e12);
  QSignalSpy written(&store, &PictureStore::written), forgotten(&store, &PictureStore::forgotten);
  const qint64 now = QDateTime::currentMSecsSinceEpoch();
  for (const int second : {1, 2, 3}) {
    ASSERT_TRUE(store.write(frameAt(now + second * 1000), {0.5, {}}));
    ASSERT_TRUE(written.wait(5000));
  }
  for (const auto& signal : written.mid(1))
    EXPECT_TRUE(QFile::exists(signal[0].toString())) << "the last, the one before";
  ASSERT_EQ(forgotten.size(), 1);
  EXPECT_GT(forgotten[0][0].toInt(), 1) << "the files of the first";
}

TEST(PictureStore, RecordingsAndTimeLapsesLeaveAReserve) {
  QTemporaryDir folder;
  if (::mount("tmpfs", folder.path().toStdString().c_str(), "tmpfs", 0, "size=8m") != 0)
    GTEST_SKIP() << "a file system of eight megabytes needs the right to mount";
  {
    PictureStore store(folder.path());
    QSignalSpy written(&store, &PictureStore::written), failed(&store, &PictureStore::failed);
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    for (const auto occasion : {PictureStore::Occasion::kRecording, PictureStore::Occasion::kTimeLapse}) {
      ASSERT_TRUE(store.write(frameAt(now), {0.5, {}}, occasion));
      ASSERT_TRUE(failed.wait(5000));
      EXPECT_TRUE(failed.takeFirst()[0].toString().contains(QStringLiteral("Less than 200 MB")));
    }
    EXPECT_TRUE(written.isEmpty());
    ASSERT_TRUE(store.write(frameAt(now), {0.5, {}}));
    EXPECT_TRUE(written.wait(5000)) << "what a person asks for";
  }
  ::umount2(folder.path().toStdString().c_str(), MNT_DETACH);
}

TEST(PictureStore, AFolderThatCannotBeMadeIsSaid) {
  QTemporaryDir folder;
  QFile file(folder.filePath(QStringLiteral("file")));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  PictureStore store(folder.filePath(QStringLiteral("file/pics")));
  QSignalSpy failed(&store, &PictureStore::failed);
  ASSERT_TRUE(store.write(frameAt(1000), {0.5, {}}));
  ASSERT_TRUE(failed.wait(5000));
  EXPECT_TRUE(failed[0][0].toString().contains(QStringLiteral("file/pics")));
}

TEST(PictureStore, NearestWithinTheTolerance) {
  const QString yard = QStringLiteral("yard"), street = QStringLiteral("street");
  const std::vector<StoredPicture> pictures = {{10, QStringLiteral("a"), yard},
                                               {14, QStringLiteral("x"), street},
                                               {20, QStringLiteral("b"), yard},
                                               {40, QStringLiteral("c"), yard}};
  EXPECT_EQ(nearestPicture(pictures, yard, 14, 10)->path, QStringLiteral("a"));
  EXPECT_EQ(nearestPicture(pictures, street, 16, 10)->path, QStringLiteral("x"));
  EXPECT_EQ(nearestPicture(pictures, yard, 16, 10)->path, QStringLiteral("b"));
  EXPECT_EQ(nearestPicture(pictures, street, 40, 10), nullptr);
  EXPECT_EQ(nearestPicture(pictures, yard, 99, 10), nullptr);
  EXPECT_EQ(nearestPicture({}, yard, 16, 10), nullptr);
}

TEST(LiveFrame, ComparesWithTheFullModel) {
  monitor::InferenceResult result = frameAt(1)->result;
  result.segmentation.ms.total = 10;
  result.full = result.segmentation;
  result.full->ms.total = 25;
  result.full->labels = result.segmentation.labels.clone();
  result.full->labels(cv::Rect(0, 0, 12, 16)).setTo(0);
  const LiveFramePtr frame = makeLiveFrame(std::move(result));
  ASSERT_TRUE(frame->comparison);
  EXPECT_DOUBLE_EQ(frame->comparison->agreement, 0.5);
  EXPECT_DOUBLE_EQ(frame->comparison->speed_up, 2.5);
  EXPECT_EQ(frame->comparison->differs.at<std::uint8_t>(3, 3), 255);
  EXPECT_EQ(frame->classOfToken(0), 1);
  EXPECT_EQ(frame->classOfToken(6), std::nullopt);
}

}  // namespace
}  // namespace mpm::gui
