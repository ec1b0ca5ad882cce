// SPDX-License-Identifier: Apache-2.0
// The viewer without a display. What it shows is written by view_hands.cpp, which also presses the keys.

#include "cli/command.h"
#include "cli/models.h"
#include "mpm/version.hpp"

namespace mpm::test {
namespace {

class View : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(std::string(MPM_BINARY_DIR) + "/mpm-view"))
      GTEST_SKIP() << "this OpenCV has no highgui, so there is no mpm-view";
  }

  static CommandResult view(const Words& arguments) {
    return mpmCommand(arguments, {.program = "mpm-view",
                                  .environment = {{"DISPLAY", ""}, {"WAYLAND_DISPLAY", ""}, {"QT_QPA_PLATFORM", ""}}});
  }
};

TEST_F(View, Helps) {
  const CommandResult help = succeeded(view({"--help"}));
  EXPECT_EQ(help.err, "");
  for (const char* part : {"SOURCE", "--model", "--reduce", "Keys:", "mpm-view 0"})
    EXPECT_THAT(help.out, HasSubstr(part));
  EXPECT_EQ(view({"--version"}).out, "mpm-view " MPM_VERSION "\n");
}

TEST_F(View, WithoutADisplaySaysSo) {
  expectFailure(view({"a.png", "--model", kSegmenter}), 1, {"no display", "mpm run --out DIR"});
}

TEST_F(View, RefusesATaskThatItDoesNotShow) {
  expectFailure(mpmCommand({"a.png", "--model", kDepthModel},
                           {.program = "mpm-view", .environment = {{"QT_QPA_PLATFORM", "offscreen"}}}),
                1, {"its task is 'depth', which is not shown"});
}

#ifdef MPM_VIEW_HANDS
class ViewKeys : public InFolder {
 protected:
  // The pictures that were shown while these keys were pressed.
  std::vector<cv::Mat> shown(const std::string& source, const std::string& keys) {
    const std::string folder = folder_ / ("shown" + std::to_string(runs_++));
    fs::create_directory(folder);
    succeeded(mpmCommand({source, "--model", kSegmenter, "--reduce", "mpm:blocks=1"},
                         {.program = "mpm-view",
                          .environment = {{"QT_QPA_PLATFORM", "offscreen"},
                                          {"LD_PRELOAD", MPM_VIEW_HANDS},
                                          {"MPM_SHOWN", folder},
                                          {"MPM_KEYS", keys}}}));
    std::vector<cv::Mat> pictures;
    for (const std::string& name : filesIn(folder)) pictures.push_back(cv::imread(folder + "/" + name));
    return pictures;
  }
  // The tokens and the time are written at the bottom.
  static cv::Mat above(const cv::Mat& picture) { return picture.rowRange(0, picture.rows - 40); }
  static double apart(const cv::Mat& one, const cv::Mat& other) {
    return cv::norm(above(one), above(other), cv::NORM_INF);
  }

  int runs_ = 0;
};

TEST_F(ViewKeys, ChooseWhatIsShown) {
  const std::string file = folder_ / "a.png";
  writeImage(file, 120, 160);
  const cv::Mat image = cv::imread(file);
  succeeded(mpmCommand({"run", file, "--model", kSegmenter, "--reduce", "mpm:blocks=1", "--out", folder_ / "out",
                        "--only", "merge,labels"}));
  const cv::Mat merged = cv::imread(folder_ / "out/a_merge.png"),
                labels = cv::imread(folder_ / "out/a_labels.png", cv::IMREAD_GRAYSCALE);
  const auto pictures = shown(file, "imxo]]]]]][[[[[[[[[[[[q");
  ASSERT_EQ(pictures.size(), 23u) << "one before each key";
  EXPECT_EQ(apart(pictures[1], image), 0);
  EXPECT_EQ(apart(pictures[2], merged), 0);
  EXPECT_EQ(apart(pictures[3], merged), 0) << "x is no key";
  for (const cv::Mat& picture : pictures) {
    EXPECT_GT(cv::norm(picture.rowRange(90, 120), pictures[1].rowRange(90, 120), cv::NORM_INF) +
                  cv::norm(picture.rowRange(90, 120), image.rowRange(90, 120), cv::NORM_INF),
              100)
        << "the text stands on each";
  }
  const cv::Mat colors = pictures[9];
  for (int label = 0; label < 4; ++label) {
    cv::Scalar mean, deviation;
    cv::meanStdDev(above(colors), mean, deviation, above(labels) == label);
    EXPECT_LT(cv::norm(deviation), 1e-6) << "with full opacity a class has one colour";
  }
  EXPECT_EQ(apart(pictures[10], colors), 0) << "no more than that";
  for (int step = 0; step <= 12; ++step) {
    const double opacity = std::max(0.0, 1 - 0.1 * step);
    cv::Mat expected;
    cv::addWeighted(image, 1 - opacity, colors, opacity, 0, expected);
    EXPECT_LE(apart(pictures[10 + step], expected), 1) << step;
  }
  EXPECT_EQ(apart(pictures[0], pictures[15]), 0) << "it begins with half";
  EXPECT_EQ(apart(pictures[4], pictures[0]), 0);
}

TEST_F(ViewKeys, PauseAndEnd) {
  fs::create_directory(folder_ / "in");
  for (int i = 0; i < 4; ++i) {
    cv::imwrite(folder_ / ("in/" + std::to_string(i) + ".png"),
                cv::Mat(120, 160, CV_8UC3, cv::Scalar::all(40 * i + 60)));
  }
  const auto greys = [&](const std::string& keys) {
    std::vector<int> found;
    for (const cv::Mat& picture : shown(folder_ / "in", keys)) found.push_back(picture.at<cv::Vec3b>(0, 0)[0]);
    return found;
  };
  EXPECT_THAT(greys("iiiiii").size(), 4u) << "it ends with the last picture";
  EXPECT_THAT(greys("i x ii"), ElementsAre(::testing::_, 100, 100, 100, 140, 180)) << "paused between two spaces";
  for (const std::string end : {"q", "\033", "w"}) EXPECT_EQ(greys("i" + end + "ii").size(), 2u);
}
#endif

}  // namespace
}  // namespace mpm::test
