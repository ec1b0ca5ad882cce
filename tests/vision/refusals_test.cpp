// SPDX-License-Identifier: Apache-2.0
// What this module refuses: for each refusal the smallest input that needs it.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>

#include "base/atomic_file.h"
#include "support/png.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"
#include "vision/labels/label_folder.h"
#include "vision/labels/label_map.h"
#include "vision/labels/labelled_picture.h"
#include "vision/pictures/pictures.h"
#include "vision/regions/region.h"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

class Refusals : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Refusals, OfPictures) {
  const cv::Mat image(4, 4, CV_8UC3, cv::Scalar::all(9)), nothing(0, 0, CV_8UC3), labels = cv::Mat::zeros(4, 4, CV_8U);
  for (const cv::Mat& wrong : {nothing, cv::Mat(4, 4, CV_8U), cv::Mat(4, 4, CV_16UC3)})
    EXPECT_MPM_ERROR(overlayPicture(wrong, cv::Mat::zeros(wrong.size(), CV_8U), {}), "from an 8-bit BGR image");
  EXPECT_MPM_ERROR(overlayPicture(image, cv::Mat::zeros(4, 4, CV_16U), {}), "a label map of 8 bits");
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
  const std::string palette =
      "\x89PNG\r\n\x1a\n" + test::pngChunk("IHDR", std::string("\0\0\0\2\0\0\0\1\b\3\0\0\0", 13)) +
      test::pngChunk("PLTE", "abcdef") + test::pngChunk("IDAT", std::string("\x78\x9c\x63\x60\x60\4\0\0\4\0\2", 11)) +
      test::pngChunk("IEND", "");
  EXPECT_MPM_ERROR(readLabelMap(write("p.png", palette)), "has a palette: write the class indices as grey values");
  for (const int type : {CV_8UC3, CV_16U}) {
    cv::imwrite(folder_ / "c.png", cv::Mat::zeros(4, 4, type));
    EXPECT_MPM_ERROR(readLabelMap(folder_ / "c.png"), "must have one channel of 8 bits");
  }
  EXPECT_MPM_ERROR(labelMapFiles(folder_ / "nowhere"), "cannot read the folder of labels '" + (folder_ / "nowhere"));
  for (const char* name : {"images", "labels"}) fs::create_directory(folder_ / name);
  cv::imwrite(folder_ / "images/a.png", cv::Mat::zeros(4, 4, CV_8UC3));
  EXPECT_MPM_ERROR(labelledFiles(folder_ / "images", folder_ / "labels"), "there are no label maps");
  EXPECT_MPM_ERROR(LabelFolder(folder_.path(), LabelFolder::Access::kRead).picture("b"), "there is no picture 'b'");
  cv::imwrite(folder_ / "labels/a.PNG", cv::Mat::zeros(4, 4, CV_8U));
  EXPECT_EQ(labelMapFiles(folder_ / "labels").at("a"), folder_ / "labels/a.PNG");
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
  region.size = {};
  EXPECT_MPM_ERROR(check({region}), "has no size");
  region = drawn;
  region.mask = cv::Mat(48, 64, CV_8U, cv::Scalar(1));
  EXPECT_MPM_ERROR(check({region}), "give it polygons or a mask, one of both");
  region.polygons.clear();
  region.mask = cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(1));
  EXPECT_MPM_ERROR(check({region}), "give a mask of the picture's size");
  for (const char* shape : {R"("circle", "points": [[1, 1], [2, 2], [3, 3]])", R"("circle", "points": [[1, 1]])",
                            R"("line", "points": [[1, 1], [9, 9]])", R"("polygon", "points": [[1, 1], [9, 9]])"})
    EXPECT_MPM_ERROR(readRegions(write(
                         "l.json", R"({"imageWidth": 64, "imageHeight": 48, "shapes": [{"label": "a", "shape_type": )" +
                                       std::string(shape) + "}]}")),
                     "polygons of three points or more, rectangles and circles");
  cv::imwrite(folder_ / "m.tif", cv::Mat::zeros(8, 8, CV_8U));
  for (const auto& [row, part] :
       {std::pair("2012-05-32,13:05:07,2013-06-10,06:35:12", "'2012-05-32,13:05:07' is no time"),
        std::pair("2013-06-10,06:35:12,2013-06-10,06:35:11", "it ends at 2013-06-10 06:35:11, before it begins")})
    EXPECT_MPM_ERROR(readRegions(write("r.csv", std::string("start_date,x\n") + row + ",m.tif,a.jpg\n")), part);
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
  EXPECT_MPM_ERROR(sourceFiles({.kind = SourceKind::kGlob, .target = folder_ / "*.png"}), "no file matches '");
  for (const double timeout : {0.0, -1.0, std::nan("")})
    EXPECT_MPM_ERROR(openSource(parseSourceSpec("camera:0"), {.timeout_s = timeout}),
                     "timeout of a source must be positive");
  const auto none = [](const SourceOptions&) -> std::unique_ptr<FrameSource> { return nullptr; };
  EXPECT_MPM_ERROR(openGuarded("x", none, {}), "there is no source");
  const auto empty = [](const SourceOptions&) { return std::make_unique<EmptyFrames>(); };
  EXPECT_MPM_ERROR(openGuarded("x", empty, {})->next(), "the source gave an empty frame");
  cv::VideoWriter writer(folder_ / "a.avi", cv::VideoWriter::fourcc('M', 'J', 'P', 'G'), 10, {64, 48});
  if (!writer.isOpened()) GTEST_SKIP() << "this OpenCV writes no video";
  for (int i = 0; i < 3; ++i) writer.write(cv::Mat(48, 64, CV_8UC3, cv::Scalar::all(80)));
  writer.release();
  std::string bytes = readFile(folder_ / "a.avi");
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.find("movi")) + 12, bytes.end(), 'x');
  EXPECT_MPM_ERROR(openSource(write("b.avi", bytes))->next(), "b.avi");
}

}  // namespace
}  // namespace mpm::vision
