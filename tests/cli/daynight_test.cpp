// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cli/command.h"
#include "cli/models.h"

namespace mpm::test {
namespace {

const std::string kScene = "demo:street?size=96x128&speed=30000&frames=4";

nlohmann::json jsonOf(const Words& words) {
  return succeeded(mpmCommand(words + Words{"--model", kSegmenter, "--schedule", "1,2", "--json"})).jsonLines();
}

// Images of one street are one observation: the interval is that of six streets, by Student's t.
TEST(DayNight, StatisticsAreThoseOfTwoRuns) {
  const std::string streets = "demo:street?seed=1..6&size=96x128&start=2026-06-21T12:00&speed=30&frames=3";
  const Words run = {"run", streets}, simulated = {"--simulate-night", "0.3"},
              night = simulated + Words{"--electrons", "50", "--thermal", "0.05"};
  const auto days = jsonOf(run), nights = jsonOf(run + night);
  ASSERT_EQ(days.size(), 18u);
  EXPECT_NE(nights[0]["tokens"], jsonOf(run + simulated)[0]["tokens"]) << "more noise changes nothing";
  const auto rows = jsonOf(Words{"daynight", streets} + night);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows[0]["simulated_night"].is_null());
  EXPECT_FALSE(rows[0].contains("miou")) << "there are no labels";
  EXPECT_EQ(rows[1]["simulated_night"], (nlohmann::json{{"gain", 0.3}, {"electrons", 50}, {"thermal", 0.05}}));
  const auto& more = rows[1]["minus_day"];
  EXPECT_EQ(more["images"], 18);
  EXPECT_EQ(more["blocks"], 6);
  for (std::size_t k = 0; k < 3; ++k) {
    double mean = 0, squares = 0;
    std::vector<double> of_street(6);
    for (std::size_t i = 0; i < 18; ++i)
      of_street[i / 3] += (nights[i]["tokens"][k].get<double>() - days[i]["tokens"][k].get<double>()) / 3;
    for (const double street : of_street) mean += street / 6;
    for (const double street : of_street) squares += (street - mean) * (street - mean);
    const double half = 2.5706 * std::sqrt(squares / 5 / 6);  // 5 degrees of freedom
    EXPECT_NEAR(more["tokens"][k]["mean"], mean, 1e-9);
    EXPECT_NEAR(more["tokens"][k]["low"], mean - half, 1e-3);
    EXPECT_NEAR(more["tokens"][k]["high"], mean + half, 1e-3);
  }
  EXPECT_LT(more["merged_percent"]["low"], more["merged_percent"]["mean"]);
  EXPECT_GT(more["merged_percent"]["high"], more["merged_percent"]["mean"]);
  for (const char* verb : {"run", "eval", "bench"}) {
    expectFailure(mpmCommand({verb, "--electrons", "50"}), 2, {"--electrons", "--simulate-night"});
    expectFailure(mpmCommand({verb, "--simulate-night", "0.3", "--thermal", "2"}), 2, {"--thermal"});
  }
  expectFailure(mpmCommand({"eval", streets, "--model", kSegmenter, "--day"}), 2, {"--day is for beside"});
}

TEST(DayNight, ANightAsItIsIsNoDay) {
  const auto rows = jsonOf({"daynight", "demo:street?size=96x128&start=2026-06-21T00:00&speed=30&frames=3"});
  EXPECT_EQ(rows[1]["images"], 3);
  EXPECT_EQ(rows[1]["minus_day"]["images"], 0);
}

TEST(DayNight, PrintsTheDifference) {
  const CommandResult result = succeeded(mpmCommand({"daynight", kScene, "--model", kSegmenter, "--schedule", "1,2"}));
  EXPECT_THAT(result.out, ::testing::ContainsRegex("mpm:blocks=1,2 night +[0-9.]+ +- +- +- "));
  EXPECT_THAT(result.out, ::testing::ContainsRegex("more tokens than by day after each step: [-0-9.]+ \\("));
  EXPECT_THAT(result.out, ::testing::EndsWith("\nover 4 images\n")) << "nothing is said of what it lacks";
}

}  // namespace
}  // namespace mpm::test
