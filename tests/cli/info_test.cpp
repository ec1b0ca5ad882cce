// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"
#include "mpm/version.hpp"

namespace mpm::test {
namespace {

using ::testing::ContainsRegex;

using Info = InFolder;

TEST_F(Info, SaysWhatAModelIsAsJson) {
  const CommandResult result = succeeded(mpmCommand({"info", kSegmenter, "--json"}));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.lines().size(), 1u);
  const auto json = result.json();
  EXPECT_EQ(json["blocks"], 3);
  EXPECT_EQ(json["patch"], (nlohmann::json{{"height", 8}, {"width", 8}}));
  EXPECT_EQ(json["special_tokens"], 1);
  EXPECT_EQ(json["input"], (nlohmann::json{{"height", 32}, {"width", 64}}));
  EXPECT_EQ(json["head"], "mask_transformer");
  EXPECT_EQ(json["task"], "semantic");
  EXPECT_TRUE(json["depth"].is_null());
  EXPECT_EQ(json["classes"], 4);
  EXPECT_EQ(json["opset"], 17);
  EXPECT_FALSE(json["converted"]);
  EXPECT_EQ(json["reduce"], "mpm:blocks=2");
  EXPECT_EQ(json["parameters"], 15672) << "without the scales of a Resize";
  EXPECT_EQ(json["dim"], 16);
  EXPECT_EQ(json["heads"], 2);
  EXPECT_EQ(json["scores"], false);
  EXPECT_EQ(json["mpm"]["version"], MPM_VERSION);
  EXPECT_THAT(json["mpm"]["instruction_sets"], Contains(json["mpm"]["instruction_set"]));
  EXPECT_EQ(json["mpm"]["cuda_devices"].empty(), json["mpm"]["cuda_problem"] != "");
}

TEST_F(Info, ItsLinesAreAllThatIsKnownOfAModel) {
  const std::string model = folder_ / "street.onnx";
  fs::copy_file(kSegmenter, model);
  std::ofstream(folder_ / "street.json") << R"({"mean": [0.1, 0.2, 0.3], "std": [0.4, 0.5, 0.6],
      "input": {"channels": "BGR"}, "classes": [{"name": "road"}, {"name": "sky"}, {"name": "car"}, {"name": "tree"}]})";
  EXPECT_THAT(succeeded(mpmCommand({"info", model})).out, StartsWith("path            " + model + R"(
name            street
file            a plain ViT
blocks          3
dim             16
heads           2
patch           8 x 8 px (width x height)
special tokens  1
input           64 x 32 px (width x height), 32 tokens: 8 x 4 patches (width x height)
channels        BGR
mean            0.1, 0.2, 0.3
std             0.4, 0.5, 0.6
head            mask_transformer
task            semantic
classes         4: road, sky, car, tree
reduce          mpm:blocks=2 by default
precision       fp32
opset           17
parameters      0.02 million
outputs         labels
mpm             )" MPM_VERSION ", OpenCV "));
  EXPECT_THAT(mpmCommand({"info", kSegmenter}).out, HasSubstr("\nstd             0.5, 0.5, 0.5 (assumed)\n"));
}

TEST_F(Info, NamesTheScoresOfAConvertedFile) {
  const std::string model = folder_ / "scores.onnx";
  succeeded(mpmCommand({"convert", kSegmenter, "--scores", "-o", model}));
  EXPECT_THAT(succeeded(mpmCommand({"info", model})).out, HasSubstr("\noutputs         labels, scores\n"));
  EXPECT_EQ(mpmCommand({"info", model, "--json"}).json()["scores"], true);
}

// info() of the Python package has the keys of --json, but for the path and what is of this build.
TEST_F(Info, ItsKeysAreThoseOfPython) {
  auto json = mpmCommand({"info", kSegmenter, "--json"}).json();
  std::set<std::string> keys, of_python;
  for (const auto& [key, value] : json.items()) keys.insert(key);
  for (const char* own : {"path", "mpm"}) EXPECT_EQ(keys.erase(own), 1u) << own;
  const std::string module = readFile(kData + "/../../python/module.cpp");
  const std::string begin = "nb::dict toDict(const ModelInfo& info)", key = "dict[\"";
  for (std::size_t at = module.find(begin), end = module.find("\n}", at); (at = module.find(key, at)) < end;) {
    at += key.size();
    of_python.insert(module.substr(at, module.find('"', at) - at));
  }
  EXPECT_EQ(of_python, keys);
}

TEST_F(Info, AnInstructionSetThatThereIsNotIsNoted) {
  const auto info = [](const std::string& set) {
    return succeeded(mpmCommand({"info", kSegmenter, "--json"}, {.environment = {{"MPM_INSTRUCTION_SET", set}}}));
  };
  const CommandResult misspelt = info("avx-2");
  EXPECT_THAT(misspelt.err, HasSubstr("MPM_INSTRUCTION_SET is 'avx-2'"));
  EXPECT_EQ(misspelt.json()["mpm"]["instruction_set"], misspelt.json()["mpm"]["instruction_sets"][0])
      << "the best one in its place";
  EXPECT_THAT(misspelt.err, HasSubstr(misspelt.json()["mpm"]["instruction_set"].get<std::string>() + " is used"));
  EXPECT_EQ(info(misspelt.json()["mpm"]["instruction_sets"].back()).err, "");
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
    EXPECT_THAT(table, ::testing::ContainsRegex("fast here +fp32(, bf16)?(, fp16)?(, int8)?\n"));
    const bool int8 = table.find(", int8\n") != std::string::npos;
    if (set != "neon") {  // which has it with SDOT only
      EXPECT_EQ(int8, set != "scalar");
    }
    std::vector<Words> verbs = {{"run"}};
    if (set == sets.back()) verbs.push_back({"bench", "--rounds", "1", "--warm-up", "0", "--image"});
    for (const Words& verb : verbs) {
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

}  // namespace
}  // namespace mpm::test
