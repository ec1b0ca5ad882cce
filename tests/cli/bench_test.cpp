// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <regex>

#include "cli/command.h"
#include "cli/models.h"

namespace mpm::test {
namespace {

using ::testing::Lt;

using Bench = InFolder;

CommandResult bench(const Words& more, const CommandOptions& options = {}) {
  return mpmCommand(Words{"bench", "--model", kSegmenter, "--rounds", "3", "--warm-up", "1", "--threads", "1"} + more,
                    options);
}

TEST_F(Bench, SaysInJsonWhatWasComparedAndEveryRound) {
  const std::string image = folder_ / "a user-pw=secret.png";
  writeImage(image, 40, 60);
  const auto json = succeeded(bench({"--reduce", "none", "--reduce", "mpm:blocks=1,2:attention=proportional", "--image",
                                     image, "--batch", "2", "--simulate-night", "0.2", "--json"},
                                    {.stdin_is_closed = true}))
                        .json();
  EXPECT_EQ(json["model"]["path"], kSegmenter);
  EXPECT_EQ(json["model"]["digest"].get<std::string>().size(), 16u);
  EXPECT_THAT(json["image"].get<std::string>(), AllOf(StartsWith(folder_ / "a "), Not(HasSubstr("secret"))));
  EXPECT_EQ(json["simulated_night"]["gain"], 0.2);
  EXPECT_EQ(json["input"], nlohmann::json::parse(R"({"height": 32, "width": 64})"));
  EXPECT_EQ((nlohmann::json{json["device"], json["threads"], json["batch"], json["warm_up"], json["rounds"]}),
            (nlohmann::json{"cpu", 1, 2, 1, 3}));
  EXPECT_TRUE(json.contains("cpu"));
  ASSERT_EQ(json["variants"].size(), 2u);
  const auto &full = json["variants"][0], &merged = json["variants"][1];
  EXPECT_EQ(full["reduce"], "none");
  EXPECT_EQ(merged["reduce"], "mpm:blocks=1,2:attention=proportional");
  EXPECT_EQ(full["ratio"], 1);
  for (const auto& row : {full, merged}) {
    EXPECT_EQ((nlohmann::json{row["precision"], row["batch"]}), (nlohmann::json{"fp32", 2}));
    std::vector<double> rounds = row["ms"]["rounds"];
    ASSERT_EQ(rounds.size(), 3u);
    std::sort(rounds.begin(), rounds.end());
    EXPECT_DOUBLE_EQ(row["ms"]["median"], rounds[1]);
    EXPECT_DOUBLE_EQ(row["ms"]["p10"], rounds[0] + 0.2 * (rounds[1] - rounds[0]));
    EXPECT_DOUBLE_EQ(row["ms"]["p90"], rounds[1] + 0.8 * (rounds[2] - rounds[1]));
    EXPECT_DOUBLE_EQ(row["ratio"], row["ms"]["median"].get<double>() / full["ms"]["median"].get<double>());
    std::vector<double> ratios;
    for (std::size_t i = 0; i < 3; ++i)
      ratios.push_back(row["ms"]["rounds"][i].get<double>() / full["ms"]["rounds"][i].get<double>());
    std::ranges::sort(ratios);
    EXPECT_DOUBLE_EQ(row["ratio_per_round"]["median"], ratios[1]);
    EXPECT_DOUBLE_EQ(row["ratio_per_round"]["p25"], (ratios[0] + ratios[1]) / 2);
    EXPECT_DOUBLE_EQ(row["ratio_per_round"]["p75"], (ratios[1] + ratios[2]) / 2);
    EXPECT_DOUBLE_EQ(row["peak_fraction"], row["gflop"].get<double>() / row["ms"]["median"].get<double>() * 1e3 /
                                               json["gemm_peak_gflops"]["fp32"].get<double>());
    EXPECT_EQ(row["stages"].size(), 4u);
    EXPECT_EQ(row["tokens"].size(), 2u) << "of each image of the batch";
  }
  EXPECT_LT(merged["gflop"], full["gflop"]) << "only live rows count";
  EXPECT_TRUE(merged["agreement"].is_null()) << "noise has no labels to compare";
}

TEST_F(Bench, SaysThatABatchRepeatsImages) {
  fs::create_directories(folder_ / "images");
  for (int seed = 1; seed <= 2; ++seed) writeImage(folder_ / ("images/" + std::to_string(seed) + ".png"), 40, 60, seed);
  const auto notesOf = [&](const char* batch) {
    return succeeded(mpmCommand({"bench", "--model", kSegmenter, "--rounds", "1", "--reduce", "none", "--image",
                                 folder_ / "images", "--batch", batch, "--json"}))
        .err;
  };
  EXPECT_THAT(notesOf("3"), AllOf(HasSubstr("--batch 3"), HasSubstr("has 2 images")));
  EXPECT_EQ(notesOf("2"), "");
}

// Of one round the operators of the head add up to what the stages say, and each layer counts once.
TEST_F(Bench, TimesTheOperatorsOfAHead) {
  const Words command = {"bench",    "--model", kDepthModel, "--warm-up", "0",
                         "--rounds", "1",       "--reduce",  "none",      "--head"};
  const auto row = succeeded(mpmCommand(command + Words{"--json"})).json()["variants"][0];
  double sum = 0, before = 1e9;
  std::map<std::string, int> layers;
  for (const auto& time : row["head"]) {
    const double ms = time["ms"];
    EXPECT_LE(ms, before) << "the slowest first";
    before = ms;
    sum += ms;
    layers[time["operator"]] = time["layers"];
  }
  EXPECT_NEAR(sum, row["stages"]["head"].get<double>(), 1e-3);
  EXPECT_GT(sum, 0);
  const std::string converted = folder_ / "converted.onnx";
  succeeded(mpmCommand({"convert", kDepthModel, "--reduce", "none", "-o", converted}));
  const std::string bytes = readFile(converted), op = "HeadConvolve";
  int nodes = 0;  // each has its operator in the file once
  for (std::size_t at = bytes.find(op); at != std::string::npos; at = bytes.find(op, at + 1)) ++nodes;
  EXPECT_EQ(layers[op], nodes);
  const std::string two = "[0-9]+\\.[0-9][0-9]";  // digits
  EXPECT_THAT(succeeded(mpmCommand(command)).out,
              AllOf(HasSubstr("head of mpm none fp32, means:"),
                    ::testing::ContainsRegex("HeadConvolve +[0-9]+ +[0-9.]+ +[0-9]+ %"),
                    ::testing::ContainsRegex("\nmpm none fp32 +" + two + " +" + two + " - " + two + " +1\\.000 +" +
                                             two + " ")));
  EXPECT_TRUE(succeeded(bench({"--reduce", "none", "--json"})).json()["variants"][0]["head"].empty());
  expectFailure(bench({"--head", "--reuse", "auto", "--image", folder_.path()}), 2, {"--head", "--reuse"});
}

TEST_F(Bench, UsesNoMoreThreadsThanThereAreCpus) {
  const CommandResult result = succeeded(
      mpmCommand({"bench", "--model", kSegmenter, "--rounds", "1", "--reduce", "none", "--threads", "4096", "--json"}));
  const std::string threads = std::to_string(cv::getNumberOfCPUs());
  EXPECT_EQ(result.json()["threads"].dump(), threads);
  EXPECT_THAT(result.err, AllOf(HasSubstr("--threads 4096"), HasSubstr(threads + " are used")));
}

// The frames follow each other, and each variant sees the same ones.
TEST_F(Bench, ReuseRunsOverTheFramesOfASequence) {
  for (int i = 0; i < 5; ++i) writeImage(folder_ / (std::to_string(i) + ".png"), 40, 60);  // nothing changes
  const auto rows = succeeded(bench({"--image", folder_.path(), "--reduce", "none", "--reuse", "off", "--reuse",
                                     "threshold=12", "--json"}))
                        .json()["variants"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["rows"].size(), 0u);
  EXPECT_EQ(rows[1]["rows"].size(), 3u) << "the warm-up does not count";
  EXPECT_LT(rows[1]["rows"].back(), 0.5);
  EXPECT_EQ(rows[1]["agreement"], 100);
  const auto cold =
      succeeded(mpmCommand({"bench", "--model", kSegmenter, "--image", folder_.path(), "--rounds", "3", "--warm-up",
                            "0", "--reduce", "none", "--precision", "int8", "--reuse", "threshold=12", "--json"}))
          .json();
  EXPECT_EQ(cold["warm_up"], 1) << "the first frame is computed in full";
  EXPECT_THAT(cold["variants"][0]["rows"], AllOf(SizeIs(3), Each(Lt(0.5))));
  expectFailure(mpmCommand({"bench", "--model", kSegmenter, "--image", folder_.path(), "--reuse", "auto"}), 1,
                {"ends after 5 frames: --rounds 20 and --warm-up 3"});
  expectFailure(mpmCommand({"bench", "--model", kSegmenter, "--reuse", "auto"}), 2,
                {"--reuse needs --image with a sequence of frames"});
}

TEST_F(Bench, MeasuresAConvertedModelAsItWasMade) {
  const std::string model = folder_ / "converted.onnx";
  ASSERT_EQ(mpmCommand({"convert", kSegmenter, "-o", model, "--reduce", "mpm:blocks=1,2"}).exit_code, 0);
  const auto benchWith = [&](const Words& more) {
    return mpmCommand(Words{"bench", "--model", model, "--rounds", "1", "--json"} + more);
  };
  for (const Words& schedule : {Words{}, {"--reduce", "mpm:blocks=1,2"}}) {
    const CommandResult result = succeeded(benchWith(schedule));
    const auto variants = result.json()["variants"];
    ASSERT_EQ(variants.size(), 1u);
    EXPECT_EQ(variants[0]["name"], "mpm mpm:blocks=1,2 fp32");
    EXPECT_EQ(variants[0]["note"], "") << "there is nothing that its labels could agree with";
  }
  expectFailure(benchWith({"--reduce", "none"}), 1, {"converted with reduction mpm:blocks=1,2", "none"});
  expectFailure(benchWith({"--precision", "bf16"}), 1, {"converted with precision fp32", "bf16"});
}

// The columns of every row: model, batch, precision, reduction, reuse.
std::vector<std::string> boardRows() {
  const auto lines = succeeded(mpmCommand({"bench", "--board", "--input-size", "64x96", "--rounds", "1", "--warm-up",
                                           "1", "--threads", "1"}))
                         .lines();
  EXPECT_THAT(lines[0], AllOf(HasSubstr("1 thread,"), HasSubstr("1 frame of demo:street")));
  EXPECT_EQ(std::count(lines[2].begin(), lines[2].end(), '|'), std::count(lines[4].begin(), lines[4].end(), '|'));
  std::vector<std::string> rows;
  for (std::size_t i = 4; i < lines.size(); ++i) {
    std::smatch row;
    EXPECT_TRUE(
        std::regex_match(lines[i], row, std::regex(R"(\| (.*) \| \d+\.\d \| \d+\.\d - \d+\.\d \| \d+\.\d{3} \| .*)")))
        << lines[i];
    rows.push_back(row[1]);
    EXPECT_TRUE(!rows.back().ends_with("fp32 | none | off") || lines[i].find(" | 1.000 | ") != std::string::npos)
        << lines[i];
  }
  return rows;
}

TEST_F(Bench, BoardChoosesPictureAndBatch) {
  expectFailure(mpmCommand({"bench", "--board", "--image", "demo:"}), 2, {"--board", "--image"});
  expectFailure(mpmCommand({"bench", "--board", "--batch", "4"}), 2, {"--board", "--batch"});
}

TEST_F(Bench, LongBoardMeasuresTheDefaultModelAndTheNetworksOfThePaperInEveryFastPrecision) {
  const auto rows = boardRows();
  for (const char* part : {"outdoor_vit_t16 | 1", "Seg-T | 1", "Seg-T | 2", "Seg-S | 1", "Seg-S | 2"}) {
    for (const char* reduction : {"none", "mpm:blocks=2,5", "gradual"})
      EXPECT_THAT(rows, Contains(std::string(part) + " | fp32 | " + reduction + " | off"));
  }
  EXPECT_THAT(rows, Contains("outdoor_vit_t16 | 1 | fp32 | gradual | auto"));
  const auto build = mpmCommand({"info", kSegmenter, "--json"}).json()["mpm"];
  std::size_t precisions = 1;
  for (const char* precision : {"bf16", "fp16", "int8"}) {
    precisions += build[precision].get<bool>() ? 1 : 0;
    EXPECT_EQ(build[precision].get<bool>(),
              std::ranges::count(rows, "Seg-T | 2 | " + std::string(precision) + " | none | off"));
  }
  EXPECT_EQ(rows.size(), precisions * 18);
}

TEST_F(Bench, FailsWhenOneOfOursDoes) {
  // tf32 is a GPU's
  const CommandResult result = bench({"--reduce", "none", "--precision", "fp32", "--precision", "tf32", "--json"});
  expectFailure(result, 1, {"mpm none tf32: "});
  const auto variants = result.json()["variants"];
  EXPECT_GT(variants[0]["ms"]["median"], 0) << "what did run is not lost";
  EXPECT_TRUE(variants[1]["ms"]["median"].is_null());
}

}  // namespace
}  // namespace mpm::test
