// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/atomic_file.h"
#include "base/class_json.h"
#include "support/temporary_folder.h"
#include "train/checkpoint.h"
#include "train/onnx_file.h"
#include "train/program.h"
#include "train/shapes.h"

namespace mpm::train {
namespace {

namespace fs = std::filesystem;
using test::mpmTrain;
using test::ProgramResult;
using test::TemporaryFolder;
using testing::HasSubstr;

constexpr int kRunSteps = 60;

// A folder of shapes, its classes, and runs on it.
class Resume : public testing::Test {
 protected:
  void SetUp() override {
    test::writeShapes(folder_ / "data", 30, {64, 96});
    writeFileAtomically(folder_ / "classes.json", toJson(test::kShapeClasses).dump());
  }

  std::vector<std::string> arguments(const std::string& out) const {
    return {"--out",        folder_ / out,
            "--data",       folder_ / "data",
            "--classes",    folder_ / "classes.json",
            "--dim",        "64",
            "--blocks",     "2",
            "--size",       "64x96",
            "--batch",      "4",
            "--steps",      std::to_string(kRunSteps),
            "--warmup",     "10",
            "--drop-path",  "0.1",
            "--precision",  "fp32",
            "--threads",    "1",
            "--workers",    "2",
            "--save-every", "7",
            "--eval-every", "20",
            "--name",       "shapes"};
  }
  std::vector<std::string> resumed(const std::string& out) const {
    return {"--out", folder_ / out,  "--resume", "--threads", "1",     "--save-every",
            "7",     "--eval-every", "20",       "--name",    "shapes"};
  }
  std::string log(const std::string& out) const { return readFile(folder_ / (out + "/log.jsonl")); }

  // SIGKILL as soon as the run has saved a checkpoint of at least `step`.
  auto onceSaved(const std::string& out, int step, int signal) const {
    return [path = folder_ / (out + "/checkpoint.safetensors"), step, signal] {
      return fs::exists(path) && readCheckpoint(path).step >= step ? signal : 0;
    };
  }

  TemporaryFolder folder_;
};

TEST_F(Resume, AKilledRunLeavesTheSameLossCurve) {
  const ProgramResult whole = mpmTrain(arguments("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(whole.out, (folder_ / "whole/shapes.onnx") + "\n");
  EXPECT_THAT(whole.err, HasSubstr("step 50 of 60"));
  EXPECT_THAT(whole.err, HasSubstr("mIoU"));

  const ProgramResult killed = mpmTrain(arguments("killed"), onceSaved("killed", 14, SIGKILL));
  ASSERT_EQ(killed.exit_code, -1) << "the run ended before it could be killed";
  const int step = readCheckpoint(folder_ / "killed/checkpoint.safetensors").step;
  ASSERT_LT(step, kRunSteps);
  ASSERT_FALSE(fs::exists(folder_ / "killed/shapes.onnx"));
  const ProgramResult rest = mpmTrain(resumed("killed"));
  ASSERT_EQ(rest.exit_code, 0) << rest.err;

  const std::string expected = log("whole");
  EXPECT_EQ(std::count(expected.begin(), expected.end(), '\n'), kRunSteps + 3) << "a line per step and per evaluation";
  EXPECT_EQ(log("killed"), expected) << "killed after step " << step;
  EXPECT_EQ(readFile(folder_ / "killed/shapes.onnx"), readFile(folder_ / "whole/shapes.onnx"));
}

TEST_F(Resume, InterruptSavesAndEnds) {
  const ProgramResult stopped = mpmTrain(arguments("run"), onceSaved("run", 7, SIGINT));
  ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("--resume"));
  EXPECT_TRUE(fs::exists(folder_ / "run/shapes.onnx"));
  const int step = readCheckpoint(folder_ / "run/checkpoint.safetensors").step;
  EXPECT_LT(step, kRunSteps);
  // Nothing after the checkpoint is lost: the log ends with the step that it holds.
  std::istringstream lines(log("run"));
  int last = 0;
  for (std::string line; std::getline(lines, line);) last = nlohmann::json::parse(line).at("step");
  EXPECT_EQ(last, step);
}

TEST_F(Resume, FineTunesForOtherClassesAndAnotherSize) {
  std::vector<std::string> base = arguments("base");
  *(std::find(base.begin(), base.end(), "--steps") + 1) = "8";
  ASSERT_EQ(mpmTrain(base).exit_code, 0);

  writeFileAtomically(folder_ / "classes.json", R"([{"name":"a","color":"#000000"},{"name":"b","color":"#111111"},
    {"name":"c","color":"#222222"},{"name":"d","color":"#333333"}])");
  std::vector<std::string> tuned = arguments("tuned");
  *(std::find(tuned.begin(), tuned.end(), "--steps") + 1) = "1";
  *(std::find(tuned.begin(), tuned.end(), "--size") + 1) = "64x128";
  tuned.insert(tuned.end(), {"--init", folder_ / "base/checkpoint.safetensors", "--lr", "1e-9", "--average", "0"});
  const ProgramResult result = mpmTrain(tuned);
  ASSERT_EQ(result.exit_code, 0) << result.err;

  const TensorMap before = readCheckpoint(folder_ / "base/checkpoint.safetensors").state;
  const TensorMap after = readCheckpoint(folder_ / "tuned/checkpoint.safetensors").state;
  const std::string name = "encoder.blocks.1.mlp.fc1.weight";
  const auto &from = before.at("average." + name).values, &to = after.at(name).values;
  for (std::size_t i = 0; i < from.size(); ++i) ASSERT_NEAR(from[i], to[i], 1e-7);
  EXPECT_EQ(after.at("decoder.cls_emb").shape, (std::vector<std::int64_t>{1, 4, 64}));
  EXPECT_EQ(after.at("encoder.pos_embed").shape, (std::vector<std::int64_t>{1, 1 + 4 * 8, 64}));
}

TEST_F(Resume, WritesTheMeanOfSeveralModels) {
  const auto written = [&](const std::string& name, std::vector<std::string> words) {
    words.insert(words.begin(), {"--out", folder_ / name, "--export-size", "64x96", "--no-half"});
    const ProgramResult result = mpmTrain(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return weightsOfOnnx(readFile(folder_ / (name + "/shapes.onnx"))).weights;
  };
  std::vector<std::string> words = arguments("");
  words.erase(words.begin(), words.begin() + 2);  // without --out
  *(std::find(words.begin(), words.end(), "--steps") + 1) = "1";
  const TensorMap one = written("one", words);
  words.insert(words.end(), {"--seed", "9"});
  const TensorMap other = written("other", words);
  *(std::find(words.begin(), words.end(), "--steps") + 1) = "0";
  words.insert(words.end(), {"--init", (folder_ / "one/shapes.onnx") + std::string(":0.75,") +
                                           (folder_ / "other/shapes.onnx") + ":0.25"});
  const TensorMap mean = written("mean", words);
  ASSERT_EQ(mean.size(), one.size());
  for (const auto& [name, tensor] : mean)
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      ASSERT_NEAR(tensor.values[i], 0.75 * one.at(name).values[i] + 0.25 * other.at(name).values[i], 1e-6) << name;
}

TEST_F(Resume, RefusesWhatMakesNoSense) {
  const auto fails = [](const std::vector<std::string>& words, int code, const std::string& part) {
    const ProgramResult result = mpmTrain(words);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_EQ(result.out, "");
  };
  fails({}, 2, "--out");
  fails({"--out", folder_ / "x", "--steps", "0"}, 2, "--steps");
  fails({"--out", folder_ / "x", "--init", "a.onnx:0.5,b.onnx:0.4"}, 2, "sum to 1");
  for (const char* name : {"", "a/b"}) fails({"--out", folder_ / "x", "--name", name}, 2, "--name");
  for (const char* option : {"--workers", "--threads"})
    for (const char* count : {"-1", "100000"}) fails({"--out", folder_ / "x", option, count}, 2, option);
  fails({"--out", folder_ / "x", "--blocks", "-1"}, 2, "--blocks");
  fails({"--out", folder_ / "x", "--size", "96"}, 2, "'96' is not a size");
  fails({"--out", folder_ / "x", "--resume", "--lr", "1"}, 2, "--lr");
  fails({"--out", folder_ / "x", "--resume"}, 1, "checkpoint.safetensors");
  fails({"--out", folder_ / "x", "--data", folder_ / "none", "--classes", folder_ / "classes.json"}, 1, "none");
  fs::create_directories(folder_ / "used");
  writeFileAtomically(folder_ / "used/checkpoint.safetensors", "x");
  fails(arguments("used"), 1, "--resume");
  fails({"--out", folder_ / "used", "--resume"}, 1, "not a safetensors file");
}

}  // namespace
}  // namespace mpm::train
