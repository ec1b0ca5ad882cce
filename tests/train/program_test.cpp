// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "mpm/read_net.hpp"
#include "scene/street.h"
#include "train/segmenter_file.h"

namespace mpm::train {
namespace {

using test::CommandResult;
using test::Words;
using test::operator+;

CommandResult mpmTrain(const Words& arguments, test::CommandOptions options = {}) {
  options.program = "mpm-train";
  options.timeout_s = 3000;
  return mpmCommand(arguments, options);
}

class Program : public test::InFolder {
 protected:
  // The least that trains: one image of 4 x 6 patches a step.
  Words small(const std::string& out, const std::string& steps) const {
    return {"--out",     folder_ / out, "--size",      "64x96", "--batch",     "1", "--steps",  steps, "--warmup", "1",
            "--threads", "1",           "--precision", "fp32",  "--scale-max", "1", "--no-half"};
  }
  TensorMap written(const std::string& out, const std::string& steps, const Words& more) const {
    const std::string model = folder_ / (out + "/segmenter.onnx");
    EXPECT_EQ(succeeded(mpmTrain(small(out, steps) + more)).out, model + "\n");
    return readSegmenter(model).weights;
  }
};

TEST_F(Program, ASeedGivesTheSameWeightsAndAMeanIsAMean) {
  const TensorMap one = written("one,two", "2", {"--seed", "3"}), again = written("again", "2", {"--seed", "3"});
  const TensorMap other = written("other", "1", {"--seed", "4", "--optimizer", "muon"});
  for (const auto& [name, tensor] : one) ASSERT_EQ(tensor.values, again.at(name).values) << name;
  EXPECT_NE(one.at("encoder.norm.weight").values, other.at("encoder.norm.weight").values);
  const std::string parts =
      (folder_ / "one,two/segmenter.onnx") + ":0.75," + (folder_ / "other/segmenter.onnx") + ":0.25";
  for (const auto& [name, tensor] : written("mean", "0", {"--init", parts})) {
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      ASSERT_NEAR(tensor.values[i], 0.75 * one.at(name).values[i] + 0.25 * other.at(name).values[i], 1e-6) << name;
  }
}

TEST_F(Program, InterruptWritesTheModelAndEnds) {
  const Words words = small("a run", "100000") + Words{"--save-every", "1"};
  const std::string model = folder_ / "a run/segmenter.onnx";
  const CommandResult stopped =
      mpmTrain(words, {.signal_after_first_line = SIGINT, .signal_when = [&] { return fs::exists(model); }});
  ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_EQ(stopped.out, model + "\n");
  EXPECT_THAT(stopped.err, HasSubstr("--init '" + model + "' goes on"));
  EXPECT_EQ(readSegmenter(model).config.input, (Size2{64, 96}));
  expectFailure(mpmTrain(words), 1, {"already exists"});
}

TEST_F(Program, RefusesWhatMakesNoSense) {
  const auto fails = [&](const Words& more, int code, const std::string& part) {
    const CommandResult result = mpmTrain(Words{"--out", folder_ / "x"} + more);
    expectFailure(result, code, {part});
    EXPECT_EQ(result.out, "");
  };
  const std::vector<std::pair<std::string, std::string>> values = {
      {"--steps", "0"},         {"--init", "a.onnx:0.5,b.onnx:0.4"},
      {"--name", ""},           {"--name", "a/b"},
      {"--threads", "-1"},      {"--threads", "100000"},
      {"--size", "96"},         {"--size", "100x96"},
      {"--export-size", "8x8"}, {"--batch", "0"},
      {"--lr", "-1"},           {"--scale-min", "3"},
      {"--varied", "1.5"},      {"--label-stride", "3"},
      {"--average", "1"},       {"--optimizer", "sgd"},
      {"--precision", "fp64"},  {"--final-lr", "2"},
      {"--per-view", "0"}};
  for (const auto& [option, value] : values) {
    fails({option, value}, 2,
          option == "--size" || option == "--export-size" ? value
          : option == "--init"                            ? "sum to 1"
                                                          : option);
  }
  fails({"--init", folder_ / "none.onnx"}, 1, "none.onnx");
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

TEST_F(Program, ItsModelsSayHowTheirPixelsAreScaled) {
  const std::string street = std::string(MPM_SOURCE_DIR) + "/models/street_vit_t16.onnx";
  written("mean", "0", {"--init", street + ":0.25," + street + ":0.75"});
  const auto json = nlohmann::json::parse(readFile(folder_ / "mean/segmenter.json"));
  for (const char* key : {"mean", "std"}) EXPECT_EQ(json.value(key, nlohmann::json()), (nlohmann::json{0.5, 0.5, 0.5}));
}

using FromScratch = test::InFolder;

// The way of the default model in small: random weights, the rendered scene, some minutes, ONNX, the library.
TEST_F(FromScratch, TheSceneIsLearnedAndTheModelIsWritten) {
  const CommandResult run =
      mpmTrain({"--out", folder_ / "run", "--size", "128x192", "--batch", "8", "--steps", "160", "--warmup", "20",
                "--average", "0", "--no-half", "--precision", "fp32", "--threads", "1", "--scale-max", "1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  cv::dnn::Net net = readNet(folder_ / "run/segmenter.onnx", {.reduce = kFullModel}).net;
  double right = 0, pixels = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const scene::StreetOptions options{.seed = seed, .size = {192, 128}};
    const scene::Rendering street = scene::Street(options).render(options.start);
    net.setInput(cv::dnn::blobFromImage(street.image, 1 / 127.5, {}, cv::Scalar::all(127.5), true));
    cv::Mat labels = net.forward("labels"), bytes;
    cv::Mat(128, 192, CV_32F, labels.data).convertTo(bytes, CV_8U);
    right += cv::countNonZero(bytes == street.labels);
    pixels += static_cast<double>(bytes.total());
  }
  RecordProperty("pixel_accuracy", std::to_string(right / pixels));
  EXPECT_GT(right / pixels, 0.6) << "of streets that it never saw";
}

}  // namespace
}  // namespace mpm::train
