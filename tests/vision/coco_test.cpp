// SPDX-License-Identifier: Apache-2.0
#include "vision/labels/label_files.h"

#include <opencv2/imgcodecs.hpp>

#include "base/json_file.h"
#include "support/in_folder.h"
#include "support/throws_with.h"
#include "vision/labels/label_folder.h"

namespace mpm::vision {
namespace {

const ClassList kRiver{{{"water"}, {"bank"}, {"ice"}}};

class CocoTest : public test::InFolder {
 protected:
  // A file with one shape in a picture p.png of 4x6.
  std::string one(const std::string& segmentation, const std::string& category = "5") const {
    return write("one.json", R"({"images": [{"id": 7, "file_name": "a/p.png", "height": 4, "width": 6}],
      "categories": [{"id": 9, "name": "sea"}, {"id": 5, "name": "ice"}], "annotations": [{"image_id": 7, "category_id": )" +
                                 category + R"(, "segmentation": )" + segmentation + "}]}");
  }
  cv::Mat read(const std::string& file, cv::Size size = {6, 4}) const {
    return CocoFile(readJsonFile(file)).labels("p", kRiver.classes, 255, size);
  }
};

TEST_F(CocoTest, ReadsPolygonsAndRunLengths) {
  const std::string polygon = one("[[1, 1, 3.2, 1, 3, 2, 1, 2]]");
  cv::Mat expected(4, 6, CV_8U, cv::Scalar(255));
  expected(cv::Rect(1, 1, 3, 2)).setTo(2);
  EXPECT_EQ(cv::countNonZero(read(polygon) != expected), 0);
  const CocoFile file(readJsonFile(polygon));
  EXPECT_THAT(file.names(), ElementsAre("ice")) << "sea has no shape";
  EXPECT_THAT(file.pictures(), ElementsAre("p"));

  expected.setTo(255);
  expected.at<uchar>(3, 0) = expected.at<uchar>(0, 1) = 2;  // down the columns
  EXPECT_EQ(cv::countNonZero(read(one(R"({"size": [4, 6], "counts": [3, 2, 19]})")) != expected), 0);
}

TEST_F(CocoTest, RefusesWhatItCannotReadInOneLine) {
  const std::string triangle = "[[1, 1, 3, 1, 3, 2]]";
  EXPECT_MPM_ERROR(read(one(triangle, "9")), "one.json");
  EXPECT_MPM_ERROR(read(one(triangle, "9")), "categories[0].name is the label 'sea', which is none");
  EXPECT_MPM_ERROR(read(one(triangle, "6")), "annotations[0].category_id: found 6, expected the id of a");
  EXPECT_MPM_ERROR(read(one(triangle), {4, 6}), "6 x 4 px");
  const std::pair<const char*, const char*> shapes[] = {
      {"[[]]", "has 0 numbers"},
      {"[[1, 1]]", "segmentation[0] has 2 numbers: a polygon has three points"},
      {"[[1, 1, 3, 1, 3, 2, 4]]", "has 7 numbers"},
      {R"([[1, 1, 3, 1, 3, "2"]])", "segmentation[0][5]: found \"2\", expected a number"},
      {R"({"size": [4, 6], "counts": "abc"})", "compressed"},
      {R"({"size": [6, 4], "counts": [24]})", "4 x 6 px"},
      {R"({"size": [4.5, 6], "counts": [24]})", "size[0]: found 4.5"},
      {R"({"size": [4, 6], "counts": [3, 2]})", "covers 5 of 24 pixels"},
      {R"({"size": [4, 6], "counts": [3, 22]})", "counts[1]: found 22, expected a whole number from 0 to 21"},
      {R"({"size": [4, 6], "counts": [-1, 25]})", "counts[0]: found -1"},
      {"3", "expected a list"}};
  for (const auto& shape : shapes) EXPECT_MPM_ERROR(read(one(shape.first)), shape.second);
  const auto file = [&](const std::string& images, const std::string& categories, const std::string& annotations) {
    return write("one.json", R"({"images": [)" + images + R"(], "categories": [)" + categories +
                                 R"(], "annotations": [)" + annotations + "]}");
  };
  const std::string p = R"({"id": 1, "file_name": "p.png"})", ice = R"({"id": 1, "name": "ice"})",
                    shape = R"({"id": 4, "image_id": 1, "category_id": 1, "segmentation": []})";
  EXPECT_MPM_ERROR(read(file("", "", "")), "no picture 'p'");
  EXPECT_MPM_ERROR(read(file(p + "," + p, ice, "")), "images[1] is a picture 'p' for the second time");
  EXPECT_MPM_ERROR(read(file(p + R"(, {"id": 1, "file_name": "q.png"})", ice, "")), "picture 1 for the second time");
  EXPECT_MPM_ERROR(read(file(p, ice + R"(, {"id": 1, "name": "sea"})", "")), "category 1 for the second time");
  EXPECT_MPM_ERROR(read(file(p, ice, shape + "," + shape)), "annotation 4 for the second time");
  EXPECT_MPM_ERROR(read(file("", ice, shape)), "image_id: found 1, expected the id of an image");
  EXPECT_MPM_ERROR(read(file(R"({"id": true, "file_name": "p.png"})", "", "")), "id: found true");
  EXPECT_MPM_ERROR(read(file(R"({"id": 1, "file_name": ""})", "", "")), "the name of a file");
  EXPECT_MPM_ERROR(read(file(R"({"id": 1, "file_name": "p.png", "width": 4294967302})", ice, "")), "width: found 4294");
}

TEST_F(CocoTest, ALabelFolderImportsIt) {
  fs::create_directory(folder_ / "from");
  const cv::Mat picture(4, 6, CV_8UC3, cv::Scalar::all(90));
  ASSERT_TRUE(cv::imwrite(folder_ / "from/p.png", picture));
  fs::rename(one("[[1, 1, 3, 1, 3, 2, 1, 2]]"), folder_ / "from/coco.json");
  LabelFolder labels(folder_ / "labels", LabelFolder::Access::kWrite);
  EXPECT_EQ(labels.import(folder_ / "from").files.size(), 1U);
  ASSERT_EQ(labels.classes().count(), 1) << "nothing is labelled as sea";
  EXPECT_EQ(labels.classes().classes[0].name, "ice");
  cv::Mat expected(4, 6, CV_8U, cv::Scalar(255));
  expected(cv::Rect(1, 1, 3, 2)).setTo(0);
  EXPECT_EQ(cv::countNonZero(labels.labels("p") != expected), 0);
}

}  // namespace
}  // namespace mpm::vision
