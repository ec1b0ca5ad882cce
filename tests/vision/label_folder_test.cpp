// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/label_folder.h"

#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "base/atomic_file.h"
#include "support/exif.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::vision {
namespace {

const cv::Size kSize(12, 8);

cv::Mat map(int upper, int lower) {
  cv::Mat labels(kSize, CV_8U, cv::Scalar(lower));
  labels.rowRange(0, 4).setTo(upper);
  return labels;
}

bool same(const cv::Mat& a, const cv::Mat& b) { return a.size() == b.size() && cv::countNonZero(a != b) == 0; }

class LabelFolderTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return disk_ / ("a.labels/" + name); }
  static cv::Mat image() { return cv::Mat(kSize, CV_8UC3, cv::Scalar(20, 120, 200)); }

  // Three classes, and two pictures labelled with them.
  LabelFolder filled() const {
    LabelFolder folder(disk_ / "a.labels", LabelFolder::Access::kWrite);
    folder.setClasses({{"ice"}, {"rock", {{1, 2, 3}}}, {"sky"}});
    for (const char* name : {"p", "q"}) folder.addPicture(name, image());
    folder.saveLabels("p", map(2, 255));
    folder.saveLabels("q", map(0, 1));
    return folder;
  }

  test::TemporaryFolder disk_;
};

TEST_F(LabelFolderTest, KeepsPicturesLabelsAndClasses) {
  LabelFolder folder(disk_ / "a.labels", LabelFolder::Access::kWrite);
  EXPECT_FALSE(fs::exists(disk_ / "a.labels")) << "looking makes nothing";
  EXPECT_THAT(folder.pictures(), IsEmpty());
  folder = filled();
  EXPECT_EQ(folder.addPicture("p", image()), "p_2");
  const LabelFolder again(disk_ / "a.labels");
  EXPECT_THAT(again.pictures(), ElementsAre("p", "p_2", "q"));
  EXPECT_THAT(again.labelled(), ElementsAre("p", "q"));
  EXPECT_TRUE(same(again.labels("p"), map(2, 255)));
  EXPECT_TRUE(same(again.labels("p_2"), map(255, 255)));
  ASSERT_EQ(again.classes().count(), 3);
  EXPECT_EQ(again.classes().classes[1].name, "rock");
  EXPECT_EQ(again.classes().classes[1].rgb, (std::array<std::uint8_t, 3>{1, 2, 3}));
  folder.saveLabels("p", map(255, 255));
  folder.removePicture("q");
  EXPECT_THAT(again.labelled(), IsEmpty());
  EXPECT_THAT(again.pictures(), ElementsAre("p", "p_2"));
  test::setExifOrientation(folder.picturePath("p"), 6);
  EXPECT_EQ(folder.picture("p").size(), cv::Size(kSize.height, kSize.width)) << "as people see it";
}

TEST_F(LabelFolderTest, MergingAClassRewritesEveryLabelMap) {
  LabelFolder folder = filled();
  folder.mergeClass(1, 2);
  EXPECT_TRUE(same(folder.labels("p"), map(1, 255)));
  EXPECT_TRUE(same(folder.labels("q"), map(0, 1)));
  folder.mergeClass(0, std::nullopt);
  const LabelFolder again(disk_ / "a.labels");
  EXPECT_EQ(again.classes().count(), 1);
  EXPECT_EQ(again.classes().classes[0].name, "sky");
  EXPECT_TRUE(same(again.labels("p"), map(0, 255)));
  EXPECT_TRUE(same(again.labels("q"), map(255, 0)));
}

// What is on the disk when a merge is killed before and after the moment at which it takes effect.
TEST_F(LabelFolderTest, AKilledMergeHappensWhollyOrNotAtAll) {
  filled();
  const LabelFolder target = [&] {
    fs::copy(path(""), disk_ / "b.labels", fs::copy_options::recursive);
    LabelFolder merged(disk_ / "b.labels", LabelFolder::Access::kWrite);
    merged.mergeClass(0, 1);
    return merged;
  }();
  const auto writeChanged = [&](const std::string& folder) {
    fs::create_directories(path(folder));
    for (const std::string file : {"p.png", "q.png"})
      fs::copy(fs::path(target.labelsPath()) / file, path(folder + "/" + file));
    fs::copy(target.classesPath(), path(folder + "/classes.json"));
  };
  writeChanged("labels.part");
  fs::remove(path("labels.part/q.png"));
  EXPECT_EQ(LabelFolder(path(""), LabelFolder::Access::kWrite).classes().count(), 3);
  EXPECT_FALSE(fs::exists(path("labels.part")));

  writeChanged("labels.new");
  fs::rename(path("labels.new/p.png"), path("labels/p.png"));  // and was killed between two files
  const LabelFolder folder(path(""), LabelFolder::Access::kWrite);
  EXPECT_EQ(folder.classes().count(), 2);
  for (const char* name : {"p", "q"}) EXPECT_TRUE(same(folder.labels(name), target.labels(name))) << name;
  EXPECT_FALSE(fs::exists(path("labels.new")));
}

TEST_F(LabelFolderTest, RefusesWhatMakesNoSenseAndStaysAsItWas) {
  LabelFolder folder = filled();
  const std::string classes = readFile(folder.classesPath());
  EXPECT_MPM_ERROR(folder.setClasses({{"ice"}, {"ice"}, {"sky"}}), "two classes 'ice'");
  EXPECT_MPM_ERROR(folder.setClasses({{"ice"}, {" "}, {"sky"}}), "without a name");
  EXPECT_MPM_ERROR(folder.setClasses({{"ice"}, {"rock"}}), "left out");
  EXPECT_MPM_ERROR(folder.setClasses(std::vector<ClassInfo>(256, {"a"})), "255");
  EXPECT_EQ(readFile(folder.classesPath()), classes);
  EXPECT_EQ(folder.classes().count(), 3);

  cv::imwrite(path("labels/p.png"), cv::Mat(3, 3, CV_8U, cv::Scalar(0)));
  for (const char* part : {"p.png", "3 x 3 px"}) EXPECT_MPM_ERROR(folder.labels("p"), part);
  cv::imwrite(path("labels/p.png"), map(7, 255));
  EXPECT_MPM_ERROR(folder.labels("p"), "label 7");
  EXPECT_MPM_ERROR(folder.mergeClass(0, 1), "label 7");
  EXPECT_TRUE(same(folder.labels("q"), map(0, 1)));
  EXPECT_EQ(folder.classes().count(), 3);
  EXPECT_FALSE(fs::exists(path("labels.part")));

  std::ofstream(folder.classesPath()) << "[";
  EXPECT_MPM_ERROR(LabelFolder(path("")), "classes.json");
  fs::remove_all(path("labels"));
  std::ofstream(path("labels")) << "a file in place of the folder";
  EXPECT_MPM_ERROR(folder.saveLabels("p", map(0, 1)), "cannot");
}

// A disk without space.
TEST_F(LabelFolderTest, AFullDiskLeavesTheOldLabels) {
  LabelFolder folder = filled();
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  fs::remove(path("labels/p.png"));
  fs::create_symlink("/dev/full", path("labels/p.png"));
  EXPECT_MPM_ERROR(folder.saveLabels("p", map(0, 1)), "p.png");
  EXPECT_TRUE(same(folder.labels("q"), map(0, 1)));
}

TEST_F(LabelFolderTest, ImportsLabelMapsAndFilesOfLabelMe) {
  for (const char* folder : {"maps/images", "maps/labels", "shapes"}) fs::create_directories(disk_ / folder);
  cv::imwrite(disk_ / "maps/images/m.png", image());
  cv::imwrite(disk_ / "maps/labels/m.png", map(1, 255));
  LabelFolder folder(disk_ / "a.labels", LabelFolder::Access::kWrite);
  EXPECT_MPM_ERROR(folder.import(disk_ / "maps"), "label 1");
  EXPECT_THAT(folder.pictures(), IsEmpty());
  std::ofstream(disk_ / "maps/classes.json") << R"({"classes": [{"name": "ice"}, {"name": "rock"}]})";
  EXPECT_EQ(folder.import(disk_ / "maps").files.size(), 1U);
  EXPECT_TRUE(same(folder.labels("m"), map(1, 255)));

  cv::imwrite(disk_ / "shapes/s.png", image());
  std::ofstream(disk_ / "shapes/s.json") << R"({"imageHeight": 8, "imageWidth": 12, "shapes": [
    {"label": "lake", "shape_type": "rectangle", "points": [[0, 0], [5, 3]]},
    {"label": "lake", "shape_type": "linestrip", "points": [[9, 1], [10, 1], [11, 1]]},
    {"label": "lake", "shape_type": "point", "points": [[9, 6]]}]})";
  EXPECT_EQ(folder.import(disk_ / "shapes").files.size(), 1U);
  EXPECT_EQ(folder.classes().classes[2].name, "lake");
  cv::Mat lake(kSize, CV_8U, cv::Scalar(255));
  lake(cv::Rect(0, 0, 6, 4)).setTo(2);
  const cv::Mat found = folder.labels("s");
  EXPECT_TRUE(same(found.colRange(0, 7), lake.colRange(0, 7)));
  EXPECT_EQ(found.at<uchar>(1, 10), 2) << "on the line";
  EXPECT_EQ(found.at<uchar>(2, 10), 2) << "at its edge";
  EXPECT_EQ(found.at<uchar>(3, 10), 255) << "beside it";
  EXPECT_EQ(found.at<uchar>(6, 9), 2) << "the point";
  EXPECT_EQ(found.at<uchar>(4, 9), 255) << "between them";
  folder.import(disk_ / "shapes");
  EXPECT_THAT(folder.pictures(), ElementsAre("m", "s")) << "the picture is there already";
  cv::imwrite(disk_ / "shapes/s.png", image() * 0.5);
  folder.import(disk_ / "shapes");
  EXPECT_THAT(folder.pictures(), ElementsAre("m", "s", "s_2")) << "another picture of that name";
  EXPECT_MPM_ERROR(folder.import(disk_ / "nowhere"), "nowhere");
}

// What another tool gives back: maps named as the pictures, and no pictures.
TEST_F(LabelFolderTest, ImportsLabelMapsOfThePicturesThatItHas) {
  LabelFolder folder(disk_ / "a.labels", LabelFolder::Access::kWrite);
  folder.setClasses({{"ice"}, {"rock"}});
  cv::Mat drawn(image().size(), CV_8U, cv::Scalar(255));
  drawn.row(0).setTo(1);
  folder.saveLabels(folder.addPicture("p", image()), drawn);
  folder.addPicture("q", image());
  fs::create_directories(disk_ / "maps");
  const auto all_ice = [&] { return cv::Mat(image().size(), CV_8U, cv::Scalar(0)); };
  cv::imwrite(disk_ / "maps/r.png", all_ice());
  EXPECT_MPM_ERROR(folder.import(disk_ / "maps"), "no picture for the labels 'r'");
  for (const char* name : {"p", "q"}) cv::imwrite(disk_ / ("maps/" + std::string(name) + ".png"), all_ice());
  const FoundLabels done = folder.import(disk_ / "maps");
  EXPECT_EQ(done.files.size(), 2U);
  EXPECT_THAT(done.missing, ElementsAre("r"));
  EXPECT_THAT(folder.pictures(), ElementsAre("p", "q")) << "no picture is added";
  cv::Mat merged = all_ice();
  merged.row(0).setTo(1);
  EXPECT_TRUE(same(folder.labels("p"), merged)) << "what was drawn stays";
  EXPECT_TRUE(same(folder.labels("q"), all_ice()));

  fs::create_directories(disk_ / "more/labels");
  cv::imwrite(disk_ / "more/labels/unknown.png", all_ice());
  EXPECT_MPM_ERROR(folder.import(disk_ / "more"), "no picture for the labels 'unknown'");
  cv::imwrite(disk_ / "more/labels/q.png", all_ice());
  EXPECT_THAT(folder.import(disk_ / "more").missing, ElementsAre("unknown"));
}

}  // namespace
}  // namespace mpm::vision
