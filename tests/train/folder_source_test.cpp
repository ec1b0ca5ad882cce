// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "mpm/error.hpp"
#include "support/temporary_folder.h"
#include "support/throws_with.h"
#include "train/samples.h"
#include "train/shapes.h"

namespace mpm::train {
namespace {

using test::TemporaryFolder;

constexpr Size2 kImageSize = {32, 48};
constexpr int kIgnore = 255;

std::unique_ptr<SampleSource> open(const std::string& training, const std::string& validation = "") {
  return openFolder({training, validation, test::kShapeClasses}, test::noAugmentation(), 1, kIgnore);
}

TEST(FolderSource, ShowsEveryTrainingImageOncePerEpoch) {
  const TemporaryFolder folder;
  test::writeShapes(folder / "data", 20, kImageSize);
  const auto source = open(folder / "data");
  EXPECT_EQ(source->heldOutCount(), 2);
  std::vector<cv::Mat> first;
  std::vector<int> orders[2];
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::map<int, int> seen;
    for (int i = 0; i < 18; ++i) {
      const TrainingSample sample = source->trainingChunk(static_cast<std::uint64_t>(18 * epoch + i), kImageSize).at(0);
      int found = -1;
      for (int number = 0; number < 20; ++number)
        if (cv::norm(sample.image, test::shapes(number, kImageSize).image, cv::NORM_INF) == 0) found = number;
      ASSERT_GE(found, 0);
      EXPECT_EQ(cv::norm(sample.labels, test::shapes(found, kImageSize).labels, cv::NORM_INF), 0);
      ++seen[found];
      orders[epoch].push_back(found);
    }
    EXPECT_EQ(seen.size(), 18u);
    EXPECT_FALSE(seen.contains(9) || seen.contains(19)) << "held out";
  }
  EXPECT_NE(orders[0], orders[1]);
}

TEST(FolderSource, HoldsOutAFolderOfItsOwn) {
  const TemporaryFolder folder;
  test::writeShapes(folder / "a", 3, kImageSize);
  test::writeShapes(folder / "b", 5, kImageSize);
  const auto source = open(folder / "a", folder / "b");
  EXPECT_EQ(source->heldOutCount(), 5);
  EXPECT_EQ(source->heldOut(4, {16, 16}).labels.size(), cv::Size(16, 16));
}

/// images/PART and annotations/PART of `count` shapes from number `first`: the class plus one, a corner of 0.
void writeAde20k(const std::string& folder, const std::string& part, int first, int count) {
  for (const char* kind : {"/images/", "/annotations/"}) std::filesystem::create_directories(folder + kind + part);
  for (int i = first; i < first + count; ++i) {
    const TrainingSample sample = test::shapes(i, kImageSize);
    cv::Mat labels = sample.labels + 1;
    labels(cv::Rect(0, 0, 5, 5)) = 0;
    cv::imwrite(folder + "/images/" + part + "/" + std::to_string(i) + ".png", sample.image);
    cv::imwrite(folder + "/annotations/" + part + "/" + std::to_string(i) + ".png", labels);
  }
}

TEST(FolderSource, KnowsAde20kByItsFolders) {
  const TemporaryFolder folder;
  const std::string data = folder / "ade";
  writeAde20k(data, "training", 0, 2);
  writeAde20k(data, "validation", 7, 3);
  const auto source = open(data);
  ASSERT_EQ(source->heldOutCount(), 3);
  for (int i = 0; i < 3; ++i) {
    const TrainingSample truth = test::shapes(7 + i, kImageSize), sample = source->heldOut(i, kImageSize);
    EXPECT_EQ(cv::norm(sample.image, truth.image, cv::NORM_INF), 0);
    const cv::Rect corner(0, 0, 5, 5);
    EXPECT_EQ(cv::norm(sample.labels(corner), cv::Mat(5, 5, CV_8U, cv::Scalar(kIgnore)), cv::NORM_INF), 0);
    truth.labels(corner) = kIgnore;
    EXPECT_EQ(cv::norm(sample.labels, truth.labels, cv::NORM_INF), 0) << "class 1 of the file is class 0";
  }
  EXPECT_EQ(source->trainingChunk(0, kImageSize).at(0).labels.size(), cv::Size(48, 32));

  test::writeShapes(folder / "own", 4, kImageSize);
  EXPECT_EQ(open(data, folder / "own")->heldOutCount(), 4) << "a folder that is named comes first";
  EXPECT_EQ(open(folder / "own", data)->heldOutCount(), 3);

  cv::imwrite(data + "/annotations/validation/7.png", cv::Mat(32, 48, CV_8U, cv::Scalar(4)));
  EXPECT_MPM_ERROR((open(data)->heldOut(0, kImageSize)), "label 4");
  EXPECT_MPM_ERROR((openFolder({data, "", test::kShapeClasses}, test::noAugmentation(), 1, 2)), "ADE20K");
}

TEST(FolderSource, NamesWhatIsWrong) {
  const TemporaryFolder folder;
  EXPECT_MPM_ERROR((open(folder / "none")), "none");
  std::filesystem::create_directories(folder / "empty/images");
  std::filesystem::create_directories(folder / "empty/labels");
  EXPECT_MPM_ERROR((open(folder / "empty")), "holds no pairs");
  test::writeShapes(folder / "few", 3, kImageSize);
  EXPECT_MPM_ERROR((open(folder / "few")), "fewer than 10");
  EXPECT_MPM_ERROR((openFolder({folder / "few", folder / "few", {}}, {}, 1, kIgnore)), "--classes");

  const auto readBad = [&](const cv::Mat& labels) {
    cv::imwrite(folder / "few/labels/0001.png", labels);
    const auto source = open(folder / "few", folder / "few");
    source->heldOut(1, kImageSize);
  };
  EXPECT_MPM_ERROR((readBad(cv::Mat(32, 48, CV_8U, cv::Scalar(7)))), "0001.png");
  EXPECT_MPM_ERROR((readBad(cv::Mat(32, 48, CV_8U, cv::Scalar(7)))), "label 7");
  EXPECT_MPM_ERROR((readBad(cv::Mat(32, 48, CV_8U, cv::Scalar(7)))), "3 classes");
  EXPECT_MPM_ERROR((readBad(cv::Mat(32, 48, CV_8UC3, cv::Scalar(1, 2, 3)))), "0001.png");
  EXPECT_MPM_ERROR((readBad(cv::Mat(32, 48, CV_8UC3, cv::Scalar(1, 2, 3)))), "8 bits");
  EXPECT_MPM_ERROR((readBad(cv::Mat(16, 48, CV_8U, cv::Scalar(1)))), "0001.png");
  EXPECT_MPM_ERROR((readBad(cv::Mat(16, 48, CV_8U, cv::Scalar(1)))),
                   "is 48 x 16 px (width x height), its image 48 x 32 px");
  EXPECT_NO_THROW(readBad(cv::Mat(32, 48, CV_8U, cv::Scalar(kIgnore))));
  cv::imwrite(folder / "cut.jpg", test::shapes(1, kImageSize).image);
  std::filesystem::resize_file(folder / "cut.jpg", std::filesystem::file_size(folder / "cut.jpg") - 10);
  std::filesystem::rename(folder / "cut.jpg", folder / "few/images/0001.png");
  EXPECT_MPM_ERROR((open(folder / "few", folder / "few")->heldOut(1, kImageSize)), "0001.png': the file is cut off");
}

}  // namespace
}  // namespace mpm::train
