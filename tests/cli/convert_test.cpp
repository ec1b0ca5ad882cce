// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/models.h"
#include "support/onnx_file.h"

namespace mpm::test {
namespace {

using Convert = InFolder;

TEST_F(Convert, WritesAModelThatRunsAsThePlainOneDoes) {
  const CommandResult result =
      succeeded(mpmCommand({"convert", kSegmenter, "-o", folder_ / "m.onnx", "--schedule", "1,2"}));
  EXPECT_EQ(result.out, "") << "data would go there";
  EXPECT_THAT(result.err, AllOf(HasSubstr("3 blocks"), HasSubstr("reduction mpm:blocks=1,2")));

  writeImage(folder_ / "a.png", 40, 50);
  const auto plain =
      mpmCommand({"run", folder_ / "a.png", "--model", kSegmenter, "--schedule", "1,2", "--json"}).json();
  const auto converted = mpmCommand({"run", folder_ / "a.png", "--model", folder_ / "m.onnx", "--json"}).json();
  EXPECT_EQ(plain["tokens"], converted["tokens"]);
  EXPECT_EQ(plain["classes"], converted["classes"]);
}

TEST_F(Convert, TakesMeanAndStdOrSaysThatTheyAreAssumed) {
  const auto convert = [&](const Words& options) {
    return mpmCommand(Words{"convert", kSegmenter, "-o", folder_ / "m.onnx"} + options);
  };
  writeImage(folder_ / "a.png", 40, 50);
  const auto run = [&] { return mpmCommand({"run", folder_ / "a.png", "--model", folder_ / "m.onnx"}); };
  EXPECT_THAT(convert({}).err, HasSubstr("\nassumed: mean and std 0.5"));
  EXPECT_THAT(run().err, HasSubstr("\nassumed: mean and std 0.5"));
  writeLabelledImages(folder_, 1);
  const auto eval = [&] {
    return mpmCommand(
        {"eval", "--images", folder_ / "images", "--labels", folder_ / "labels", "--model", folder_ / "m.onnx"});
  };
  EXPECT_THAT(eval().err, HasSubstr("assumed: mean and std 0.5"));
  EXPECT_THAT(convert({"--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"}).err, Not(HasSubstr("assumed")));
  EXPECT_EQ(mpmCommand({"info", folder_ / "m.onnx", "--json"}).json()["mean"], (nlohmann::json{0.485, 0.456, 0.406}));
  EXPECT_THAT(run().err + eval().err, Not(HasSubstr("assumed")));
  expectFailure(convert({"--mean", "0.485,0.456,0.406"}), 1, {"mean and std are given together"});
  expectFailure(convert({"--mean", "0.485,0.456", "--std", "1,1,1"}), 2,
                {"--mean", "'0.485,0.456' is not three numbers"});
  expectFailure(convert({"--mean", "0,0,0", "--std", "0,1,1"}), 1, {"std is positive"});
}

TEST_F(Convert, ResizesTheInput) {
  succeeded(mpmCommand({"convert", kSegmenter, "-o", folder_ / "m.onnx", "--schedule", "1", "--input-size", "48x80",
                        "--output", "logits"}));
  const auto json = mpmCommand({"info", folder_ / "m.onnx", "--json"}).json();
  EXPECT_EQ(json["input"], (nlohmann::json{{"height", 48}, {"width", 80}}));
  EXPECT_EQ(json["tokens"], 60);
}

TEST_F(Convert, GivesTheOutputsThatWereAskedFor) {
  const std::string model = kData + "/segmenter_linear_ts12.onnx";
  const auto outputs = [&](const Words& options) {
    succeeded(mpmCommand(Words{"convert", model, "-o", folder_ / "m.onnx", "--schedule", "1"} + options));
    onnx::ModelProto converted = modelAt(folder_ / "m.onnx");
    Words names;
    for (const auto& output : converted.graph().output()) names.push_back(output.name());
    return names;
  };
  EXPECT_THAT(outputs({}), ElementsAre("labels", "merge_map", "token_counts"));
  EXPECT_THAT(outputs({"--output", "logits"}), ElementsAre("logits", "merge_map", "token_counts"));
  EXPECT_THAT(outputs({"--scores"}), ElementsAre("labels", "scores", "merge_map", "token_counts"));
}

TEST_F(Convert, LeavesDevicesAsTheyAre) {
  fs::create_symlink("/dev/null", folder_ / "link");
  EXPECT_EQ(mpmCommand({"convert", kSegmenter, "-o", folder_ / "link", "--schedule", "1"}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  const CommandResult piped = succeeded(mpmCommand({"convert", kSegmenter, "-o", "/dev/stdout", "--schedule", "1"}));
  EXPECT_THAT(piped.out, HasSubstr("ai.mpm"));
}

}  // namespace
}  // namespace mpm::test
