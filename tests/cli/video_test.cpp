// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <fstream>
#include <opencv2/videoio.hpp>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"
#include "support/demo.h"
#include "support/video.h"

namespace mpm::test {
namespace {

class Video : public InFolder {
 protected:
  void SetUp() override {
    fs::create_directory(images_);
    for (int i = 0; i < 3; ++i) writeImage(images_ + "/i" + std::to_string(i) + ".png", 48, 64, i);
  }

  CommandResult run(const Words& more, const CommandOptions& options = {}) const {
    return mpmCommand(Words{"run"} + more + Words{"--model", kSegmenter, "--reduce", "mpm:blocks=1,2"}, options);
  }

  const std::string images_ = folder_ / "in";
};

TEST_F(Video, ShowsTheOverlayOfEachFrame) {
  const std::string video = folder_ / "out.avi", pictures = folder_ / "pictures";
  const CommandResult result = succeeded(run({images_, "--video", video, "--out", pictures, "--only", "overlay"}));
  EXPECT_THAT(result.err, HasSubstr(video));
  cv::VideoCapture frames(video);
  EXPECT_EQ(frames.get(cv::CAP_PROP_FPS), 25);
  cv::Mat frame;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(frames.read(frame)) << i;
    const cv::Mat overlay = cv::imread(pictures + "/i" + std::to_string(i) + "_overlay.png");
    ASSERT_EQ(frame.size(), overlay.size());
    EXPECT_LT(cv::norm(frame, overlay, cv::NORM_L1) / static_cast<double>(3 * frame.total()), 12) << "of 255";
  }
  EXPECT_FALSE(frames.read(frame));
  EXPECT_EQ(filesIn(folder_.path()), (std::set<std::string>{"in", "out.avi", "pictures"}));
  succeeded(mpmCommand({"run", images_, "--model", kDepthModel, "--video", video}));
  EXPECT_TRUE(cv::VideoCapture(video).read(frame)) << "of depth";
}

TEST_F(Video, WithoutAFrameNothingIsReplaced) {
  const std::string video = folder_ / "out.avi";
  int empty = 0;
  for (const std::string shard : {"1/4", "2/4", "3/4", "4/4"}) {  // of three pictures
    std::ofstream(video) << "old";
    const CommandResult result = succeeded(run({images_, "--shard", shard, "--video", video}));
    if (!result.err.starts_with("0 frames")) continue;
    ++empty;
    EXPECT_THAT(result.err, Not(HasSubstr(video)));
    EXPECT_EQ(readFile(video), "old");
  }
  EXPECT_GT(empty, 0);
}

TEST_F(Video, KeepsTheFrameRateOfItsSource) {
  const std::string source = folder_ / "in.avi", video = folder_ / "out.mp4";
  const auto bluer = [](int i) { return cv::Mat(48, 64, CV_8UC3, cv::Scalar(60 * i, 100, 200 - 40 * i)); };
  ASSERT_TRUE(writeVideo(source, "MJPG", 10, {64, 48}, 4, bluer));
  const CommandResult result = run({source, "--video", video});
  if (result.err.find("no codec") != std::string::npos) GTEST_SKIP() << result.err;
  cv::VideoCapture frames(video);
  EXPECT_EQ(frames.get(cv::CAP_PROP_FPS), 10);
  EXPECT_EQ(frames.get(cv::CAP_PROP_FRAME_COUNT), 4);
  succeeded(run({"demo:street?fps=8&frames=2&size=64x64", source, "--max-frames", "2", "--video", video}));
  EXPECT_EQ(cv::VideoCapture(video).get(cv::CAP_PROP_FPS), 8) << "the scene comes first";
  std::string file = readFile(source);
  file.replace(file.find("strh") + 8 + 24, 4, std::string("\0\0\2\0", 4));  // 131072 frames a second
  std::ofstream(source, std::ios::binary) << file;
  ASSERT_GT(cv::VideoCapture(source).get(cv::CAP_PROP_FPS), 1e4);
  succeeded(run({source, "--video", folder_ / "usual.avi"}));
  EXPECT_EQ(cv::VideoCapture(folder_ / "usual.avi").get(cv::CAP_PROP_FPS), 25) << "that of its source means nothing";
}

TEST_F(Video, AnErrorLeavesNothingOfIt) {
  const std::string video = folder_ / "out.avi";
  writeImage(images_ + "/j.png", 32, 64);
  expectFailure(run({images_, "--video", video, "--json"}), 1, {"frame 'j' is 64 x 32 px", "frames of 64 x 48 px"});
  expectFailure(run({images_, "--video", folder_ / "out.txt"}), 2, {"out.txt", "must end in .mp4"});
  expectFailure(run({images_, "--video", folder_ / "none/out.avi"}), 1, {"none/out.avi"});
  expectFailure(mpmCommand({"run", images_, "--model", kClassifier, "--video", video}), 1,
                {"--video needs a model of"});
  fs::remove(images_ + "/j.png");
  writeImage(images_ + "/thin.png", 48, 1);
  expectFailure(run({images_ + "/thin.png", "--video", folder_ / "out.mp4"}), 1, {"out.mp4", "no codec for 1 x 48 px"});
  fs::remove(images_ + "/thin.png");
  expectFailure(run({images_, "--video", video}, {.file_size_limit = 3000}), 1, {"out.avi", "the disk may be full"});
  expectFailure(run({images_, "--video", video, "--resume", "--out", folder_ / "out"}), 2, {"--resume", "--video"});
  EXPECT_EQ(filesIn(folder_.path()), std::set<std::string>{"in"});
}

TEST_F(Video, EndsWithAnInterruptionOfACamera) {
  MPM_NEEDS_DEMO();
  const std::string video = folder_ / "out.avi";
  const CommandResult endless = run({"demo:street?size=64x96", "--video", video}, {.signal_after_first_line = SIGINT});
  EXPECT_EQ(endless.exit_code, 130);
  cv::Mat frame;
  EXPECT_TRUE(cv::VideoCapture(video).read(frame));
  fs::remove(video);
  const CommandResult film =
      run({"demo:street?size=64x96&frames=1000000", "--video", video}, {.signal_after_first_line = SIGINT});
  EXPECT_EQ(film.exit_code, 130);
  EXPECT_EQ(filesIn(folder_.path()), std::set<std::string>{"in"}) << "a part would pass for the whole film";
}

}  // namespace
}  // namespace mpm::test
