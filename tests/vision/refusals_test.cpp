// SPDX-License-Identifier: Apache-2.0
// What this module refuses: for each refusal the smallest input that needs it.

#include <cmath>
#include <opencv2/imgcodecs.hpp>

#include "base/atomic_file.h"
#include "support/in_folder.h"
#include "support/png.h"
#include "support/throws_with.h"
#include "support/video.h"
#include "vision/labels/label_folder.h"
#include "vision/labels/labelled_picture.h"
#include "vision/pictures/pictures.h"
#include "vision/regions/region.h"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

using Refusals = test::InFolder;

TEST_F(Refusals, OfPictures) {
  const cv::Mat image(4, 4, CV_8UC3, cv::Scalar::all(9)), nothing(0, 0, CV_8UC3), labels = cv::Mat::zeros(4, 4, CV_8U);
  for (const cv::Mat& wrong : {nothing, cv::Mat(4, 4, CV_8U), cv::Mat(4, 4, CV_16UC3)})
    EXPECT_MPM_ERROR(overlayPicture(wrong, cv::Mat::zeros(wrong.size(), CV_8U), {}), "from an 8-bit BGR image");
  EXPECT_MPM_ERROR(overlayPicture(image, cv::Mat::zeros(4, 4, CV_16U), {}), "a label map of 8 bits");
  EXPECT_MPM_ERROR(overlayPicture(image, cv::Mat::zeros(4, 5, CV_8U), {}), "of the image's size");
  EXPECT_MPM_ERROR(segmentsPicture(image, cv::Mat::zeros(4, 5, CV_16U), {}), "of the image's size");
  EXPECT_MPM_ERROR(segmentsPicture(image, cv::Mat::zeros(3, 4, CV_16U), {}), "of the image's size");
  for (const double opacity : {-0.1, 1.1, std::nan("")})
    EXPECT_MPM_ERROR(overlayPicture(image, labels, {}, opacity), "lies between 0 and 1");
  for (const Size2 grid : {Size2{0, 0}, Size2{0, 3}, Size2{3, 0}, Size2{-1, -4}})
    EXPECT_MPM_ERROR(mergePicture(image, grid.height < 0 ? std::vector<int>(4) : std::vector<int>(), grid), "its grid");
  EXPECT_MPM_ERROR(writePicture(folder_ / "a.png", nothing), "does not encode as PNG");
  EXPECT_MPM_ERROR(writePicture(folder_ / "a.jpg", cv::Mat(2, 2, CV_32FC2)), "does not encode as JPEG");
  EXPECT_TRUE(folder_.isEmpty());
}

TEST_F(Refusals, OfLabels) {
  const std::string signature = "\x89PNG\r\n\x1a\n",
                    grey = signature + test::pngChunk("IHDR", std::string("\0\0\0\4\0\0\0\1\2\0\0\0\0", 13)) +
                           test::pngChunk("IDAT", std::string("\x78\x9c\x63\x90\6\0\0\x1d\0\x1c", 10)) +
                           test::pngChunk("IEND", "");
  const cv::Mat four = readLabelMap(write("g.png", grey));
  for (int label = 0; label < 4; ++label) EXPECT_EQ(four.at<uchar>(label), label) << "of two bits";
  const std::string palette = signature + test::pngChunk("IHDR", std::string("\0\0\0\2\0\0\0\1\b\3\0\0\0", 13)) +
                              test::pngChunk("PLTE", "abcdef") +
                              test::pngChunk("IDAT", std::string("\x78\x9c\x63\x60\x60\4\0\0\4\0\2", 11)) +
                              test::pngChunk("IEND", "");
  EXPECT_MPM_ERROR(readLabelMap(write("p.png", palette)), "has a palette: write the class indices as grey values");
  std::string bmp("BM\x7a\0\0\0\0\0\0\0\x76\0\0\0\x28\0\0\0\2\0\0\0\1\0\0\0\1\0\4\0", 30);
  bmp.resize(54);
  for (int level = 0; level < 16; ++level) bmp += std::string(3, static_cast<char>(17 * level)) + '\0';
  EXPECT_MPM_ERROR(readLabelMap(write("b.bmp", bmp + std::string("\x12\0\0\0", 4))), "has 4 bits for a pixel");
  const auto tiff = [](const std::string& bits) {  // of 8 x 1 pixels
    std::string file("II*\0\b\0\0\0\b\0", 10);
    const auto entry = [&](const std::string& tag, const std::string& value) {
      file += tag + std::string("\x3\0\1\0\0\0", 6) + value + std::string("\0\0\0", 3);
    };
    entry(std::string("\0\1", 2), "\b");
    entry("\1\1", "\1");
    entry("\2\1", bits);
    entry("\3\1", "\1");
    entry("\6\1", "\1");
    entry("\x11\1", "\x6e");
    entry("\x16\1", "\1");
    entry("\x17\1", bits);
    return file + std::string(4, '\0') + "\1\2\3\4\5\6\7\b";
  };
  EXPECT_EQ(readLabelMap(write("t.tif", tiff("\b"))).at<uchar>(6), 7);
  EXPECT_MPM_ERROR(readLabelMap(write("u.tif", tiff("\1"))), "has 1 bit for a pixel");
  for (const auto& [type, has] :
       {std::pair(CV_8UC3, "3 channels of 8 bits: write"), {CV_16U, "1 channel of 16 bits: write"}}) {
    cv::imwrite(folder_ / "c.png", cv::Mat::zeros(4, 4, type));
    EXPECT_MPM_ERROR(readLabelMap(folder_ / "c.png"), "c.png' has " + std::string(has));
  }
  for (const char* no_folder : {"nowhere", "c.png", "*.png"}) {
    const std::string path = folder_ / no_folder, then = " '" + path + "': name a folder, no file";
    EXPECT_MPM_ERROR(labelledFiles(folder_.path(), path), "there is no folder of labels" + then);
    EXPECT_MPM_ERROR(labelledFiles(path, folder_.path()), "there is no folder of images" + then);
  }
  for (const char* name : {"images", "labels"}) fs::create_directory(folder_ / name);
  cv::imwrite(folder_ / "images/a.png", cv::Mat::zeros(4, 4, CV_8UC3));
  EXPECT_MPM_ERROR(labelledFiles(folder_ / "images", folder_ / "labels"), "there are no label maps");
  cv::imwrite(folder_ / "labels/a.jpg", cv::Mat::zeros(4, 4, CV_8U));
  EXPECT_MPM_ERROR(labelledFiles(folder_ / "images", folder_ / "labels"), "; 'a.jpg' is no label map: write it as PNG");
  EXPECT_MPM_ERROR(LabelFolder(folder_.path(), LabelFolder::Access::kRead).picture("b"), "there is no picture 'b'");
  cv::imwrite(folder_ / "labels/a.PNG", cv::Mat::zeros(4, 4, CV_8U));
  EXPECT_EQ(labelMapFiles(folder_ / "labels").at("a"), folder_ / "labels/a.PNG");
  EXPECT_MPM_ERROR(readClassList(write("n.json", R"([{"name": " "}])")), "expected a class with a name");
  const cv::Mat two = (cv::Mat_<uchar>(1, 2) << 1, 3);
  EXPECT_MPM_ERROR(LabelMeaning({}, 0, 3).applied(two), "holds the label 3, which is neither");
  EXPECT_MPM_ERROR(LabelMeaning({1}, -1, 2).applied(two), "holds the label 3, with the offset 2, which is neither");
  const cv::Mat meant = LabelMeaning({1}, -1, 3).applied(two);
  EXPECT_EQ(meant.at<uchar>(0), 255);
  EXPECT_EQ(meant.at<uchar>(1), 2);
}

TEST_F(Refusals, OfRegions) {
  const Region drawn{.name = "a", .size = {64, 48}, .polygons = {{{1, 1}, {9, 1}, {9, 9}}}};
  Region region = drawn;
  region.name = " ";
  EXPECT_MPM_ERROR(check({region}), "a region has no name");
  region = drawn;
  region.size = {};
  EXPECT_MPM_ERROR(check({region}), "has no size");
  region = drawn;
  region.mask = cv::Mat(48, 64, CV_8U, cv::Scalar(1));
  EXPECT_MPM_ERROR(check({region}), "give it polygons or a mask, one of both");
  region.polygons.clear();
  region.mask = cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(1));
  EXPECT_MPM_ERROR(check({region}), "give a mask of the picture's size");
  for (const char* shape : {R"("circle", "points": [[1, 1], [2, 2], [3, 3]])", R"("circle", "points": [[1, 1]])",
                            R"("line", "points": [[1, 1], [9, 9]])", R"("polygon", "points": [[1, 1], [9, 9]])"}) {
    EXPECT_MPM_ERROR(readRegions(write(
                         "l.json", R"({"imageWidth": 64, "imageHeight": 48, "shapes": [{"label": "a", "shape_type": )" +
                                       std::string(shape) + "}]}")),
                     "polygons of three points or more, rectangles and circles");
  }
  cv::imwrite(folder_ / "m.tif", cv::Mat::zeros(8, 8, CV_8U));
  for (const auto& one :
       {std::pair("2012-05-32,13:05:07,2013-06-10,06:35:12", "'2012-05-32,13:05:07' is no time"),
        std::pair("2013-06-10,06:35:12,2013-06-10,06:35:11", "it ends at 2013-06-10 06:35:11, before it begins")}) {
    EXPECT_MPM_ERROR(readRegions(write("r.csv", std::string("start_date,x\n") + one.first + ",m.tif,a.jpg\n")),
                     one.second);
  }
  EXPECT_NO_THROW(readRegions(write("r.csv", "2013-06-10,06:35:12,2013-06-10,06:35:12,m.tif,a.jpg\n")));
}

/// A source whose frames have no pixels.
class EmptyFrames : public FrameSource {
  std::optional<Frame> next() override { return Frame{}; }
};

TEST_F(Refusals, OfSources) {
  EXPECT_MPM_ERROR(toBgr8(cv::Mat(2, 2, CV_32FC3)), "8 or 16 bits per channel");
  EXPECT_MPM_ERROR(toBgr8(cv::Mat(2, 2, CV_8UC2)), "1, 3 or 4 channels, not 2");
  EXPECT_MPM_ERROR(sourceFiles({.kind = SourceKind::kFolder, .target = folder_ / "gone"}), "cannot read folder '");
  for (const double timeout : {0.0, -1.0, std::nan("")}) {
    EXPECT_MPM_ERROR(openSource(parseSourceSpec("camera:0"), {.timeout_s = timeout}),
                     "timeout of a source must be positive");
  }
  const auto none = [](const SourceOptions&) -> std::unique_ptr<FrameSource> { return nullptr; };
  EXPECT_MPM_ERROR(openGuarded("x", none, {}), "there is no source");
  const auto empty = [](const SourceOptions&) { return std::make_unique<EmptyFrames>(); };
  EXPECT_MPM_ERROR(openGuarded("x", empty, {})->next(), "the source gave an empty frame");
  const auto grey = [](int) { return cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(80)); };
  if (!test::writeVideo(folder_ / "a.avi", "MJPG", 10, {64, 48}, 3, grey))
    GTEST_SKIP() << "this OpenCV writes no video";
  std::string bytes = readFile(folder_ / "a.avi");
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.find("movi")) + 12, bytes.end(), 'x');
  EXPECT_MPM_ERROR(openSource(write("b.avi", bytes))->next(), "b.avi");
}

// Labels that somebody else wrote: each is read, or refused in one line that names the file.
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
      {polygon("[1, 2]"), "", "shapes[0] is a polygon with 1 point:"},
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
