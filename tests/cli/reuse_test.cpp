// SPDX-License-Identifier: Apache-2.0
// --reuse of the commands, on the built-in scene.
#include <opencv2/imgcodecs.hpp>

#include "cli/command.h"
#include "cli/models.h"
#include "cli/street_model.h"

namespace mpm::test {
namespace {

const std::string kFrames = "demo:street?seed=5&size=64x96&weather=clear&start=2026-03-20T12:00&step=1&frames=6";

using ReuseCommand = WithStreetModel;

TEST_F(ReuseCommand, RunSaysAndDrawsWhatItComputed) {
  const auto lines = succeeded(mpmCommand({"run", kFrames, "--model", model_, "--reduce", "none", "--reuse",
                                           "threshold=12", "--out", folder_ / "out", "--json"}))
                         .jsonLines();
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0]["reuse"]["key_frame"], true);
  for (const auto& line : lines) {
    EXPECT_EQ(line["reuse"]["rows"] == 1, line == lines[0]) << line;
    const std::string name = "street_00000" + std::to_string(line["frame"].get<int>()) + "_computed.png";
    EXPECT_THAT(line["outputs"].get<Words>(), Contains(name));
    const cv::Mat picture = cv::imread(folder_ / ("out/" + name));
    ASSERT_EQ(picture.size(), cv::Size(96, 64));
    cv::Mat channels[3], other;
    cv::split(picture, channels);
    cv::absdiff(channels[0], channels[2], other);
    const double share = cv::countNonZero(other) / 96. / 64;  // what is kept has no colour
    EXPECT_LE(share, line["reuse"]["rows"].get<double>()) << name;
    if (line["reuse"]["rows"] > 0) {
      EXPECT_GT(share, 0) << name;
    }
  }
}

TEST_F(ReuseCommand, KeyFramesThatAreDueMeasureTheAgreement) {
  const auto result = mpmCommand({"eval", kFrames, "--model", model_, "--reduce", "none", "--reuse",
                                  "threshold=12:refresh=2", "--json"})
                          .json();
  EXPECT_EQ(result["reuse"]["key_frames"], 2) << "after two and four seconds of the scene's clock";
  EXPECT_GT(result["reuse"]["agreement"], 0);
  EXPECT_LE(result["reuse"]["agreement"], 100);
}

// The images of each folder are a film of their own, and the first frame of a film is computed in full.
TEST_F(ReuseCommand, BeginsAnewWithEachFilm) {
  const std::string lines = folder_ / "lines.jsonl";
  for (int i = 0; i < 4; ++i) {
    const std::string film = folder_ / (i < 2 ? "a" : "b");
    fs::create_directories(film);
    writeImage(film + "/" + std::to_string(i) + ".png", 40, 70, 1);
  }
  succeeded(mpmCommand({"eval", folder_ / "[ab]/*.png", "--model", kSegmenter, "--against", "full", "--reduce", "none",
                        "--reuse", "threshold=12", "--per-image", lines}));
  std::vector<std::string> names;
  for (const auto& line : CommandResult{.out = readFile(lines)}.jsonLines()) names.push_back(line["name"]);
  EXPECT_THAT(names, ElementsAre("1", "3"));
  std::vector<double> rows;
  for (const auto& line : succeeded(mpmCommand({"run", folder_ / "[ab]/*.png", "--model", kSegmenter, "--reduce",
                                                "none", "--reuse", "threshold=12", "--json"}))
                              .jsonLines())
    rows.push_back(line["reuse"]["rows"]);
  EXPECT_THAT(rows, ElementsAre(1, 0, 1, 0));
}

TEST_F(ReuseCommand, PicturesAreAsFarApartAsTheirNamesSay) {
  const std::string pictures = folder_ / "pictures";
  fs::create_directories(pictures);
  for (const char* minute : {"00", "11", "22", "33", "44"})
    writeImage(pictures + "/cam_20260301_12" + minute + "00.png", 40, 70, 1);
  std::vector<bool> due;
  for (const auto& line : succeeded(mpmCommand({"run", pictures, "--model", kSegmenter, "--reduce", "none", "--reuse",
                                                "threshold=12:refresh=1500", "--json"}))
                              .jsonLines())
    due.push_back(line["reuse"].contains("agreement") && !line["reuse"]["agreement"].is_null());
  EXPECT_THAT(due, ElementsAre(false, false, false, true, false)) << "25 minutes after the first picture";
}

TEST_F(ReuseCommand, BenchComparesIt) {
  const CommandResult result = succeeded(
      mpmCommand({"bench", "--model", model_, "--image", kFrames, "--reduce", "none", "--reuse", "off", "--reuse",
                  "threshold=0:flush=0", "--reuse", "threshold=12", "--rounds", "4", "--warm-up", "2", "--json"}));
  const auto rows = result.json()["variants"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["reuse"], "off");
  EXPECT_TRUE(rows[0]["rows"].empty());
  EXPECT_EQ(rows[1]["agreement"], 100) << "every frame is computed whole";
  EXPECT_EQ(rows[1]["rows"], std::vector<double>(4, 1));
  const auto lines =
      mpmCommand({"run", kFrames, "--model", model_, "--reduce", "none", "--reuse", "threshold=12", "--json"})
          .jsonLines();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rows[2]["rows"][i], lines.at(i + 2)["reuse"]["rows"]) << i;
}

TEST_F(ReuseCommand, BenchGivesTheMeanWorkOfTheFrames) {
  const std::string file = folder_ / "lines.jsonl",
                    frames = "demo:street?seed=5&size=64x96&start=2026-03-20T06:00&step=14400&frames=6";
  const Words merged = {"--model", model_, "--reduce", "mpm:blocks=1,2"};
  const auto row = mpmCommand(Words{"bench", "--image", frames, "--reuse", "off", "--reuse", "threshold=12", "--rounds",
                                    "4", "--warm-up", "2", "--json"} +
                              merged)
                       .json()["variants"][0];
  succeeded(mpmCommand(Words{"eval", frames, "--against", "full", "--per-image", file} + merged));
  std::vector<double> gflop;
  for (const auto& line : CommandResult{.out = readFile(file)}.jsonLines()) gflop.push_back(line["gflop"]);
  ASSERT_EQ(gflop.size(), 6u);
  EXPECT_NEAR(row["gflop"], (gflop[2] + gflop[3] + gflop[4] + gflop[5]) / 4, 1e-12) << row;
  EXPECT_NE(gflop[5], gflop[4]);
}

TEST_F(ReuseCommand, MisuseIsOneLine) {
  const auto run = [&](const Words& more) { return mpmCommand(Words{"run", kFrames, "--model", model_} + more); };
  expectFailure(run({"--reuse", "sometimes"}), 2, {"--reuse", "'sometimes'", "threshold=12"});
  expectFailure(run({"--reuse", "threshold=300"}), 2, {"--reuse", "threshold '300'", "0 and 255"});
  expectFailure(run({"--reduce", "none", "--reuse", "auto", "--resume", "--out", folder_ / "out"}), 2, {"--resume"});
  expectFailure(run({"--reduce", "tome:count=3", "--reuse", "auto"}), 1, {"cannot be reused", "mpm and gradual"});
  expectFailure(mpmCommand({"eval", "--against", "full", "--model", model_, "--images", folder_ / ".", "--labels",
                            folder_ / "."}),
                2, {"--against full", "SOURCE"});
}

}  // namespace
}  // namespace mpm::test
