// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/snapshot.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>

#include "monitor/samples.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

namespace fs = std::filesystem;
using mpm::test::TemporaryFolder;

InferenceResult result(UnixMs time) {
  InferenceResult result;
  result.frame.image = cv::Mat(8, 8, CV_8UC3, cv::Scalar(10, 20, 30));
  result.frame.time = time;
  result.segmentation.labels = cv::Mat::zeros(8, 8, CV_8U);
  auto info = std::make_shared<ModelInfo>();
  info->classes = 4;
  info->schedule = {2, 5};
  result.model = info;
  return result;
}

TEST(Snapshot, WritesTheFrameTheOverlayAndWhatIsKnown) {
  const TemporaryFolder folder;
  const std::string path =
      writeSnapshot(folder / "shots", result(kNoon + 250), sampleAt(kNoon + 250), "rtsp://u:hunter2@cam");
  EXPECT_EQ(path, folder / "shots/2026-06-01T12-00-00.250Z.png");
  EXPECT_EQ(cv::imread(path).at<cv::Vec3b>(3, 3), cv::Vec3b(10, 20, 30)) << "clean";
  EXPECT_NE(cv::imread(folder / "shots/2026-06-01T12-00-00.250Z_overlay.png").at<cv::Vec3b>(3, 3),
            cv::Vec3b(10, 20, 30));
  std::ifstream file(folder / "shots/2026-06-01T12-00-00.250Z.json");
  const auto json = nlohmann::json::parse(file);
  EXPECT_EQ(json["tokens"], nlohmann::json({660, 491, 377}));
  EXPECT_EQ(json["schedule"], nlohmann::json({2, 5}));
  EXPECT_EQ(json["source"], "rtsp://***@cam");
  EXPECT_EQ(json["area_fraction"]["class_0"], 0.75);
  EXPECT_MPM_ERROR(writeSnapshot("/dev/null/x", result(kNoon), sampleAt(kNoon), "0"), "/dev/null/x");
}

// As a folder inside somebody else's private one, or on a disk that fails: the system does not even say what it is.
TEST(Snapshot, AFolderThatCannotBeLookedAtIsAnErrorOfOurs) {
  const TemporaryFolder folder;
  const std::string unseen = folder / std::string(300, 'x');
  EXPECT_MPM_ERROR(writeSnapshot(unseen, result(kNoon), sampleAt(kNoon), "0"), "cannot make the folder");
  EXPECT_MPM_ERROR(forgetSnapshots(unseen, kNoon, 1, 0), "cannot read folder");
  EXPECT_MPM_ERROR(freeMegabytes(unseen), "cannot tell how much is free");
}

TEST(Snapshot, ForgetsOldOnesAndNothingElse) {
  const TemporaryFolder folder;
  for (int day = 0; day < 5; ++day)
    writeSnapshot(folder.path(), result(kNoon + day * kDayMs), sampleAt(kNoon + day * kDayMs), "0");
  std::ofstream(folder / "2020-notes.txt") << "mine";
  EXPECT_EQ(forgetSnapshots(folder.path(), kNoon + 4 * kDayMs, 1.5, 0), 9) << "three of five, three files each";
  EXPECT_TRUE(fs::exists(folder / "2020-notes.txt"));
  EXPECT_TRUE(fs::exists(folder / "2026-06-05T12-00-00.250Z.png") ||
              fs::exists(folder / "2026-06-05T12-00-00.000Z.png"));
  EXPECT_EQ(forgetSnapshots(folder.path(), kNoon + 4 * kDayMs, 0, 0), 0);
  EXPECT_EQ(forgetSnapshots(folder.path(), kNoon + 4 * kDayMs, 0, 1e15), 3) << "a disk that is never free enough";
  EXPECT_TRUE(fs::exists(folder / "2020-notes.txt"));
}

TEST(Snapshot, SeveralSourcesMayShareAFolder) {
  const TemporaryFolder folder;
  for (int day = 0; day < 4; ++day)
    for (const char* source : {"rtsp://u:hunter2@yard", "street"})
      writeSnapshot(folder.path(), result(kNoon + day * kDayMs), sampleAt(kNoon + day * kDayMs), source);
  const auto files = [&] { return std::distance(fs::directory_iterator(folder.path()), {}); };
  EXPECT_EQ(files(), 24) << "of the same moment, none in another's place";
  writeSnapshot(folder.path(), result(kNoon), sampleAt(kNoon), "street");
  EXPECT_EQ(files(), 24) << "again is once";
  EXPECT_EQ(forgetSnapshots(folder.path(), kNoon + 3 * kDayMs, 1.5, 0, "rtsp://u:hunter2@yard"), 6);
  EXPECT_EQ(forgetSnapshots(folder.path(), kNoon + 3 * kDayMs, 0, 1e15, "rtsp://u:hunter2@yard"), 3);
  EXPECT_EQ(files(), 15) << "all of the other, and the newest";
  EXPECT_EQ(forgetSnapshots(folder.path(), kNoon + 3 * kDayMs, 0, 1e15, "garden"), 0);
  std::ofstream(folder / "2020-01-01T00-00-00.000Z.json") << "half a";
  EXPECT_EQ(forgetSnapshots(folder.path(), kNoon + 3 * kDayMs, 1, 0, "street"), 6);
  EXPECT_TRUE(fs::exists(folder / "2020-01-01T00-00-00.000Z.json")) << "nobody knows whose it is";
}

}  // namespace
}  // namespace mpm::monitor::test
