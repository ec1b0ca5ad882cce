// SPDX-License-Identifier: Apache-2.0
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/models.h"
#include "cli/street_model.h"

namespace mpm::test {
namespace {

constexpr const char* kDay = "demo:day?size=64x96";  // drawn fast

class Day : public WithStreetModel {
 protected:
  CommandResult run(const Words& more, const std::string& display = "") const {
    return mpmCommand(Words{"run"} + more + Words{"--model", model_, "--reduce", "mpm:blocks=1,2"},
                      {.environment = {{"DISPLAY", display}, {"WAYLAND_DISPLAY", ""}}});
  }
};

// Six hours of it, dawn included.
TEST_F(Day, IsShownAsATableAndPictures) {
  const CommandResult result = succeeded(run({kDay, "--max-frames", "36", "--out", folder_ / "day"}));
  const auto lines = result.lines();
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_THAT(lines[0], HasSubstr("block 2"));
  std::vector<double> mean(3);
  for (const auto& frame : run({kDay, "--max-frames", "6", "--json"}).jsonLines())
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += frame["tokens"][k].get<double>() / 6;
  EXPECT_THAT(lines[1], ::testing::MatchesRegex("00:00 +night +15 +" + fixed(mean[1], 1) + " +" + fixed(mean[2], 1) +
                                                " +" + fixed(100 * (1 - mean[2] / mean[0]), 1) + " %"));
  EXPECT_THAT(lines[6], StartsWith("05:00"));
  for (const char* name : {"day.png", "tokens.png", "dawn_labels.png", "dawn_overlay.png", "dawn_merge.png"})
    EXPECT_FALSE(cv::imread(folder_ / ("day/" + std::string(name))).empty()) << name;
  const cv::Mat sheet = cv::imread(folder_ / "day/day.png");
  const auto isInked = [&](int from_bottom, int rows) {
    const int begin = sheet.rows - from_bottom;
    return cv::countNonZero(sheet.rowRange(begin, begin + rows).clone().reshape(1) != 255) > 0;
  };
  EXPECT_TRUE(isInked(32, 32)) << "the legend";
  EXPECT_TRUE(isInked(66, 24)) << "the tokens below a column";
  EXPECT_THAT(result.err, HasSubstr("look at   " + (folder_ / "day/day.png")));
  EXPECT_THAT(result.err, AllOf(HasSubstr(" bench --model " + model_), Not(HasSubstr("mpm-monitor"))));
}

TEST_F(Day, WithoutAFolderOnlyTheTableIsShown) {
  const CommandResult table =
      succeeded(mpmCommand({"run", kDay, "--max-frames", "2", "--model", model_}, {.folder = folder_.path()}));
  EXPECT_EQ(table.lines().size(), 2u);
  EXPECT_THAT(table.err, HasSubstr("run demo:day --model " + model_ + " --out mpm_day"));
  EXPECT_THAT(table.err, HasSubstr("how good")) << "with the classes of the scene";
  const CommandResult other =
      succeeded(mpmCommand({"run", kDay, "--max-frames", "2", "--model", kSegmenter}, {.folder = folder_.path()}));
  EXPECT_THAT(other.err, Not(HasSubstr("how good"))) << "with other classes";
  EXPECT_FALSE(fs::exists(folder_ / "mpm_day"));
}

// Where there is a display the hint names the app.
TEST_F(Day, SaysWhatToLookAt) {
  const std::string chart = folder_ / "chart.png";
  const bool built = fs::exists(std::string(MPM_BINARY_DIR) + "/mpm-monitor");
  const std::string hint =
      succeeded(run({"demo:day", "--max-frames", "2", "--out", folder_ / "day", "--chart", chart}, ":0")).err;
  EXPECT_EQ(hint.find("mpm-monitor --model " + model_) != std::string::npos, built) << hint;
  EXPECT_THAT(hint, HasSubstr("look at   " + chart + "\n"));
  EXPECT_EQ(cv::imread(chart).size(), cv::Size(1280, 480));
  EXPECT_TRUE(fs::is_empty(folder_ / "day"));
}

TEST_F(Day, TheChartShadesTheNight) {
  const std::string chart = folder_ / "chart.png";
  const std::string noon_to_noon = "demo:street?size=64x64&start=2026-03-20T12:00&step=3600&frames=25";
  EXPECT_EQ(succeeded(run({noon_to_noon, "--chart", chart})).err, "25 frames, " + chart + "\n");
  const cv::Mat picture = cv::imread(chart);
  ASSERT_EQ(picture.size(), cv::Size(1280, 480));
  // The lightest colour of the plot's columns is its background.
  cv::Mat columns;
  cv::reduce(picture(cv::Rect(82, 60, 1166, 358)).clone().reshape(3), columns, 0, cv::REDUCE_MAX);
  const auto isWhite = [&](double share) {
    return columns.at<cv::Vec3b>(cvRound(share * (columns.cols - 1))) == cv::Vec3b::all(255);
  };
  EXPECT_TRUE(isWhite(0.1));
  EXPECT_FALSE(isWhite(0.45));
  EXPECT_TRUE(isWhite(0.9));
  for (const int x : {80, 1260}) {
    int colored = 0;
    for (int y = 60; y < 420; ++y)
      colored += std::abs(picture.at<cv::Vec3b>(y, x)[0] - picture.at<cv::Vec3b>(y, x)[2]) > 60;
    EXPECT_GT(colored, 0) << "the lines go from the first frame to the last: " << x;
  }
}

TEST_F(Day, AChartNeedsTimesAndAPngOfItsOwn) {
  expectFailure(run({kDay, "--chart", folder_ / "a.txt"}), 2, {"--chart is '", "a.txt'; it must end in .png"});
  for (const char* taken : {"out/street_000000_overlay.png", "out/legend.png"}) {
    expectFailure(run({"demo:street?size=64x64&frames=2", "--out", folder_ / "out", "--chart", folder_ / taken}), 2,
                  {taken, "a name of the pictures of --out"});
  }
  writeImage(folder_ / "a.png", 40, 60);
  expectFailure(run({folder_ / "a.png", "--chart", folder_ / "chart.png"}), 2,
                {"a.png", "--chart draws the built-in scene only"});
  EXPECT_FALSE(fs::exists(folder_ / "chart.png"));
}

}  // namespace
}  // namespace mpm::test
