// SPDX-License-Identifier: Apache-2.0
// Labels that somebody else wrote: each is read, or refused in one line that names the file.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>

#include "support/temporary_folder.h"
#include "support/throws_with.h"
#include "vision/labels/labelled_picture.h"
#include "vision/labels/labelme.h"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

const std::vector<ClassInfo> kIce = {{"ice"}};

cv::Mat read(const std::string& shapes, const std::string& more = "") {
  return readLabelMe({R"({"shapes": [)" + shapes + "]" + more + "}", "'a.json'"}, kIce, 255, {60, 40});
}

std::string polygon(const std::string& points) { return R"({"label": "ice", "points": [)" + points + "]}"; }

TEST(HostileLabels, OfLabelMeAreRefusedInOneLine) {
  const struct {
    std::string shapes, more, part;
  } cases[] = {
      {"7", "", "shapes[0]: found 7, expected an object with \"label\""},
      {R"({"label": 7, "points": []})", "", "shapes[0].label: found 7, expected a text"},
      {R"({"label": "\u001b[2J", "points": []})", "", "'\\x1b[2J', which is none of the classes"},
      {R"({"label": "ice"})", "", "expected an object with \"points\""},
      {polygon("[1, 2]"), "", "shapes[0] is a polygon with 1 points"},
      {polygon("[1, 2], [3, 4]"), "", "polygon with 2 points"},
      {polygon("[1, 2], [3, 4], [5]"), "", "points[2]: found [5], expected a list of 2"},
      {polygon("[1, 2], [3, 4], [5, null]"), "", "points[2][1]: found null, expected a number"},
      {R"({"label": "ice", "shape_type": "mask", "points": [[1, 2], [3, 4]]})", "", "is a mask"},
      {R"({"label": "ice", "shape_type": null, "points": [[1, 2], [3, 4]]})", "", "shape_type: found null"},
      {"", R"(, "imageWidth": 60.5)", "imageWidth: found 60.5"},
      {"", R"(, "imageHeight": 0)", "imageHeight: found 0"},
      {"", R"(, "imageHeight": 41)", "picture of 60 x 41 px (width x height), its image is 60 x 40 px"},
  };
  for (const auto& one : cases) {
    EXPECT_MPM_ERROR(read(one.shapes, one.more), one.part);
    EXPECT_MPM_ERROR(read(one.shapes, one.more), "'a.json'");
  }
}

// As the whole polygon gives: what is cut off is far from the picture.
TEST(HostileLabels, FarPolygonsAreCutFirst) {
  const cv::Mat near = read(polygon("[-40, 20], [30, -50], [100, 20], [30, 90]"));
  EXPECT_EQ(cv::countNonZero(near == 0), 60 * 40);
  const cv::Mat far = read(polygon("[-1e300, -1e300], [30, 20], [1e300, -1e300]"));
  EXPECT_EQ(far.at<uchar>(0, 30), 0);
  EXPECT_EQ(far.at<uchar>(39, 30), 255);
  EXPECT_EQ(cv::countNonZero(read(polygon("[1e8, 1e8], [2e8, 1e8], [1e8, 2e8]")) == 0), 0);
  // An edge that crosses the picture keeps its place.
  const cv::Mat edge = read(polygon("[-600, -400], [1200, 800], [-600, 800]"));
  for (int x = 3; x < 57; x += 6) {
    const int y = x * 2 / 3;
    EXPECT_EQ(edge.at<uchar>(y + 2, x), 0) << x;
    EXPECT_EQ(edge.at<uchar>(y - 2, x), 255) << x;
  }
}

TEST(HostileLabels, AMillionPointsAreFilledOrRefused) {
  std::string circle, zigzag;
  for (int i = 0; i < 1'000'000; ++i) {
    const double angle = i * 2 * CV_PI / 1'000'000;
    const std::string comma = i ? "," : "";
    circle +=
        comma + "[" + std::to_string(30 + 15 * std::cos(angle)) + "," + std::to_string(20 + 15 * std::sin(angle)) + "]";
    zigzag += comma + (i % 2 ? "[1,0]" : "[50,39]");
  }
  EXPECT_NEAR(cv::countNonZero(read(polygon(circle)) == 0), CV_PI * 15 * 15, 90);
  EXPECT_MPM_ERROR(read(polygon(zigzag)), "goes up and down too often");
}

TEST(HostileLabels, TwoSourcesOfOnePictureAreRefused) {
  const std::string shapes = R"({"shapes": []})";
  const std::string coco = R"({"images": [{"id": 1, "file_name": "p.jpg"}], "categories": [{"id": 1, "name": "ice"}],
      "annotations": [{"image_id": 1, "category_id": 1, "segmentation": []}]})";
  const struct {
    std::vector<std::pair<std::string, std::string>> files;
    std::string part;
  } cases[] = {
      {{{"labels/p.json", shapes}, {"labels/coco.json", coco}}, "two labels for 'p'"},
      {{{"labels/a.json", coco}, {"labels/b.json", coco}}, "two labels for 'p'"},
      {{{"labels/p.json", shapes}, {"labels/p.png", ""}}, "two labels for 'p'"},
      {{{"labels/p.bmp", ""}, {"labels/p.png", ""}}, "two label maps for 'p'"},
      {{{"labels/p.json", shapes}, {"images/p.jpg", ""}}, "two pictures"},
      {{{"labels/q.json", shapes}}, "there is no q.png"},
  };
  for (const auto& one : cases) {
    const test::TemporaryFolder folder;
    for (const char* name : {"images", "labels"}) fs::create_directories(folder / name);
    cv::imwrite(folder / "images/p.png", cv::Mat(40, 60, CV_8UC3, cv::Scalar::all(9)));
    for (const auto& [file, text] : one.files) std::ofstream(folder / file) << text;
    EXPECT_MPM_ERROR(labelledFiles(folder / "images", folder / "labels"), one.part);
  }
}

// A file of COCO is read once, and looked up by name: no work grows with the square of its size.
TEST(HostileLabels, ManyPicturesInOneFileOfCoco) {
  std::string images, annotations;
  constexpr int kPictures = 100'000;
  for (int i = 0; i < kPictures; ++i) {
    const std::string comma = i ? "," : "", id = std::to_string(i);
    images += comma + R"({"id": )" + id + R"(, "file_name": "p)" + id + R"(.png"})";
    annotations += comma + R"({"image_id": )" + id + R"(, "category_id": 1, "segmentation": [[0,0,59,0,59,39]]})";
  }
  const CocoFile file({R"({"images": [)" + images + R"(], "categories": [{"id": 1, "name": "ice"}], "annotations": [)" +
                           annotations + "]}",
                       "'a.json'"});
  EXPECT_EQ(file.pictures().size(), std::size_t{kPictures});
  for (int i = 0; i < kPictures; i += 50)
    ASSERT_EQ(file.labels("p" + std::to_string(i), kIce, 255, {60, 40}).at<uchar>(5, 40), 0);
}

}  // namespace
}  // namespace mpm::vision
