// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/models.h"
#include "mpm/version.hpp"

namespace mpm::test {
namespace {

using Info = InFolder;

TEST_F(Info, SaysWhatAModelIsAsJson) {
  const CommandResult result = succeeded(mpmCommand({"info", kSegmenter, "--json"}));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.lines().size(), 1u);
  const auto json = result.json();
  EXPECT_EQ(json["blocks"], 3);
  EXPECT_EQ(json["patch"], 8);
  EXPECT_EQ(json["special_tokens"], 1);
  EXPECT_EQ(json["input"], (nlohmann::json{{"height", 32}, {"width", 64}}));
  EXPECT_EQ(json["head"], "mask_transformer");
  EXPECT_EQ(json["task"], "semantic");
  EXPECT_TRUE(json["depth"].is_null());
  EXPECT_EQ(json["classes"], 4);
  EXPECT_EQ(json["opset"], 17);
  EXPECT_FALSE(json["converted"]);
  EXPECT_EQ(json["reduce"], "mpm:blocks=2");
  EXPECT_EQ(json["parameters"], 15676);
  EXPECT_EQ(json["dim"], 16);
  EXPECT_EQ(json["heads"], 2);
  EXPECT_EQ(json["mpm"]["version"], MPM_VERSION);
  EXPECT_THAT(json["mpm"]["instruction_sets"], Contains(json["mpm"]["instruction_set"]));
  EXPECT_EQ(json["mpm"]["cuda_devices"].empty(), json["mpm"]["cuda_problem"] != "");
}

TEST_F(Info, TheOldNameOfAReductionIsRead) {
  const std::pair<Words, const char*> all[] = {
      {{"--schedule", "1,2"}, "mpm:blocks=1,2"}, {{"--schedule=1"}, "mpm:blocks=1"}, {{"--schedule", "none"}, "none"}};
  for (const auto& [old, reduction] : all) {
    succeeded(mpmCommand(Words{"convert", kSegmenter, "-o", folder_ / "net.onnx"} + old));
    EXPECT_EQ(mpmCommand({"info", folder_ / "net.onnx", "--json"}).json()["reduce"], reduction);
  }
  expectFailure(mpmCommand({"convert", kSegmenter, "-o", folder_ / "net.onnx", "--schedule"}), 2, {"--schedule"});
  expectFailure(mpmCommand({"run", "--", "--schedule", "none"}), 1, {"--schedule"});
}

TEST_F(Info, SaysWhichPrecisionsAreFastAndOthersSaySoOnce) {
  const auto sets = mpmCommand({"info", kSegmenter, "--json"}).json()["mpm"]["instruction_sets"];
  writeImage(folder_ / "street.png", 40, 60);
  for (const std::string set : sets) {
    SCOPED_TRACE(set);
    const CommandOptions with{.environment = {{"MPM_INSTRUCTION_SET", set}}};
    const std::string table = mpmCommand({"info", kSegmenter}, with).out;
    EXPECT_THAT(table, HasSubstr(", " + set + " (of "));
    EXPECT_THAT(table, HasSubstr("64 x 32 px (width x height), 32 tokens: 8 x 4 patches (width x height)\n"));
    EXPECT_THAT(table, ::testing::ContainsRegex("fast here +fp32(, bf16)?(, fp16)?(, int8)?\n"));
    const bool int8 = table.find(", int8\n") != std::string::npos;
    if (set != "neon") {  // which has it with SDOT only
      EXPECT_EQ(int8, set != "scalar");
    }
    for (const Words& verb : {Words{"run"}, {"bench", "--rounds", "1", "--warm-up", "0", "--image"}}) {
      const CommandResult result = succeeded(
          mpmCommand(verb + Words{folder_ / "street.png", "--model", kSegmenter, "--precision", "int8"}, with));
      const std::string said = "int8 is no faster than fp32";
      EXPECT_EQ(result.err.find(said) == std::string::npos, int8) << result.err;
      EXPECT_EQ(result.err.find(said), result.err.rfind(said)) << "once";
    }
  }
}

// And each of them, by the name that is listed, runs a net.
TEST_F(Info, ListsTheDevicesThatThereAre) {
  const auto json = mpmCommand({"info", kSegmenter, "--json"}).json()["mpm"];
  const std::string table = mpmCommand({"info", kSegmenter}).out;
  writeImage(folder_ / "street.png", 40, 60);
  const auto on = [&](const std::string& device) {
    return mpmCommand(
        {"run", folder_ / "street.png", "--model", kSegmenter, "--reduce", "mpm:blocks=1", "--device", device});
  };
  EXPECT_EQ(on("auto").exit_code, 0);
  for (const auto& device : json["cuda_devices"]) {
    EXPECT_THAT(table, HasSubstr(device["name"].get<std::string>()));
    EXPECT_GT(device["memory_bytes"], 0);
    EXPECT_EQ(on(device["device"]).exit_code, 0);
  }
  if (json["cuda_devices"].empty()) {
    EXPECT_THAT(table, HasSubstr("CUDA devices    none"));
    expectFailure(on("cuda"), 1, {"device 'cuda'", "use the device cpu"});
  }
  expectFailure(on("cuda:99"), 1, {"device 'cuda:99'"});
}

TEST_F(Info, PrintsATable) {
  const std::map<std::string, std::string> expected = {
      {"path", kSegmenter},
      {"name", "segmenter_mask_ts17"},
      {"file", "a plain ViT"},
      {"blocks", "3"},
      {"dim", "16"},
      {"heads", "2"},
      {"patch", "8 x 8 px (width x height)"},
      {"special tokens", "1"},
      {"input", "64 x 32 px (width x height), 32 tokens: 8 x 4 patches (width x height)"},
      {"channels", "RGB"},
      {"mean", "0.5, 0.5, 0.5 (assumed)"},
      {"std", "0.5, 0.5, 0.5 (assumed)"},
      {"head", "mask_transformer"},
      {"task", "semantic"},
      {"classes", "4"},
      {"reduce", "mpm:blocks=2 by default"},
      {"precision", "fp32"},
      {"opset", "17"},
      {"parameters", "0.02 million"},
      {"outputs", "labels"}};
  std::map<std::string, std::string> rows;
  for (const std::string& line : succeeded(mpmCommand({"info", kSegmenter})).lines())
    rows[line.substr(0, line.find("  ")).substr(0, line.find_last_not_of(' ', 15) + 1)] = line.substr(16);
  for (const char* of_this_computer : {"mpm", "fast here", "CUDA devices"}) {
    EXPECT_EQ(rows.count(of_this_computer), 1u);
    rows.erase(of_this_computer);
  }
  EXPECT_EQ(rows, expected);
  EXPECT_THAT(mpmCommand({"info", kClassifier}).out,
              AllOf(HasSubstr("blocks          3\n"), HasSubstr("head            classifier\n"),
                    HasSubstr("task            none\n")));
  EXPECT_THAT(mpmCommand({"info", kDepthModel}).out, HasSubstr("task            depth, relative\n"));
  const auto depth = mpmCommand({"info", kDepthModel, "--json"}).json();
  EXPECT_EQ((nlohmann::json{depth["task"], depth["depth"]}), (nlohmann::json{"depth", "relative"}));
  EXPECT_TRUE(mpmCommand({"info", kClassifier, "--json"}).json()["task"].is_null());
}

TEST_F(Info, SaysWhichNormalisationIsAssumed) {
  fs::copy_file(kSegmenter, folder_ / "m.onnx");
  EXPECT_THAT(
      mpmCommand({"info", folder_ / "m.onnx"}).out,
      HasSubstr(
          "channels        RGB\nmean            0.5, 0.5, 0.5 (assumed)\nstd             0.5, 0.5, 0.5 (assumed)\n"));
  EXPECT_TRUE(mpmCommand({"info", folder_ / "m.onnx", "--json"}).json()["assumed"]);
  std::ofstream(folder_ / "m.json") << R"({"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]})";
  EXPECT_THAT(mpmCommand({"info", folder_ / "m.onnx"}).out, HasSubstr("mean            0.485, 0.456, 0.406\n"));
  const auto json = mpmCommand({"info", folder_ / "m.onnx", "--json"}).json();
  EXPECT_EQ(json["std"], (nlohmann::json{0.229, 0.224, 0.225}));
  EXPECT_FALSE(json["assumed"]);
}

TEST_F(Info, NamesTheInstructionSetOfTheEnvironment) {
  const auto json =
      mpmCommand({"info", kSegmenter, "--json"}, {.environment = {{"MPM_INSTRUCTION_SET", "no such set"}}}).json();
  EXPECT_EQ(json["mpm"]["instruction_set"], json["mpm"]["instruction_sets"][0]) << "the best one in its place";
}

}  // namespace
}  // namespace mpm::test
