// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "cli/command.h"
#include "cli/models.h"
#include "support/temporary_folder.h"

namespace mpm::test {
namespace {

using ::testing::HasSubstr;

const std::string kScene = "demo:street?size=96x128&speed=30000&frames=4";

TEST(DayNight, StatisticsAreThoseOfTwoRuns) {
  const std::vector<std::string> model = {"--model", kSegmenter, "--schedule", "1,2"};
  const auto command = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), model.begin(), model.end());
    arguments.push_back("--json");
    return mpmCommand(arguments);
  };
  const CommandResult day = command({"run", kScene}), night = command({"run", kScene, "--simulate-night", "0.3"});
  const CommandResult result = command({"daynight", kScene, "--simulate-night", "0.3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = result.json(), days = nlohmann::json(day.jsonLines()), nights = nlohmann::json(night.jsonLines());
  ASSERT_EQ(days.size(), 4u);
  ASSERT_EQ(nights.size(), 4u);
  EXPECT_EQ(json["images"], 4);
  EXPECT_DOUBLE_EQ(json["simulated_night"]["gain"], 0.3);
  ASSERT_EQ(json["insertions"].size(), 2u);
  for (int k = 0; k < 2; ++k) {
    double mean_day = 0, mean_night = 0, difference = 0, squares = 0;
    for (int i = 0; i < 4; ++i) {
      const double a = days[i]["tokens"][k + 1], b = nights[i]["tokens"][k + 1];
      mean_day += a / 4, mean_night += b / 4, difference += (b - a) / 4;
    }
    for (int i = 0; i < 4; ++i) {
      const double d = nights[i]["tokens"][k + 1].get<double>() - days[i]["tokens"][k + 1].get<double>() - difference;
      squares += d * d;
    }
    const double half = 3.182446 * std::sqrt(squares / 3) / 2;  // Student's t at 3 degrees of freedom; sqrt(4) images
    const auto& row = json["insertions"][k];
    EXPECT_EQ(row["block"], k + 1);
    EXPECT_NEAR(row["day"]["mean"], mean_day, 1e-9);
    EXPECT_NEAR(row["night"]["mean"], mean_night, 1e-9);
    EXPECT_NEAR(row["difference"]["mean"], difference, 1e-9);
    EXPECT_NEAR(row["difference"]["low"], difference - half, 1e-4);
    EXPECT_NEAR(row["difference"]["high"], difference + half, 1e-4);
  }
}

TEST(DayNight, ImagesOfOneStreetAreOneObservation) {
  const std::string streets = "demo:street?seed=1..6&size=96x128&start=2026-06-21T12:00&speed=30&frames=3";
  const std::vector<std::string> model = {"--model", kSegmenter, "--schedule", "1", "--json"};
  const auto command = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), model.begin(), model.end());
    return mpmCommand(arguments);
  };
  const auto days = nlohmann::json(command({"run", streets}).jsonLines());
  const auto nights = nlohmann::json(command({"run", streets, "--simulate-night", "0.3"}).jsonLines());
  const CommandResult result = command({"daynight", streets, "--simulate-night", "0.3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ASSERT_EQ(days.size(), 18u);
  const auto json = result.json();
  EXPECT_EQ(json["blocks"], 6);
  double mean = 0, squares = 0;
  std::vector<double> of_street(6);
  for (int i = 0; i < 18; ++i)
    of_street[i / 3] += (nights[i]["tokens"][1].get<double>() - days[i]["tokens"][1].get<double>()) / 3;
  for (const double street : of_street) mean += street / 6;
  for (const double street : of_street) squares += (street - mean) * (street - mean);
  const double half = 2.5706 * std::sqrt(squares / 5 / 6);  // Student's t at 5 degrees of freedom
  const auto& difference = json["insertions"][0]["difference"];
  EXPECT_NEAR(difference["mean"], mean, 1e-9);
  EXPECT_NEAR(difference["low"], mean - half, 1e-3);
  EXPECT_NEAR(difference["high"], mean + half, 1e-3);
  EXPECT_LT(json["merged"]["change_low"], json["merged"]["change_percent"]);
  EXPECT_GT(json["merged"]["change_high"], json["merged"]["change_percent"]);
}

TEST(DayNight, ANightAsItIsIsNoDay) {
  const std::string dark = "demo:street?size=96x128&start=2026-06-21T00:00&speed=30&frames=3";
  const CommandResult result = mpmCommand({"daynight", dark, "--model", kSegmenter, "--schedule", "1"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("3 images taken at night left out"));
  EXPECT_THAT(result.err, HasSubstr("all images were taken at night"));
}

TEST(DayNight, WritesBothMergeMapsSideBySide) {
  const TemporaryFolder folder;
  const CommandResult result = mpmCommand(
      {"daynight", kScene, "--max-frames", "1", "--model", kSegmenter, "--schedule", "1,2", "--out", folder / "out"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("block 2"));
  const cv::Mat picture = cv::imread(folder / "out/street_000000_daynight.png");
  ASSERT_EQ(picture.size(), cv::Size(2 * 128, 2 * 96));
  EXPECT_GT(cv::mean(picture.rowRange(0, 96))[1], 2 * cv::mean(picture.rowRange(96, 192))[1]);
}

TEST(DayNight, TheNoiseOfANightIsThatOfEveryVerb) {
  const std::vector<std::string> noise = {"--simulate-night", "0.3", "--electrons", "50", "--thermal", "0.05"};
  const auto command = [&](std::vector<std::string> arguments, std::size_t options) {
    arguments.insert(arguments.end(), noise.begin(), noise.begin() + static_cast<std::ptrdiff_t>(options));
    arguments.insert(arguments.end(), {"--model", kSegmenter, "--schedule", "1,2", "--json"});
    return mpmCommand(arguments);
  };
  const CommandResult noisy = command({"run", kScene}, 6), plain = command({"run", kScene}, 2);
  const CommandResult compared = command({"daynight", kScene}, 6);
  ASSERT_EQ(noisy.exit_code, 0) << noisy.err;
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  double mean = 0;
  bool differ = false;
  for (int i = 0; i < 4; ++i) {
    mean += noisy.jsonLines()[i]["tokens"][2].get<double>() / 4;
    differ = differ || noisy.jsonLines()[i]["tokens"] != plain.jsonLines()[i]["tokens"];
  }
  EXPECT_TRUE(differ) << "more noise changes nothing";
  EXPECT_NEAR(compared.json()["insertions"][1]["night"]["mean"], mean, 1e-9);
  EXPECT_EQ(compared.json()["simulated_night"], (nlohmann::json{{"gain", 0.3}, {"electrons", 50}, {"thermal", 0.05}}));
  for (const char* verb : {"run", "eval", "bench"}) {
    expectFailure(mpmCommand({verb, "--electrons", "50"}), 2, {"--electrons", "--simulate-night"});
    expectFailure(mpmCommand({verb, "--simulate-night", "0.3", "--thermal", "2"}), 2, {"--thermal"});
  }
}

TEST(DayNight, RefusesWhatMakesNoSense) {
  expectFailure(mpmCommand({"daynight", kScene, "--model", kSegmenter, "--schedule", "none"}), 1, {"merges no tokens"});
  expectFailure(mpmCommand({"run", kScene, "--model", kSegmenter, "--schedule", "1,2", "--simulate-night", "1.5"}), 2,
                {"--simulate-night"});
  expectFailure(mpmCommand({"run", "demo:street?sead=7", "--model", kSegmenter, "--schedule", "1,2"}), 1,
                {"'sead'", "seed"});
}

TEST(DayNight, NeverReplacesItsSources) {
  const TemporaryFolder folder;
  for (const char* name : {"a.png", "a_daynight.png"}) writeImage(folder / name, 32, 64);
  const auto daynight = [&](const std::string& source) {
    return mpmCommand({"daynight", source, "--model", kSegmenter, "--schedule", "1,2", "--out", folder.path()});
  };
  expectFailure(daynight(folder.path()), 2, {"--out is the source"});
  expectFailure(daynight(folder / "*.png"), 2, {"a_daynight.png", "would replace"});
  EXPECT_EQ(daynight(folder / "a_daynight.png").exit_code, 0);
}

TEST(DayNight, WhereNothingIsMergedNothingChanges) {
  const CommandResult result = mpmCommand(
      {"daynight", kScene, "--max-frames", "1", "--model", kSegmenter, "--schedule", "1,2", "--input-size", "8x8"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("by night (-)"));
}

}  // namespace
}  // namespace mpm::test
