// SPDX-License-Identifier: Apache-2.0
// `mpm eval --dataset`: tiny trees in the format of each data set.
#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "cli/models.h"
#include "onnx/tiny_vit.h"
#include "support/temporary_folder.h"

namespace mpm::test {
namespace {

namespace fs = std::filesystem;

// What a data set writes for class c.
int ade20k(int c) { return c + 1; }
int cityscapes(int c) {
  constexpr int kIds[] = {7, 8, 11, 12, 13, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 31, 32, 33};
  return kIds[c];
}
int camvid(int c) { return c; }

struct Format {
  const char* name;
  int classes;
  int (*label_of)(int);
  int nothing;  // a label that does not count
  const char *image, *labels;
  const char* list = nullptr;
};

const Format kFormats[] = {
    {"ade20k", 150, ade20k, 0, "images/validation/a.jpg", "annotations/validation/a.png"},
    {"cityscapes", 19, cityscapes, 3, "leftImg8bit/val/ulm/a_leftImg8bit.png", "gtFine/val/ulm/a_gtFine_labelIds.png"},
    {"pascal-context", 59, ade20k, 0, "JPEGImages/a.jpg", "SegmentationClassContext/a.png",
     "ImageSets/SegmentationContext/val.txt"},
    {"camvid", 11, camvid, 11, "val/a.png", "valannot/a.png"}};

class EvalOfADataset : public ::testing::TestWithParam<Format> {
 protected:
  // What the model itself says about the image is its label map: a perfect score if the labels are read right.
  void SetUp() override {
    Dialect dialect;
    dialect.head = HeadStyle::kLinear;
    dialect.classes = GetParam().classes;
    TinyVit(dialect).save(model_);
    for (const std::string& path : {image_, labels_}) fs::create_directories(fs::path(path).parent_path());
    writeImage(image_, 24, 40);
    ASSERT_EQ(mpmCommand({"run", image_, "--model", model_, "--schedule", "1,2", "--out", folder_ / "out"}).exit_code,
              0);
    cv::Mat labels = cv::imread(folder_ / ("out/" + fs::path(image_).stem().string() + "_labels.png"), -1);
    for (int y = 0; y < labels.rows; ++y)
      for (int x = 0; x < labels.cols; ++x) {
        auto& label = labels.at<unsigned char>(y, x);
        label = static_cast<unsigned char>(GetParam().label_of(label));
      }
    labels.row(0).setTo(GetParam().nothing);
    cv::imwrite(labels_, labels);
    if (!GetParam().list) return;
    fs::create_directories(fs::path(folder_ / GetParam().list).parent_path());
    std::ofstream(folder_ / GetParam().list) << "a\n";
  }

  CommandResult eval(std::vector<std::string> more) const {
    more.insert(more.begin(), {"eval", "--model", model_, "--schedule", "1,2", "--json", "--dataset", GetParam().name,
                               folder_.path()});
    return mpmCommand(more);
  }

  const TemporaryFolder folder_;
  const std::string model_ = folder_ / "model.onnx", image_ = folder_ / GetParam().image,
                    labels_ = folder_ / GetParam().labels;
};

TEST_P(EvalOfADataset, ReadsItsFoldersAndLabels) {
  const CommandResult result = eval({"--fit", "resize"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = result.json();
  EXPECT_EQ(json["dataset"], GetParam().name);
  EXPECT_EQ(json["images"], 1);
  EXPECT_EQ(json["miou"], 100);
  EXPECT_EQ(json["iou"].size(), static_cast<std::size_t>(GetParam().classes));
  std::int64_t pixels = 0;
  for (const auto& row : json["confusion"])
    for (const auto& count : row) pixels += count.get<std::int64_t>();
  EXPECT_EQ(pixels, 23 * 40);
  EXPECT_TRUE(json["window_stride"].is_null());
}

TEST_P(EvalOfADataset, OptionsWinOverTheProtocol) {
  const auto json =
      eval({"--fit", "window", "--input-size", "12x20", "--short-side", "30", "--window-stride", "10"}).json();
  EXPECT_EQ(json["input"], (nlohmann::json{{"height", 12}, {"width", 20}}));
  EXPECT_EQ(json["short_side"], 30);
  EXPECT_EQ(json["window_stride"], (nlohmann::json{{"height", 10}, {"width", 10}}));
}

TEST_P(EvalOfADataset, RefusesAnotherNumberOfClasses) {
  expectFailure(mpmCommand({"eval", "--model", kSegmenter, "--dataset", GetParam().name, folder_.path()}), 1,
                {GetParam().name, std::to_string(GetParam().classes) + " classes, the model 4"});
}

INSTANTIATE_TEST_SUITE_P(Formats, EvalOfADataset, ::testing::ValuesIn(kFormats), [](const auto& format) {
  std::string name = format.param.name;
  std::erase(name, '-');
  return name;
});

// One image of one window of 128 x 128 patches.
class EvalByTheProtocol : public EvalOfADataset {};
INSTANTIATE_TEST_SUITE_P(Ade20k, EvalByTheProtocol, ::testing::Values(kFormats[0]));

TEST_P(EvalByTheProtocol, SlidesItsWindows) {
  for (const std::string& path : {image_, labels_}) {
    cv::Mat picture = cv::imread(path, -1);
    cv::imwrite(path, picture(cv::Rect(0, 0, 24, 24)).clone());
  }
  const CommandResult result = eval({});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = result.json();
  EXPECT_EQ(json["fit"], "window");
  EXPECT_EQ(json["input"], (nlohmann::json{{"height", 512}, {"width", 512}}));
  EXPECT_EQ(json["window_stride"], (nlohmann::json{{"height", 480}, {"width", 480}}));
  EXPECT_EQ(json["short_side"], 512);
  EXPECT_EQ(json["tokens_mean"][0], 128 * 128);
}

TEST(EvalDatasets, RefusesOptionsThatDoNotGoTogether) {
  expectFailure(mpmCommand({"eval", "--dataset", "kitti", "x"}), 2, {"'kitti' is no data set", "cityscapes"});
  expectFailure(mpmCommand({"eval", "--dataset", "camvid"}), 2, {"--dataset camvid needs its folder"});
  expectFailure(mpmCommand({"eval", "--dataset", "camvid", "x", "--ignore", "3"}), 2, {"leave out", "--ignore"});
  expectFailure(mpmCommand({"eval", "--split", "val", "--images", "x", "--labels", "x"}), 2, {"--split needs"});
  expectFailure(mpmCommand({"eval", "--short-side", "30", "--images", "x", "--labels", "x", "--model", kSegmenter}), 2,
                {"--short-side needs --fit window"});
}

}  // namespace
}  // namespace mpm::test
