// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/command.h"
#include "cli/models.h"
#include "support/damaged_model.h"
#include "support/demo.h"
#include "support/temporary_folder.h"

namespace mpm::test {
namespace {

class BadInput : public ::testing::Test {
 protected:
  void SetUp() override { writeImage(image_, 40, 60); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  CommandResult run(const std::string& model, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", image_, "--model", model});
    return mpmCommand(more);
  }

  // Every verb that reads a model says the same about it, and nothing is left of what it would have written.
  void expectModelRefused(const std::string& model, const std::vector<std::string>& parts) {
    expectFailure(run(model, {"--out", folder_ / "out"}), 1, parts);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
    expectFailure(mpmCommand({"info", model}), 1, parts);
    expectFailure(mpmCommand({"convert", model, "-o", folder_ / "converted.onnx"}), 1, parts);
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      EXPECT_FALSE(entry.path().filename().string().starts_with("converted")) << entry.path();
  }

  TemporaryFolder folder_;
  std::string image_ = folder_ / "a.png";
};

TEST_F(BadInput, MissingModel) { expectModelRefused(folder_ / "none.onnx", {folder_ / "none.onnx"}); }

TEST_F(BadInput, EmptyModel) {
  write("empty.onnx", "");
  expectModelRefused(folder_ / "empty.onnx", {folder_ / "empty.onnx", "empty"});
}

TEST_F(BadInput, TruncatedModel) {
  std::filesystem::copy_file(kSegmenter, folder_ / "cut.onnx");
  std::filesystem::resize_file(folder_ / "cut.onnx", std::filesystem::file_size(kSegmenter) / 2);
  expectModelRefused(folder_ / "cut.onnx", {folder_ / "cut.onnx"});
}

TEST_F(BadInput, ModelThatIsNotOnnx) {
  write("words.onnx", "These are words, not a graph.");
  expectModelRefused(folder_ / "words.onnx", {folder_ / "words.onnx", "ONNX"});
  expectModelRefused(image_, {image_, "ONNX"});
  expectModelRefused(folder_.path(), {folder_.path()});
}

TEST_F(BadInput, ModelThatIsNoPlainVit) {
  expectFailure(run(kData + "/resnet_ts13.onnx"), 1, {});
  expectFailure(run(kData + "/swin_ts17.onnx"), 1, {});
}

TEST_F(BadInput, ScheduleOutsideTheBlocks) {
  expectFailure(run(kSegmenter, {"--schedule", "1,3", "--out", folder_ / "out"}), 1, {"3"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(BadInput, ScheduleNotIncreasing) { expectFailure(run(kSegmenter, {"--schedule", "2,1"}), 2, {"increasing"}); }

TEST_F(BadInput, InputSizeThatThePatchesDoNotDivide) {
  expectFailure(run(kSegmenter, {"--schedule", "1", "--input-size", "33x64"}), 1, {"33x64"});
}

TEST_F(BadInput, NanWeights) {
  writeModelWithNan(kSegmenter, folder_ / "nan.onnx");
  writeModelThatOverflows(kSegmenter, folder_ / "overflows.onnx");
  for (const char* schedule : {"none", "1,2"})
    for (const char* model : {"nan.onnx", "overflows.onnx"}) {
      expectFailure(run(folder_ / model, {"--schedule", schedule, "--out", folder_ / "out"}), 1, {"NaN"});
      EXPECT_FALSE(std::filesystem::exists(folder_ / "out/a_labels.png"));
      EXPECT_FALSE(std::filesystem::exists(folder_ / "out/a_merge.png"));
    }
}

TEST_F(BadInput, MoreClassesThanALabelMapHolds) {
  writeLinearSegmenterWithClasses(kData + "/segmenter_linear_ts12.onnx", folder_ / "many.onnx", 300);
  expectFailure(run(folder_ / "many.onnx", {"--schedule", "1", "--out", folder_ / "out"}), 1, {"300 classes", "256"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

TEST_F(BadInput, SourceThatIsNotThere) {
  const auto source = [](const std::string& text) {
    return mpmCommand({"run", text, "--model", kSegmenter, "--schedule", "1"});
  };
  expectFailure(source(folder_ / "none.png"), 1, {"there is no file or folder"});
  expectFailure(source(folder_ / "*.jpg"), 1, {"no file matches"});
  std::filesystem::create_directory(folder_ / "bare");
  expectFailure(source(folder_ / "bare"), 1, {"holds no image"});
  expectFailure(source("97"), 1, {"cannot open camera 97"});
  expectFailure(source("rtsp://me:secret@127.0.0.1:9/live"), 1, {"cannot open rtsp://***@127.0.0.1:9/live"});
}

TEST_F(BadInput, UnreadableImage) {
  write("b.png", "no picture");
  writeImage(folder_ / "c.png", 32, 64);
  const CommandResult alone = mpmCommand({"run", folder_ / "b.png", "--model", kSegmenter, "--schedule", "1"});
  expectFailure(alone, 1, {folder_ / "b.png"});
  const CommandResult among = mpmCommand({"run", folder_.path(), "--model", kSegmenter, "--schedule", "1", "--json"});
  EXPECT_EQ(among.exit_code, 1);
  EXPECT_EQ(among.jsonLines().size(), 2u) << "the images before and after it were done";
  EXPECT_THAT(among.err, ::testing::HasSubstr("left out: cannot read image '" + (folder_ / "b.png")));
  EXPECT_THAT(among.err, ::testing::EndsWith("mpm run: error: 1 of 3 pictures could not be read\n"));
}

TEST_F(BadInput, NoPictureThatCanBeRead) {
  std::filesystem::create_directory(folder_ / "bad");
  for (const char* name : {"bad/a.png", "bad/b.png"}) write(name, "no picture");
  const CommandResult result = mpmCommand({"run", folder_ / "bad", "--model", kSegmenter, "--schedule", "1"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, ::testing::EndsWith("2 of 2 pictures could not be read\n"));
}

TEST_F(BadInput, ImageThatIsCutOff) {
  writeImage(folder_ / "cut.jpg", 200, 300);
  std::filesystem::resize_file(folder_ / "cut.jpg", std::filesystem::file_size(folder_ / "cut.jpg") / 2);
  expectFailure(mpmCommand({"run", folder_ / "cut.jpg", "--model", kSegmenter, "--schedule", "1", "--json"}), 1,
                {"cannot read image '" + (folder_ / "cut.jpg"), "cut off"});
}

TEST_F(BadInput, ChartThatCannotBeWrittenIsFoundBeforeTheWork) {
  MPM_NEEDS_DEMO();
  const CommandResult result = mpmCommand({"run", "demo:street?size=64x64&frames=3", "--model", kSegmenter,
                                           "--schedule", "1", "--json", "--chart", folder_ / "none/chart.png"});
  expectFailure(result, 1, {"cannot write '" + (folder_ / "none/chart.png"), "No such file"});
  EXPECT_EQ(result.out, "");
}

TEST_F(BadInput, DiskThatIsFull) {
  expectFailure(mpmCommand({"run", image_, "--model", kSegmenter, "--schedule", "1", "--out", folder_ / "out"},
                           {.file_size_limit = 100}),
                1, {"cannot write", folder_ / "out/a_"});
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "out"));
  expectFailure(mpmCommand({"convert", kSegmenter, "-o", folder_ / "converted.onnx", "--schedule", "1"},
                           {.file_size_limit = 1000}),
                1, {"converted.onnx"});
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("converted")) << entry.path();
  if (std::filesystem::exists("/dev/full"))
    expectFailure(
        mpmCommand({"run", image_, "--model", kSegmenter, "--schedule", "1", "--json"}, {.stdout_is_full = true}), 1,
        {"standard output", "No space left"});
}

TEST_F(BadInput, FolderThatCannotBeMade) {
  write("file", "in the way");
  expectFailure(run(kSegmenter, {"--schedule", "1", "--out", folder_ / "file"}), 1, {"cannot make the folder"});
  expectFailure(run(kSegmenter, {"--schedule", "1", "--out", folder_ / "file/deeper"}), 1, {"cannot make the folder"});
}

}  // namespace
}  // namespace mpm::test
