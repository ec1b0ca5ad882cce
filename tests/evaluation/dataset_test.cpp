// SPDX-License-Identifier: Apache-2.0
#include "evaluation/dataset.h"

#include "support/in_folder.h"
#include "support/throws_with.h"

namespace mpm::evaluation {
namespace {

// An empty file of this name, in folders of its own.
void touch(const std::string& path) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream file(path);
}

class DatasetFiles : public test::InFolder {
 protected:
  std::vector<std::string> pairs(Dataset dataset, const std::string& split) const {
    std::vector<std::string> names;
    for (const auto& [image, labels, none] : datasetFiles(dataset, folder_.path(), split)) {
      names.push_back(fs::relative(image, folder_.path()).string() + " " +
                      fs::relative(labels, folder_.path()).string());
    }
    return names;
  }
};

TEST_F(DatasetFiles, OfAde20k) {
  for (const char* name : {"images/validation/b.jpg", "images/validation/a.jpg", "images/training/c.jpg",
                           "annotations/validation/a.png", "annotations/validation/b.png"})
    touch(folder_ / name);
  EXPECT_THAT(pairs(Dataset::kAde20k, "validation"),
              ElementsAre("images/validation/a.jpg annotations/validation/a.png",
                          "images/validation/b.jpg annotations/validation/b.png"));
  EXPECT_MPM_ERROR(pairs(Dataset::kAde20k, "training"), "there is no file '" + folder_.path() + "/annotations");
  EXPECT_MPM_ERROR(pairs(Dataset::kAde20k, "test"), "cannot read the folder '" + folder_.path() + "/images/test'");
}

TEST_F(DatasetFiles, OfCityscapes) {
  for (const char* hidden : {"leftImg8bit/val/.DS_Store", "leftImg8bit/val/ulm/._ulm_1_2_leftImg8bit.png"})
    touch(folder_ / hidden);
  for (const std::string scene : {"ulm/ulm_1_2", "bonn/bonn_3_4"}) {
    touch(folder_ / ("leftImg8bit/val/" + scene + "_leftImg8bit.png"));
    for (const char* kind : {"labelIds", "instanceIds", "color"})
      touch(folder_ / ("gtFine/val/" + scene + "_gtFine_" + kind + ".png"));
  }
  EXPECT_THAT(pairs(Dataset::kCityscapes, "val"),
              ElementsAre("leftImg8bit/val/bonn/bonn_3_4_leftImg8bit.png gtFine/val/bonn/bonn_3_4_gtFine_labelIds.png",
                          "leftImg8bit/val/ulm/ulm_1_2_leftImg8bit.png gtFine/val/ulm/ulm_1_2_gtFine_labelIds.png"));
}

TEST_F(DatasetFiles, OfPascalContextAreThoseOfItsList) {
  for (const char* name : {"JPEGImages/2008_1.jpg", "JPEGImages/2008_2.jpg", "JPEGImages/2008_3.jpg",
                           "SegmentationClassContext/2008_1.png", "SegmentationClassContext/2008_3.png"})
    touch(folder_ / name);
  EXPECT_MPM_ERROR(pairs(Dataset::kPascalContext, "val"), "SegmentationContext/val.txt");
  touch(folder_ / "ImageSets/SegmentationContext/val.txt");
  EXPECT_MPM_ERROR(pairs(Dataset::kPascalContext, "val"), "holds no image of pascal-context, split val");
  std::ofstream(folder_ / "ImageSets/SegmentationContext/val.txt") << "2008_1\n2008_3\n";
  EXPECT_THAT(pairs(Dataset::kPascalContext, "val"),
              ElementsAre("JPEGImages/2008_1.jpg SegmentationClassContext/2008_1.png",
                          "JPEGImages/2008_3.jpg SegmentationClassContext/2008_3.png"));
}

TEST_F(DatasetFiles, OfCamVidWithAndWithoutSplits) {
  EXPECT_MPM_ERROR(pairs(Dataset::kCamVid, "val"), "has neither a folder 'val' nor a folder 'images'");
  touch(folder_ / "images/a.png");
  touch(folder_ / "labels/a.png");
  EXPECT_THAT(pairs(Dataset::kCamVid, "val"), ElementsAre("images/a.png labels/a.png"));
  EXPECT_MPM_ERROR(pairs(Dataset::kCamVid, "test"),
                   "no folder 'test': folders 'images' and 'labels' are the part 'val'");
  touch(folder_ / "test/b.png");
  touch(folder_ / "testannot/b.png");
  EXPECT_THAT(pairs(Dataset::kCamVid, "test"), ElementsAre("test/b.png testannot/b.png"));
}

// The class of a label; -1 for one that does not count.
int classOf(Dataset dataset, int label) {
  const vision::LabelMeaning meaning = labelMeaningOf(dataset);
  const int value = meaning.applied(cv::Mat(1, 1, CV_8U, cv::Scalar(label))).at<unsigned char>(0);
  return value == meaning.voidLabel() ? -1 : value;
}

TEST(DatasetLabels, CountFromOneInAde20kAndPascalContext) {
  for (const auto& protocol : {std::pair{Dataset::kAde20k, 150}, {Dataset::kPascalContext, 59}}) {
    const auto& [dataset, classes] = protocol;
    EXPECT_EQ(protocolOf(dataset).classes, classes);
    EXPECT_EQ(classOf(dataset, 0), -1);
    EXPECT_EQ(classOf(dataset, 255), -1);
    EXPECT_EQ(classOf(dataset, 1), 0);
    EXPECT_EQ(classOf(dataset, classes), classes - 1);
    const int beyond = classes + 1;
    EXPECT_MPM_ERROR(classOf(protocol.first, beyond), "holds the label " + std::to_string(beyond));
  }
}

TEST(DatasetLabels, OfCityscapesBecomeTrainIdsAndThoseOfCamVidStay) {
  EXPECT_EQ(classOf(Dataset::kCityscapes, 7), 0) << "road";
  EXPECT_EQ(classOf(Dataset::kCityscapes, 19), 6) << "traffic light";
  EXPECT_EQ(classOf(Dataset::kCityscapes, 28), 15) << "bus";
  EXPECT_EQ(classOf(Dataset::kCityscapes, 33), 18) << "bicycle";
  int classes = 0;
  for (int label = 0; label < 256; ++label) classes += classOf(Dataset::kCityscapes, label) >= 0;
  EXPECT_EQ(classes, 19);
  for (const int nothing : {0, 3, 9, 14, 18, 29, 30, 255}) EXPECT_EQ(classOf(Dataset::kCityscapes, nothing), -1);
  EXPECT_EQ(classOf(Dataset::kCamVid, 10), 10);
  EXPECT_EQ(classOf(Dataset::kCamVid, 11), -1);
}

TEST(DatasetFilms, AreRecordingsOrSinglePhotographs) {
  EXPECT_EQ(filmOf(Dataset::kCamVid, "CamVid/val/0016E5_07959.png"), "0016E5");
  EXPECT_EQ(filmOf(Dataset::kCityscapes, "val/frankfurt/frankfurt_000001_000294_leftImg8bit.png"), "frankfurt_000001");
  EXPECT_EQ(filmOf(Dataset::kAde20k, "images/validation/ADE_val_00000001.jpg"), "ADE_val_00000001");
  EXPECT_EQ(filmOf(Dataset::kPascalContext, "JPEGImages/2008_000002.jpg"), "2008_000002");
}

TEST(DatasetProtocols, AreThoseOfThePapers) {
  const DatasetProtocol ade = protocolOf(Dataset::kAde20k);
  EXPECT_EQ(ade.short_side, 512);
  for (const auto& [dataset, side, stride] : {std::tuple(Dataset::kAde20k, 512, 480),
                                              {Dataset::kCityscapes, 768, 512},
                                              {Dataset::kPascalContext, 480, 320}}) {
    EXPECT_EQ(protocolOf(dataset).window, (Size2{side, side}));
    EXPECT_EQ(protocolOf(dataset).window_stride, stride);
  }
  EXPECT_EQ(protocolOf(Dataset::kCamVid).window, Size2{});
}

}  // namespace
}  // namespace mpm::evaluation
