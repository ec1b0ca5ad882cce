// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/models.h"
#include "support/damaged_model.h"
#include "support/demo.h"

namespace mpm::test {
namespace {

class BadInput : public InFolder {
 protected:
  void SetUp() override { writeImage(image_, 40, 60); }

  CommandResult run(const std::string& model, const Words& more = {}) {
    return mpmCommand(Words{"run", image_, "--model", model} + more);
  }

  std::string image_ = folder_ / "a.png";
};

// No verb writes onto a file that it reads: pictures, labels, lists, and the model with its JSON and external data.
TEST_F(BadInput, NoOutputReplacesAnInput) {
  for (const char* name : {"in", "labels"}) fs::create_directory(folder_ / name);
  const auto file = [&](const char* name) { return folder_ / name; };
  for (int i = 0; i < 2; ++i) {
    writeImage(file("in/") + "p" + std::to_string(i) + ".png", 40, 60, i);
    cv::imwrite(file("labels/") + "p" + std::to_string(i) + ".png", cv::Mat::zeros(40, 60, CV_8U));
  }
  const std::string stem = kData + "/segmenter_linear_external_data_ts17";
  const std::string weights = fs::path(stem + ".weights").filename();
  fs::copy_file(stem + ".onnx", file("m.onnx"));
  fs::copy_file(stem + ".weights", folder_ / weights);
  write("m.json", R"({"name": "tiny"})");
  write("list.csv", "p0.png,2020-01-01T00:00\np1.png,2020-01-02T00:00\n");
  fs::create_symlink(file("in/p0.png"), file("link.png"));

  const std::string in = file("in"), model = file("m.onnx"), picture = file("in/p0.png"), list = file("list.csv");
  const Words of_model = {model, file("m.json"), folder_ / weights};
  struct Case {
    Words arguments, inputs;
  };
  const Words run = {"run", in, "--model", model}, eval = {"eval", "--model", model};
  const Words labelled = eval + Words{"--images", in, "--labels", file("labels")};
  for (const auto& [arguments, inputs] :
       std::vector<Case>{{run + Words{"--chart"}, {picture, file("link.png")}},
                         {run + Words{"--times", "list:" + list, "--chart"}, {list}},
                         {run + Words{"--video"}, {picture}},
                         {labelled + Words{"--per-image"}, {picture, file("labels/p1.png")}},
                         {labelled + Words{"--resume"}, {picture}},
                         {eval + Words{in, "--against", "full", "--per-image"}, {picture}},
                         {{"tune", in, "--model", model, "--out"}, {picture, file("link.png")}},
                         {{"convert", model, "--out"}, {}}}) {
    for (const std::string& input : inputs + of_model) {
      const auto size = fs::file_size(input);
      expectFailure(mpmCommand(arguments + Words{input}), 2, {arguments.back() + " would replace '"});
      EXPECT_EQ(fs::file_size(input), size) << arguments[0] << " " << input;
    }
  }
  fs::remove(file("m.json"));
  expectFailure(mpmCommand(run + Words{"--chart", file("m.json")}), 2, {"--chart would replace"});
}

TEST_F(BadInput, AModelThatCannotRunIsOneLineAndLeavesNothing) {
  const std::string many = folder_ / "many.onnx", words = folder_ / "words.onnx", nan = folder_ / "nan.onnx";
  write("words.onnx", "These are words, not a graph.");
  writeModelWithNan(kSegmenter, nan);
  writeLinearSegmenterWithClasses(kData + "/segmenter_linear_ts12.onnx", many, 300);
  struct Case {
    std::string model;
    Words options;
    std::string part;
  };
  for (const auto& [model, options, part] : std::vector<Case>{{words, {}, "ONNX"},
                                                              {nan, {"--reduce", "mpm:blocks=1,2"}, "NaN"},
                                                              {many, {"--reduce", "mpm:blocks=1"}, "300 classes"},
                                                              {kSegmenter, {"--reduce", "mpm:blocks=1,3"}, "3"},
                                                              {kSegmenter, {"--input-size", "33x64"}, "33x64"}}) {
    expectFailure(run(model, options + Words{"--out", folder_ / "out"}), 1, {part});
    EXPECT_FALSE(fs::exists(folder_ / "out")) << model;
  }
  expectFailure(mpmCommand({"info", words}), 1, {words, "ONNX"});
  expectFailure(mpmCommand({"convert", words, "-o", folder_ / "converted.onnx"}), 1, {words, "ONNX"});
  EXPECT_FALSE(fs::exists(folder_ / "converted.onnx"));
}

TEST_F(BadInput, ANetThatOverflowsWritesNoPicture) {
  writeModelThatOverflows(kSegmenter, folder_ / "overflows.onnx");
  expectFailure(run(folder_ / "overflows.onnx", {"--reduce", "mpm:blocks=1,2", "--out", folder_ / "out"}), 1, {"NaN"});
  for (const char* none : {"out/a_labels.png", "out/a_merge.png"}) EXPECT_FALSE(fs::exists(folder_ / none));
  expectFailure(mpmCommand({"run", "rtsp://me:secret@127.0.0.1:9/live", "--model", kSegmenter}), 1,
                {"cannot open rtsp://***@127.0.0.1:9/live", "OPENCV_FFMPEG_LOGLEVEL"});
}

TEST_F(BadInput, UnreadableImage) {
  write("b.png", "no picture");
  writeImage(folder_ / "c.png", 32, 64);
  const CommandResult alone = mpmCommand({"run", folder_ / "b.png", "--model", kSegmenter, "--reduce", "mpm:blocks=1"});
  expectFailure(alone, 1, {folder_ / "b.png"});
  const CommandResult among =
      mpmCommand({"run", folder_.path(), "--model", kSegmenter, "--reduce", "mpm:blocks=1", "--json"});
  EXPECT_EQ(among.exit_code, 1);
  EXPECT_EQ(among.jsonLines().size(), 2u) << "the images before and after it were done";
  EXPECT_THAT(among.err, HasSubstr("left out: cannot read image '" + (folder_ / "b.png")));
  EXPECT_THAT(among.err, EndsWith("mpm run: error: 1 of 3 pictures could not be read\n"));
}

TEST_F(BadInput, WhatCannotBeWrittenIsFoundBeforeTheWork) {
  write("file", "in the way");
  for (const char* out : {"file", "file/deeper"})
    expectFailure(run(kSegmenter, {"--out", folder_ / out}), 1, {"cannot make the folder"});
  MPM_NEEDS_DEMO();
  const CommandResult result = mpmCommand({"run", "demo:street?size=64x64&frames=3", "--model", kSegmenter, "--reduce",
                                           "mpm:blocks=1", "--json", "--chart", folder_ / "none/chart.png"});
  expectFailure(result, 1, {"cannot write '" + (folder_ / "none/chart.png"), "No such file"});
  EXPECT_EQ(result.out, "");
}

TEST_F(BadInput, DiskThatIsFull) {
  writeImage(image_, 400, 600);
  expectFailure(mpmCommand({"run", image_, "--model", kSegmenter, "--reduce", "mpm:blocks=1", "--out", folder_ / "out"},
                           {.file_size_limit = 1024}),  // LLVM's OpenMP writes as much into its shared memory
                1, {"cannot write", folder_ / "out/a_"});
  EXPECT_TRUE(fs::is_empty(folder_ / "out"));
  if (fs::exists("/dev/full")) {
    expectFailure(mpmCommand({"run", image_, "--model", kSegmenter, "--reduce", "mpm:blocks=1", "--json"},
                             {.stdout_is_full = true}),
                  1, {"standard output", "No space left"});
  }
}

}  // namespace
}  // namespace mpm::test
