// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/models.h"
#include "cli/street_model.h"
#include "vision/sources/source.h"

namespace mpm::test {
namespace {

// Two streets, noon and midnight of three days.
const std::string kStreets = "demo:street?seed=5..6&size=64x96&start=2026-03-20T00:00&step=43200&frames=6";

class EvalOfTheScene : public WithStreetModel {
 protected:
  CommandResult eval(const Words& more) const {
    return mpmCommand(Words{"eval"} + more + Words{"--model", model_, "--reduce", "mpm:blocks=1,2"});
  }
};

// The same frames and labels as files, in folders of their own for day and night.
TEST_F(EvalOfTheScene, ScoresAreThoseOfItsFramesAsFiles) {
  for (const char* part : {"all", "day", "night"})
    for (const char* kind : {"images", "labels"}) fs::create_directories(folder_ / (std::string(part) + "/" + kind));
  const auto source = vision::openSource(kStreets);
  while (const auto frame = source->next()) {
    for (const char* part : {"all", frame->night.value() ? "night" : "day"}) {
      cv::imwrite(folder_ / (std::string(part) + "/images/" + frame->name + ".png"), frame->image);
      cv::imwrite(folder_ / (std::string(part) + "/labels/" + frame->name + ".png"), frame->labels);
    }
  }
  const auto json = succeeded(eval({kStreets, "--json"})).json();
  EXPECT_EQ(json["images"], 12);
  EXPECT_EQ(json["day"]["images"], 6);
  EXPECT_EQ(json["night"]["images"], 6);
  for (const std::string part : {"all", "day", "night"}) {
    const auto files =
        eval({"--images", folder_ / (part + "/images"), "--labels", folder_ / (part + "/labels"), "--json"}).json();
    const auto& scene = part == "all" ? json : json[part];
    EXPECT_FALSE(files.contains("day")) << "files do not know their time";
    EXPECT_GT(scene["pixel_accuracy"], 0);
    for (const char* same : {"images", "miou", "pixel_accuracy", "iou", "tokens_mean", "tokens_sd", "confusion"})
      EXPECT_EQ(scene[same], files[same]) << part << " " << same;
  }
}

Words keysOf(const nlohmann::ordered_json& json) {
  Words keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

// Programs of others read them.
TEST_F(EvalOfTheScene, KeepsTheKeysOfOneVariant) {
  const Words scores = {"images", "miou", "pixel_accuracy", "iou", "tokens_mean", "tokens_sd", "ms_mean", "confusion"};
  Words keys = {"model",   "reduce", "precision",    "input",           "fit",     "window_stride",  "short_side",
                "dataset", "ignore", "label_offset", "simulated_night", "against", "full_precision", "reuse_spec",
                "refine",  "shard"};
  keys = keys + scores + Words{"day", "night"};
  auto json = nlohmann::ordered_json::parse(eval({kStreets, "--json"}).out);
  EXPECT_EQ(keysOf(json), keys);
  EXPECT_EQ(keysOf(json["night"]), scores);
  EXPECT_EQ(keysOf(json["ms_mean"]),
            (Words{"total", "preprocess", "backbone", "merge", "restore", "head", "postprocess"}));
  keys.push_back("reuse");
  json = nlohmann::ordered_json::parse(eval({kStreets, "--json", "--reuse", "auto"}).out);
  EXPECT_EQ(keysOf(json), keys);
  EXPECT_EQ(keysOf(json["reuse"]), (Words{"rows", "key_frames", "agreement", "share_of_full_ms"}));
  const CommandResult table = succeeded(eval({kStreets, "--reuse", "auto"}));
  EXPECT_THAT(table.lines().front(), ::testing::MatchesRegex("IoU, % +all +day +night"));
  EXPECT_THAT(table.out, AllOf(HasSubstr("pavement "), ::testing::ContainsRegex("images +12 +6 +6")));
  EXPECT_THAT(table.out, HasSubstr("\nreuse: " + fixed(100 * json["reuse"]["rows"].get<double>(), 1) +
                                   " % of the rows computed, " +
                                   std::to_string(json["reuse"]["key_frames"].get<int>()) + " key frame"));
}

// By construction the first frame of a film is computed in full with reuse: it says nothing about the agreement.
TEST_F(EvalOfTheScene, AgreementLeavesOutTheFirstFrame) {
  const std::string file = folder_ / "lines.jsonl";
  const CommandResult against = succeeded(eval({kStreets, "--json", "--reuse", "threshold=0", "--against", "full"}));
  EXPECT_EQ(against.json()["images"], 10) << "two films of six frames";
  ASSERT_EQ(mpmCommand({"eval", kStreets, "--model", model_, "--reduce", "none", "--reuse", "off", "--reuse", "auto",
                        "--per-image", file})
                .exit_code,
            0);
  int first = 0, others = 0;
  for (const auto& line : CommandResult{.out = readFile(file)}.jsonLines())
    if (line["reuse_spec"] == "auto") ++(line["agreement_percent"].is_null() ? first : others);
  EXPECT_EQ(first, 2);
  EXPECT_EQ(others, 10);
}

TEST_F(EvalOfTheScene, RefusesWhatCannotBeCompared) {
  expectFailure(mpmCommand({"eval", kStreets, "--model", kSegmenter, "--reduce", "mpm:blocks=1,2"}), 1,
                {"classes", "road"});
  expectFailure(eval({"demo:street?size=64x96"}), 2, {"never ends", "frames=N"});
  expectFailure(eval({}), 2, {"--images"});
  expectFailure(eval({kStreets, "--images", "x", "--labels", "y"}), 2, {"not both"});
}

nlohmann::json jsonOf(const Words& words) {
  return succeeded(mpmCommand(words + Words{"--model", kSegmenter, "--reduce", "mpm:blocks=1,2", "--json"}))
      .jsonLines();
}

// Images of one street are one observation: the interval is that of six streets, by Student's t.
TEST(DayNight, StatisticsAreThoseOfTwoRuns) {
  const std::string streets = "demo:street?seed=1..6&size=96x128&start=2026-06-21T12:00&speed=30&frames=3";
  const Words run = {"run", streets}, simulated = {"--simulate-night", "0.3"},
              night = {"--simulate-night", "0.3:electrons=50:thermal=0.05"};
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
    // That of Student's t, but for the chance of 2000 samples and the skew of six streets, of which one differs most.
    EXPECT_NEAR(more["tokens"][k]["low"], mean - half, 0.4 * half);
    EXPECT_NEAR(more["tokens"][k]["high"], mean + half, 0.4 * half);
  }
  EXPECT_LT(more["merged_percent"]["low"], more["merged_percent"]["mean"]);
  EXPECT_GT(more["merged_percent"]["high"], more["merged_percent"]["mean"]);
  const auto range = [](const nlohmann::json& one, const std::string& unit) {
    return fixed(one["mean"].get<double>(), 1) + unit + " (" + fixed(one["low"].get<double>(), 1) + " to " +
           fixed(one["high"].get<double>(), 1) + ")";
  };
  const CommandResult shown =
      succeeded(mpmCommand(Words{"daynight", streets, "--model", kSegmenter, "--reduce", "mpm:blocks=1,2"} + night));
  EXPECT_THAT(shown.out, HasSubstr(" night: more tokens than by day after each step: " + range(more["tokens"][1], "") +
                                   ", " + range(more["tokens"][2], "") + "; merged: " +
                                   range(more["merged_percent"], " %") + "; 95 % intervals of 18 images in 6 blocks"));
  for (const auto& [text, part] : {std::pair("dark", "'dark' is not a number"),
                                   {"2", "gain must be in (0, 1]"},
                                   {"0.3:electrons=few", "'few' is not a number"},
                                   {"0.3:electrons=0", "electrons must be in 1"},
                                   {"0.3:thermal=2", "thermal must be in 0..1"},
                                   {"0.3:thermal", "'' is not a number"},
                                   {"0.3:gain=2", "'gain' is neither electrons=N nor thermal=SD"}})
    expectFailure(mpmCommand({"run", "--simulate-night", text}), 2, {"--simulate-night", part});
  expectFailure(mpmCommand({"eval", streets, "--model", kSegmenter, "--day"}), 2, {"--day requires --simulate-night"});
}

TEST(DayNight, ANightAsItIsIsNoDay) {
  const auto rows = jsonOf({"daynight", "demo:street?size=96x128&start=2026-06-21T00:00&speed=30&frames=3"});
  EXPECT_EQ(rows[1]["images"], 3);
  EXPECT_EQ(rows[1]["minus_day"]["images"], 0);
}

}  // namespace
}  // namespace mpm::test
