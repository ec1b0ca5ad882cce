// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <opencv2/dnn.hpp>

#include "mpm/read_net.hpp"
#include "scene/street.h"
#include "support/temporary_folder.h"
#include "train/program.h"
#include "train/segmenter_file.h"

namespace mpm::train {
namespace {

namespace fs = std::filesystem;
using test::mpmTrain;
using test::ProgramResult;
using testing::HasSubstr;

class Program : public testing::Test {
 protected:
  // The least that trains: one image of 4 x 6 patches a step.
  std::vector<std::string> small(const std::string& out, const std::string& steps) const {
    return {"--out",     folder_ / out, "--size",      "64x96", "--batch",     "1", "--steps",  steps, "--warmup", "1",
            "--threads", "1",           "--precision", "fp32",  "--scale-max", "1", "--no-half"};
  }
  TensorMap written(const std::string& out, const std::string& steps, const std::vector<std::string>& more) const {
    std::vector<std::string> words = small(out, steps);
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = mpmTrain(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, (folder_ / (out + "/segmenter.onnx")) + "\n");
    return readSegmenter(folder_ / (out + "/segmenter.onnx")).weights;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Program, ASeedGivesTheSameWeightsAndAMeanIsAMean) {
  const TensorMap one = written("one", "2", {"--seed", "3"}), again = written("again", "2", {"--seed", "3"});
  const TensorMap other = written("other", "1", {"--seed", "4", "--optimizer", "muon"});
  for (const auto& [name, tensor] : one) ASSERT_EQ(tensor.values, again.at(name).values) << name;
  EXPECT_NE(one.at("encoder.norm.weight").values, other.at("encoder.norm.weight").values);
  const std::string parts = (folder_ / "one/segmenter.onnx") + ":0.75," + (folder_ / "other/segmenter.onnx") + ":0.25";
  for (const auto& [name, tensor] : written("mean", "0", {"--init", parts}))
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      ASSERT_NEAR(tensor.values[i], 0.75 * one.at(name).values[i] + 0.25 * other.at(name).values[i], 1e-6) << name;
}

TEST_F(Program, InterruptWritesTheModelAndEnds) {
  std::vector<std::string> words = small("run", "100000");
  words.insert(words.end(), {"--save-every", "1"});
  const std::string model = folder_ / "run/segmenter.onnx";
  const ProgramResult stopped = mpmTrain(words, [&] { return fs::exists(model) ? SIGINT : 0; });
  ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_EQ(stopped.out, model + "\n");
  EXPECT_THAT(stopped.err, HasSubstr("--init " + model));
  EXPECT_EQ(readSegmenter(model).config.input, (Size2{64, 96}));
  const ProgramResult second = mpmTrain(words);
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("already exists"));
}

TEST_F(Program, RefusesWhatMakesNoSense) {
  const auto fails = [&](const std::vector<std::string>& more, int code, const std::string& part) {
    std::vector<std::string> words = {"--out", folder_ / "x"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = mpmTrain(words);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(part));
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
  for (const auto& [option, value] : values)
    fails({option, value}, 2,
          option == "--size" || option == "--export-size" ? value
          : option == "--init"                            ? "sum to 1"
                                                          : option);
  fails({"--init", folder_ / "none.onnx"}, 1, "none.onnx");
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

// The way of the default model in small: random weights, the rendered scene, some minutes, ONNX, the library.
TEST(FromScratch, TheSceneIsLearnedAndTheModelIsWritten) {
  const test::TemporaryFolder folder;
  const ProgramResult run =
      mpmTrain({"--out", folder / "run", "--size", "128x192", "--batch", "8", "--steps", "160", "--warmup", "20",
                "--average", "0", "--no-half", "--precision", "fp32", "--threads", "1", "--scale-max", "1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  cv::dnn::Net net = readNet(folder / "run/segmenter.onnx", {.convert = {.reduce = kFullModel}}).net;
  double right = 0, pixels = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    scene::StreetOptions options;
    options.seed = seed;
    options.size = {192, 128};
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
