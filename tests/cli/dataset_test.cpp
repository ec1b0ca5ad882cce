// SPDX-License-Identifier: Apache-2.0
// `mpm eval --dataset`, on a tiny tree in the format of ADE20K; those of the other sets:
// tests/evaluation/dataset_test.cpp.

#include "cli/command.h"
#include "cli/models.h"
#include "onnx/tiny_vit.h"

namespace mpm::test {
namespace {

class EvalOfADataset : public InFolder {
 protected:
  // What the model itself says about the image is its label map: a perfect score if the labels are read right.
  void SetUp() override {
    TinyVit({.head = HeadStyle::kLinear, .classes = 150}).save(model_);
    for (const std::string& path : {image_, labels_}) fs::create_directories(fs::path(path).parent_path());
    writeImage(image_, 24, 40);
    ASSERT_EQ(mpmCommand({"run", image_, "--model", model_, "--schedule", "1,2", "--out", folder_ / "out"}).exit_code,
              0);
    cv::Mat labels = cv::imread(folder_ / "out/a_labels.png", -1) + 1;  // 0 does not count
    labels.row(0).setTo(0);
    cv::imwrite(labels_, labels);
  }

  CommandResult eval(const Words& more) const {
    return mpmCommand(
        Words{"eval", "--model", model_, "--schedule", "1,2", "--json", "--dataset", "ade20k", folder_.path()} + more);
  }

  const std::string model_ = folder_ / "model.onnx", image_ = folder_ / "images/validation/a.jpg",
                    labels_ = folder_ / "annotations/validation/a.png";
};

TEST_F(EvalOfADataset, ReadsItsFoldersAndLabels) {
  const auto json = succeeded(eval({"--fit", "resize"})).json();
  EXPECT_EQ(json["dataset"], "ade20k");
  EXPECT_EQ(json["images"], 1);
  EXPECT_EQ(json["miou"], 100);
  EXPECT_EQ(json["iou"].size(), 150u);
  std::int64_t pixels = 0;
  for (const auto& row : json["confusion"])
    for (const auto& count : row) pixels += count.get<std::int64_t>();
  EXPECT_EQ(pixels, 23 * 40);
  EXPECT_TRUE(json["window_stride"].is_null());
  expectFailure(mpmCommand({"eval", "--model", kSegmenter, "--dataset", "ade20k", folder_.path()}), 1,
                {"ade20k has 150 classes, the model 4"});
}

TEST_F(EvalOfADataset, OptionsWinOverTheProtocol) {
  const auto json =
      eval({"--fit", "window", "--input-size", "12x20", "--short-side", "30", "--window-stride", "10"}).json();
  EXPECT_EQ(json["input"], (nlohmann::json{{"height", 12}, {"width", 20}}));
  EXPECT_EQ(json["short_side"], 30);
  EXPECT_EQ(json["window_stride"], (nlohmann::json{{"height", 10}, {"width", 10}}));
}

// One image of one window of 128 x 128 patches.
TEST_F(EvalOfADataset, SlidesTheWindowsOfItsProtocol) {
  for (const std::string& path : {image_, labels_}) {
    cv::Mat picture = cv::imread(path, -1);
    cv::imwrite(path, picture(cv::Rect(0, 0, 24, 24)).clone());
  }
  const auto json = succeeded(eval({})).json();
  EXPECT_EQ(json["fit"], "window");
  EXPECT_EQ(json["input"], (nlohmann::json{{"height", 512}, {"width", 512}}));
  EXPECT_EQ(json["window_stride"], (nlohmann::json{{"height", 480}, {"width", 480}}));
  EXPECT_EQ(json["short_side"], 512);
  EXPECT_EQ(json["tokens_mean"][0], 128 * 128);
}

TEST(EvalDatasets, RefusesOptionsThatDoNotGoTogether) {
  const std::pair<Words, Words> wrong[] = {
      {{"--dataset", "kitti", "x"}, {"'kitti' is no data set", "cityscapes"}},
      {{"--dataset", "camvid"}, {"--dataset camvid needs its folder"}},
      {{"--dataset", "camvid", "x", "--ignore", "3"}, {"leave out", "--ignore"}},
      {{"--split", "val", "--images", "x", "--labels", "x"}, {"--split needs"}},
      {{"--short-side", "30", "--images", "x", "--labels", "x", "--model", kSegmenter}, {"needs --fit window"}}};
  for (const auto& [words, parts] : wrong) expectFailure(mpmCommand(Words{"eval"} + words), 2, parts);
}

}  // namespace
}  // namespace mpm::test
