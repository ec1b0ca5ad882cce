// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <opencv2/core/utility.hpp>

#include "cli/command.h"
#include "cli/models.h"
#include "support/demo.h"
#include "support/temporary_folder.h"

namespace mpm::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<std::string> benchArguments(std::vector<std::string> more) {
  more.insert(more.begin(), {"bench", "--model", kSegmenter, "--rounds", "3", "--warm-up", "1", "--threads", "1"});
  return more;
}

/// --beside for a worker that loads nothing and says with which options it was started.
std::string besideText(const std::vector<std::string>& command) {
  return nlohmann::json{
      {"name", "other"}, {"runtime", "other"}, {"reduce", "none"}, {"precision", "fp32"}, {"command", command}}
      .dump();
}

TEST(Bench, PrintsARowPerVariant) {
  const TemporaryFolder folder;
  writeImage(folder / "a.png", 40, 60);
  const CommandResult result = mpmCommand(benchArguments(
      {"--schedule", "none", "--schedule", "1,2", "--image", folder / "a.png", "--batch", "2", "--json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = result.json();
  ASSERT_EQ(json["variants"].size(), 2u);
  const auto& full = json["variants"][0];
  const auto& merged = json["variants"][1];
  EXPECT_EQ(full["reduce"], "none");
  EXPECT_EQ(merged["reduce"], "mpm:blocks=1,2");
  for (const auto& row : {full, merged}) {
    EXPECT_EQ(row["runtime"], "mpm");
    EXPECT_EQ(row["precision"], "fp32");
    EXPECT_EQ(row["batch"], 2);
    EXPECT_GT(row["ms"]["median"], 0);
    EXPECT_LE(row["ms"]["p10"], row["ms"]["median"]);
    EXPECT_LE(row["ms"]["median"], row["ms"]["p90"]);
    EXPECT_GT(row["peak_mib"], 1);
    EXPECT_GT(row["peak_fraction"], 0);
    for (const char* stage : {"backbone", "merge", "restore", "head"}) EXPECT_GE(row["stages"][stage], 0) << stage;
  }
  EXPECT_LT(merged["gflop"], full["gflop"]) << "only live rows count";
  EXPECT_THAT(merged["note"].get<std::string>(), HasSubstr("% of the labels of mpm none fp32"));
  EXPECT_GT(json["gemm_peak_gflops"]["fp32"], 0);
}

TEST(Bench, SaysInJsonWhatWasComparedAndEveryRound) {
  const TemporaryFolder folder;
  writeImage(folder / "a.png", 40, 60);
  const CommandResult result =
      mpmCommand(benchArguments({"--schedule", "none", "--schedule", "1", "--image", folder / "a.png",
                                 "--simulate-night", "0.2", "--attention", "proportional", "--json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = result.json();
  EXPECT_EQ(json["model"]["path"], kSegmenter);
  EXPECT_EQ(json["model"]["digest"].get<std::string>().size(), 16u);
  EXPECT_EQ(json["image"], folder / "a.png");
  EXPECT_EQ(json["simulated_night"]["gain"], 0.2);
  EXPECT_EQ(json["input"], nlohmann::json::parse(R"({"height": 32, "width": 64})"));
  EXPECT_EQ(json["variants"][1]["reduce"], "mpm:blocks=1:attention=proportional");
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["threads"], 1);
  EXPECT_EQ(json["batch"], 1);
  EXPECT_EQ(json["warm_up"], 1);
  EXPECT_EQ(json["rounds"], 3);
  EXPECT_TRUE(json.contains("cpu"));
  EXPECT_NE(json["mpm"]["version"], "");
  const double first = json["variants"][0]["ms"]["median"];
  for (const auto& row : json["variants"]) {
    EXPECT_EQ(row["version"], json["mpm"]["version"]);
    EXPECT_EQ(row["device"], "cpu");
    EXPECT_EQ(row["ms"]["rounds"].size(), 3u);
    EXPECT_DOUBLE_EQ(row["ratio"], row["ms"]["median"].get<double>() / first);
    EXPECT_LE(row["ratio_per_round"]["p25"], row["ratio_per_round"]["median"]);
    EXPECT_LE(row["ratio_per_round"]["median"], row["ratio_per_round"]["p75"]);
  }
  EXPECT_EQ(json["variants"][0]["ratio"], 1);
}

TEST(Bench, TakesFramesOfTheScene) {
  MPM_NEEDS_DEMO();
  const auto gflop = [](const std::string& image) {
    const CommandResult result = mpmCommand(
        benchArguments({"--schedule", "none", "--schedule", "1,2", "--image", image, "--batch", "2", "--json"}));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.json()["variants"][1]["gflop"];
  };
  // What is merged away tells the images apart.
  EXPECT_NE(gflop("demo:street?size=64x96&seed=3"), gflop("demo:street?size=64x96&start=2026-12-21T23:00"));
}

TEST(Bench, SaysThatABatchRepeatsImages) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "images");
  for (int seed = 1; seed <= 2; ++seed) writeImage(folder / ("images/" + std::to_string(seed) + ".png"), 40, 60, seed);
  const auto notesOf = [&](const char* batch) {
    const CommandResult result = mpmCommand({"bench", "--model", kSegmenter, "--rounds", "1", "--schedule", "none",
                                             "--image", folder / "images", "--batch", batch, "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err;
  };
  EXPECT_THAT(notesOf("3"), AllOf(HasSubstr("--batch 3"), HasSubstr("has 2 images")));
  EXPECT_EQ(notesOf("2"), "");
}

TEST(Bench, AnotherRuntimeThatCannotRunIsARowThatSaysWhy) {
  const std::string echo = "while read -r line; do printf '{\"ok\": false, \"why\": \"%s\"}\\n' \"$*\"; done";
  const CommandResult result =
      mpmCommand({"bench", "--model", kSegmenter, "--rounds", "1", "--schedule", "none", "--threads", "4096", "--json",
                  "--beside", besideText({"/nonexistent"}), "--beside", besideText({"/bin/sh", "-c", "echo no >&2"}),
                  "--beside", besideText({"/bin/sh", "-c", echo, "worker"})});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = result.json();
  const std::string threads = std::to_string(cv::getNumberOfCPUs());
  EXPECT_EQ(json["threads"].dump(), threads);
  EXPECT_THAT(result.err, AllOf(HasSubstr("--threads 4096"), HasSubstr("gets " + threads)));
  const auto& rows = json["variants"];
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1]["runtime"], "other");
  EXPECT_TRUE(rows[1]["ms"]["median"].is_null());
  const char* const notes[] = {"could not be started", "it ended without an answer: no"};
  for (std::size_t i = 0; i < 2; ++i) EXPECT_THAT(rows[i + 1]["note"].get<std::string>(), HasSubstr(notes[i]));
  EXPECT_EQ(rows[3]["note"], "--model " + kSegmenter + " --threads " + threads + " --precision fp32 --reduce none");
  expectFailure(mpmCommand(benchArguments({"--beside", "{}"})), 1, {"--beside", "\"command\""});
}

TEST(Bench, CompareMakesTheWorkersOfItsRuntimes) {
  const auto compared = [](std::vector<std::string> more) {
    more.insert(more.begin(), {kData + "/../../bench/baselines/compare.py", "--mpm", "/bin/echo"});
    return mpmCommand(more, {.program = std::filesystem::relative("/usr/bin/python3", MPM_BINARY_DIR).string()});
  };
  const std::string out = compared({"--runtimes", "torch,opencv", "--reduce", "none", "--reduce", "mpm:blocks=1",
                                    "--reduce", "gradual", "--model", "m.onnx"})
                              .out;
  EXPECT_THAT(out, ::testing::StartsWith("bench --reduce none --reduce mpm:blocks=1 --reduce gradual --precision fp32 "
                                         "--model m.onnx --beside {\"name\": \"torch eager\""));
  for (const char* part : {"\"reduce\": \"mpm:blocks=1\", \"precision\": \"fp32\"", "\"--variant\", \"sdpa\"",
                           "baselines/opencv_worker.py\"]"})
    EXPECT_THAT(out, HasSubstr(part));
  EXPECT_THAT(out, ::testing::Not(HasSubstr("\"reduce\": \"gradual")));
  EXPECT_THAT(compared({"--runtimes", "tvm"}).err, HasSubstr("no runtime tvm"));
}

TEST(Bench, RefusesAScheduleThatTheModelLacksAtOnce) {
  const CommandResult result = mpmCommand(benchArguments({"--schedule", "none", "--schedule", "1,7", "--json"}));
  expectFailure(result, 1, {"1,7", "3 blocks"});
  EXPECT_EQ(result.out, "");
}

TEST(Bench, DefaultSkipsBlocksThatTheModelLacks) {
  const CommandResult result = mpmCommand(benchArguments({"--json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  ASSERT_EQ(result.json()["variants"].size(), 2u);
  EXPECT_EQ(result.json()["variants"][0]["reduce"], "none");
  EXPECT_EQ(result.json()["variants"][1]["reduce"], "mpm:blocks=2");
}

TEST(Bench, MeasuresAConvertedModelAsItWasMade) {
  const TemporaryFolder folder;
  const std::string model = folder / "converted.onnx";
  ASSERT_EQ(mpmCommand({"convert", kSegmenter, "-o", model, "--schedule", "1,2"}).exit_code, 0);
  const auto benchWith = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"bench", "--model", model, "--rounds", "1", "--json"});
    return mpmCommand(more);
  };
  for (const std::vector<std::string>& schedule : {std::vector<std::string>{}, {"--schedule", "1,2"}}) {
    const CommandResult result = benchWith(schedule);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto variants = result.json()["variants"];
    ASSERT_EQ(variants.size(), 1u);
    EXPECT_EQ(variants[0]["name"], "mpm mpm:blocks=1,2 fp32");
    EXPECT_EQ(variants[0]["note"], "") << "there is nothing that its labels could agree with";
  }
  expectFailure(benchWith({"--schedule", "none"}), 1, {"converted with reduction mpm:blocks=1,2", "none"});
  expectFailure(benchWith({"--precision", "bf16"}), 1, {"converted with precision fp32", "bf16"});
}

TEST(Bench, FailsWhenOneOfOursDoes) {
  const CommandResult result = mpmCommand(  // tf32 is a GPU's
      benchArguments({"--schedule", "none", "--precision", "fp32", "--precision", "tf32", "--json"}));
  expectFailure(result, 1, {"mpm none tf32: "});
  const auto variants = result.json()["variants"];
  EXPECT_GT(variants[0]["ms"]["median"], 0) << "what did run is not lost";
  EXPECT_TRUE(variants[1]["ms"]["median"].is_null());
}

TEST(Bench, PrintsATable) {
  const CommandResult result = mpmCommand(benchArguments({"--schedule", "1,2"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("mpm mpm:blocks=1,2 fp32"));
  EXPECT_THAT(result.out, HasSubstr("GEMM peak fp32"));
}

TEST(Bench, NeedsNoStandardInput) {
  const CommandResult result = mpmCommand(benchArguments({"--schedule", "none", "--json"}), {.stdin_is_closed = true});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(result.json()["variants"][0]["ms"]["median"], 0);
}

}  // namespace
}  // namespace mpm::test
