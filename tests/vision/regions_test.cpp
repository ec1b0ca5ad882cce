// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "base/atomic_file.h"
#include "support/exif.h"
#include "support/in_folder.h"
#include "support/throws_with.h"
#include "vision/labels/label_files.h"
#include "vision/regions/region.h"
#include "vision/time.h"

namespace mpm::vision {
namespace {

Region square(const std::string& name, std::optional<UnixMs> from = {}, std::optional<UnixMs> to = {}) {
  return {
      .name = name, .size = {64, 48}, .polygons = {{{10, 10}, {29, 10}, {29, 29}, {10, 29}}}, .from = from, .to = to};
}

using Regions = test::InFolder;

int inside(const Region& region) { return cv::countNonZero(maskOf(region, region.size)); }

TEST_F(Regions, MaskScalesWithThePicture) {
  const Region region = square("a");
  EXPECT_EQ(inside(region), 20 * 20);
  const cv::Mat twice = maskOf(region, {128, 96}), half = maskOf(region, {32, 24});
  EXPECT_NEAR(cv::countNonZero(twice), 40 * 40, 80);
  EXPECT_NEAR(cv::countNonZero(half), 10 * 10, 25);
  EXPECT_EQ(cv::boundingRect(twice).tl(), cv::Point(20, 20) + cv::Point(1, 1));
}

TEST_F(Regions, PolygonsOfOneRegionMayOverlap) {
  Region region = square("a");
  region.polygons.push_back({{20, 10}, {39, 10}, {39, 29}, {20, 29}});
  EXPECT_EQ(inside(region), 30 * 20);
}

TEST_F(Regions, OutlineOfTooManyCrossingsIsRefused) {
  Region region = square("a");
  for (int i = 0; i < 20'000; ++i) region.polygons[0].emplace_back(i % 60, i % 2 * 47);
  EXPECT_MPM_ERROR(maskOf(region, region.size), "region 'a' goes up and down too often");
}

TEST_F(Regions, MaskOfAnotherSizeIsRefused) {
  Region region{.name = "a", .size = {64, 48}, .mask = cv::Mat(48, 64, CV_8UC1, cv::Scalar(1))};
  EXPECT_EQ(cv::countNonZero(maskOf(region, {64, 48}) == 255), 64 * 48);
  EXPECT_MPM_ERROR(maskOf(region, {32, 24}), "the mask of region 'a' is 64 x 48 px");
  region.size = {32, 24};
  EXPECT_MPM_ERROR(check({region}), "give a mask of the picture's size");
}

TEST_F(Regions, FileGivesThemBack) {
  Region drawn = square("tree \"a\"", 1000, 90'000'500), masked{.name = "sky", .ignore = true, .size = {64, 48}};
  drawn.polygons.push_back({{1.25, 2}, {7, 2}, {3, 8.5}});
  drawn.cut_out_s = 12.5;
  cv::RNG random(3);
  masked.mask = cv::Mat(48, 64, CV_8UC1);
  random.fill(masked.mask, cv::RNG::UNIFORM, 0, 2);
  writeRegions(folder_ / "r.json", {drawn, masked});
  const auto back = readRegions(folder_ / "r.json");
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].polygons, drawn.polygons);
  EXPECT_EQ(back[0].from, drawn.from);
  EXPECT_EQ(back[0].to, drawn.to);
  EXPECT_EQ(back[0].cut_out_s, 12.5);
  EXPECT_EQ(back[1].cut_out_s, std::nullopt);
  EXPECT_TRUE(back[1].ignore);
  EXPECT_EQ(cv::countNonZero((back[1].mask != 0) != (masked.mask != 0)), 0);
  for (const Region& region : back) EXPECT_EQ(toJson(regionFromJson({toJson(region).dump(), "x"}, "")), toJson(region));
}

TEST_F(Regions, JsonOfAModelIsNotReplaced) {
  const std::string names = R"({"classes": ["sky", "road"]})", json = write("yard.json", names);
  const Region region = square("a");
  writeRegions(write("alone.json", names), {region});
  std::filesystem::create_symlink(json, std::string(folder_ / "link.json"));
  write("yard.onnx", "x");
  for (const std::string& path : {json, folder_ / "link.json"}) {
    EXPECT_MPM_ERROR(writeRegions(path, {region}), "'" + path + "'");
    EXPECT_MPM_ERROR(writeRegions(path, {region}), "yard.onnx'");
  }
  EXPECT_EQ(readFile(json), names);
  writeRegions(folder_ / "yard.regions.json", {region});
  EXPECT_EQ(readRegions(folder_ / "yard.regions.json").size(), 1U);
}

TEST_F(Regions, AResolutionIsThatOfTheCameraOrNone) {
  const auto file = [&](const std::string& more) {
    return write("r.json",
                 R"({"regions": [{"name": "a", "width": 64, "height": 48, "polygons": [[[1, 1], [9, 1], [9, 9]]])" +
                     more + "}]}");
  };
  EXPECT_EQ(readRegions(file(R"(, "resolution": "camera")")).at(0).cut_out_s, 60);
  EXPECT_MPM_ERROR(readRegions(file(R"(, "resolution": "full")")), "resolution");
  EXPECT_MPM_ERROR(readRegions(file(R"(, "resolution": "camera", "every": -1)")), "every");
}

TEST_F(Regions, MaskPictureIsReadBesideTheFile) {
  cv::Mat mask(48, 64, CV_8UC1, cv::Scalar(0));
  mask(cv::Rect(3, 4, 5, 6)).setTo(255);
  cv::imwrite(folder_ / "m.png", mask);
  const auto regions = readRegions(write("r.json", R"({"regions": [{"name": "a", "mask": "m.png"}]})"));
  EXPECT_EQ(inside(regions.at(0)), 30);
  const auto wrong = write("w.json", R"({"regions": [{"name": "a", "mask": "m.png", "width": 64, "height": 40}]})");
  EXPECT_MPM_ERROR(readRegions(wrong), "the mask of region 'a' is 64 x 48 px");
}

TEST_F(Regions, LabelMeShapesOfALabelAreOne) {
  const auto regions = readRegions(write("l.json", R"({"imageWidth": 64, "imageHeight": 48, "shapes": [
    {"label": "tree", "points": [[1, 1], [10, 1], [10, 10]]},
    {"label": "ignore", "shape_type": "rectangle", "points": [[0, 40], [63, 47]]},
    {"label": "tree", "shape_type": "circle", "points": [[30, 20], [30, 30]]}]})"));
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(regions[0].name, "tree");
  EXPECT_EQ(regions[0].polygons.size(), 2U);
  EXPECT_NEAR(inside(regions[0]), 55 + CV_PI * 100, 40);
  EXPECT_FALSE(regions[0].ignore);
  EXPECT_TRUE(regions[1].ignore);
  EXPECT_EQ(inside(regions[1]), 64 * 8);
}

// Also of a circle with a radius between two whole numbers.
TEST_F(Regions, AShapeOfLabelMeHasThePixelsOfTheSameLabel) {
  for (const std::string shape :
       {R"("circle", "points": [[30, 20], [30, 27.4]])", R"("rectangle", "points": [[40.6, 30.2], [12.4, 3.5]])",
        R"("polygon", "points": [[3.5, 4.5], [50.2, 9.7], [20.1, 44.4]])"}) {
    const std::string json =
        R"({"imageWidth": 64, "imageHeight": 48, "shapes": [{"label": "tree", "shape_type": )" + shape + "}]}";
    const auto regions = readRegions(write("l.json", json));
    const cv::Mat labels = readLabelMe({json, "l.json"}, {{"tree"}}, 255, {64, 48});
    EXPECT_EQ(cv::countNonZero((labels == 0) != maskOf(regions.at(0), {64, 48})), 0) << shape;
  }
}

TEST_F(Regions, CocoGivesARegionForEachCategory) {
  const auto file = [&](const std::string& annotations, const std::string& images = "") {
    return write("c.json", R"({"images": [{"id": 1, "file_name": "p.jpg", "width": 6, "height": 4})" + images +
                               R"(], "categories": [{"id": 1, "name": "tree"}, {"id": 2, "name": "lake"}],
      "annotations": [)" + annotations +
                               "]}");
  };
  const std::string polygon = R"({"image_id": 1, "category_id": 1, "segmentation": [[0, 0, 2, 0, 2, 2, 0, 2]]})",
                    runs = R"("image_id": 1, "segmentation": {"size": [4, 6], "counts": [16, 8]}})";
  auto regions = readRegions(file(polygon + R"(, {"category_id": 2, )" + runs));
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(inside(regions[0]), 9);
  EXPECT_EQ(inside(regions[1]), 8);
  regions = readRegions(file(polygon + R"(, {"category_id": 1, )" + runs));
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(inside(regions[0]), 17);
  EXPECT_MPM_ERROR(readRegions(file(polygon + R"(, {"image_id": 2, "category_id": 1, "segmentation": [[0,0,2,0,2,2]]})",
                                    R"(, {"id": 2, "file_name": "q.jpg", "width": 6, "height": 4})")),
                   "shapes of 2 pictures");
}

TEST_F(Regions, TransparentPixelsOfAMaskAreOutside) {
  cv::Mat mask(48, 64, CV_8UC4, cv::Scalar(255, 255, 255, 0));   // white, and not to be seen
  mask(cv::Rect(3, 4, 5, 6)).setTo(cv::Scalar(0, 0, 255, 255));  // red
  mask(cv::Rect(8, 4, 5, 6)).setTo(cv::Scalar(0, 0, 0, 255));    // black
  mask(cv::Rect(3, 10, 1, 1)).setTo(cv::Scalar(0, 200, 0, 1));   // green that hardly shows
  cv::imwrite(folder_ / "m.png", mask);
  EXPECT_EQ(cv::countNonZero(readMask(folder_.path(), "m.png")), 31);
  EXPECT_EQ(cv::countNonZero(readMask(folder_.path(), "m.png", true)), 30) << "of a mask that is black inside";
  EXPECT_EQ(readMask(folder_.path(), "m.png").at<uchar>(4, 3), 255);
}

TEST_F(Regions, TransparencyOfAMaskIsRotatedByItsExif) {
  cv::Mat mask(4, 6, CV_8UC4, cv::Scalar(0, 0, 255, 0));
  mask.at<cv::Vec4b>(0, 0)[3] = mask.at<cv::Vec4b>(0, 1)[3] = mask.at<cv::Vec4b>(3, 0)[3] = 9;
  // Where the corner, the pixel beside it and the other corner of that side are shown, x and y.
  const std::pair<char, std::array<cv::Point, 3>> shown[] = {
      {1, {{{0, 0}, {1, 0}, {0, 3}}}}, {2, {{{5, 0}, {4, 0}, {5, 3}}}}, {3, {{{5, 3}, {4, 3}, {5, 0}}}},
      {4, {{{0, 3}, {1, 3}, {0, 0}}}}, {5, {{{0, 0}, {0, 1}, {3, 0}}}}, {6, {{{3, 0}, {3, 1}, {0, 0}}}},
      {7, {{{3, 5}, {3, 4}, {0, 5}}}}, {8, {{{0, 5}, {0, 4}, {3, 5}}}}};
  for (const int depth : {CV_8U, CV_16U}) {
    for (const auto& [orientation, points] : shown) {
      SCOPED_TRACE(static_cast<int>(orientation));
      cv::Mat stored;
      mask.convertTo(stored, depth);
      cv::imwrite(folder_ / "m.png", stored);
      test::setExifOrientation(folder_ / "m.png", orientation);
      const cv::Mat inside = readMask(folder_.path(), "m.png");
      EXPECT_EQ(inside.size(), orientation < 5 ? cv::Size(6, 4) : cv::Size(4, 6));
      EXPECT_EQ(cv::countNonZero(inside), 3);
      for (const cv::Point& point : points) EXPECT_EQ(inside.at<uchar>(point), 255) << point;
    }
  }
}

TEST_F(Regions, AMaskOf16BitsKeepsItsSmallValues) {
  cv::Mat mask(48, 64, CV_16UC1, cv::Scalar(0));
  mask(cv::Rect(3, 4, 5, 6)).setTo(1);
  cv::imwrite(folder_ / "m.png", mask);
  EXPECT_EQ(cv::countNonZero(readMask(folder_.path(), "m.png")), 30);
}

TEST_F(Regions, PhenoCamMaskIsBlackInside) {
  cv::Mat mask(48, 64, CV_8UC1, cv::Scalar(255));
  mask(cv::Rect(0, 0, 10, 10)).setTo(0);
  cv::imwrite(folder_ / "x_DB_1000_01.tif", mask);
  const std::string head =
      "#\n# ROI List for x\n# Veg Type: DB\n# ROI ID Number: 1000\n#\n"
      "start_date,start_time,end_date,end_time,maskfile,sample_image\r\n";
  const auto regions = readRegions(
      write("x_DB_1000_roi.csv", head + "2012-05-03,13:05:07,2013-06-10,06:35:12,x_DB_1000_01.tif,a.jpg\r\n"
                                        "2013-06-10,06:35:12,9999-12-31,23:59:59,x_DB_1000_01.tif,b.jpg\r\n"),
      CameraClock("America/New_York"));  // whose standard time counts, as PhenoCam has no summer time
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(regions[0].name, "DB_1000");
  EXPECT_EQ(inside(regions[0]), 100);
  EXPECT_EQ(regions[0].from, timeOfIso("2012-05-03T18:05:07Z"));
  EXPECT_EQ(regions[0].to, timeOfIso("2013-06-10T11:35:13Z")) << "its last second is part of it";
  EXPECT_EQ(regions[1].from, regions[0].to);
  EXPECT_EQ(regions[1].to, std::nullopt);
  const std::string row = "2012-05-03,13:05:07,9999-12-31,23:59:59,x_DB_1000_01.tif,a.jpg\n";
  for (const auto& [file, name] : {std::pair("a_b_EN_0002_roi.csv", "EN_0002"),
                                   {"meadow.csv", "meadow"},
                                   {"_1_roi.csv", "_1_roi"},
                                   {"x_DB_left_roi.csv", "x_DB_left_roi"}})
    EXPECT_EQ(readRegions(write(file, row)).at(0).name, name) << "without a header";
  EXPECT_MPM_ERROR(readRegions(write("y.csv", head + "2012-05-03,13:05,2012-13-10,06:35:12,m.tif,a.jpg\n")),
                   "line 7: '2012-13-10,06:35:12' is no time");
  EXPECT_MPM_ERROR(readRegions(write("z.csv", head + "2012-05-03,13:05:00\n")), "line 7: expected start_date");
}

TEST_F(Regions, CheckNamesWhatIsWrong) {
  Region region = square("tree");
  EXPECT_NO_THROW(check({region}));
  region.polygons[0][1] = {80, 10};
  EXPECT_MPM_ERROR(check({region}),
                   "region 'tree' reaches out of its picture of 64 x 48 px (width x height) at x 80, y 10");
  for (const double far : {1e308, 9223372036854775808.}) {
    region.polygons[0][1] = {far, 10};
    EXPECT_MPM_ERROR(check({region}), far > 1e20 ? "at x 1e+308, y 10" : "at x 9223372036854775808, y 10");
  }
  region.polygons[0] = {{1, 1}, {5, 5}, {9, 9}};
  EXPECT_MPM_ERROR(check({region}), "region 'tree' has no area");
  region.polygons.clear();
  EXPECT_MPM_ERROR(check({region}), "region 'tree' has no area");
  region.mask = cv::Mat(48, 64, CV_8UC1, cv::Scalar(0));
  EXPECT_MPM_ERROR(check({region}), "region 'tree' has no area");
  EXPECT_MPM_ERROR(check({square("")}), "no name");
  EXPECT_MPM_ERROR(check({square("tree", 5000, 1000)}), "before it begins");
}

TEST_F(Regions, NameMayReturnAtAnotherTime) {
  EXPECT_MPM_ERROR(check({square("tree"), square("tree")}), "two regions have the name 'tree'");
  EXPECT_NO_THROW(check({square("tree", 1000), square("lake"), square("tree", {}, 1000)}));
  EXPECT_MPM_ERROR(check({square("tree", 1000), square("tree", {}, 1001)}),
                   "two regions 'tree' are valid at 1970-01-01T00:00:01Z");
  EXPECT_MPM_ERROR(check({square("tree", 0, 3000), square("tree", 2000)}), "let one end before the next begins");
}

TEST_F(Regions, FileThatHoldsNoneIsRefused) {
  EXPECT_MPM_ERROR(readRegions(write("n.json", "{}")), "holds no regions");
  EXPECT_MPM_ERROR(readRegions(write("e.json", R"({"regions": []})")), "holds no region");
  EXPECT_MPM_ERROR(readRegions(folder_ / "none.json"), "none.json");
  EXPECT_MPM_ERROR(
      readRegions(write("t.json", R"({"regions": [{"name": "a", "width": 4, "height": 4, "from": "May"}]})")),
      "regions[0].from");
  EXPECT_MPM_ERROR(
      readRegions(write("m.json", R"({"regions": [{"name": "a", "width": 4, "height": 4, "mask": [3, 4]}]})")),
      "covers 7 of 16 pixels");
}

TEST_F(Regions, AMaskIsAPictureInTheFolderOfItsFile) {
  fs::create_directory(folder_ / "deep");
  for (const char* name : {"a.png", "deep/b.png"}) cv::imwrite(folder_ / name, cv::Mat(48, 64, CV_8UC1, cv::Scalar(9)));
  const auto read = [&](const std::string& mask) {
    return readRegions(write("deep/m.json", R"({"regions": [{"name": "a", "mask": ")" + mask + "\"}]}"));
  };
  EXPECT_EQ(read("b.png").at(0).size, cv::Size(64, 48));
  for (const std::string& mask : {std::string(), std::string("../a.png"), folder_ / "a.png"})
    EXPECT_MPM_ERROR(read(mask), "does not lie in the folder of its file") << mask;
  for (const char* mask : {".", "none.png", "0"}) EXPECT_MPM_ERROR(read(mask), "cannot read") << mask;
}

TEST(IsoTime, ComesBackFromText) {
  for (const UnixMs time : {UnixMs{0}, UnixMs{1'794'000'123'456}}) EXPECT_EQ(timeOfIso(isoTime(time, true)), time);
  EXPECT_EQ(timeOfIso("2026-11-03"), timeOfIso("2026-11-03T00:00Z"));
  EXPECT_EQ(timeOfIso("2026-11-03 01:30:00+01:00"), timeOfIso("2026-11-03T00:30:00.000Z"));
  for (const char* text :
       {"", "2026-02-30", "2026-11-03T24:00", "2026-11-03T1:00", "2026-11-03T01:00x", "May", "2026-11-3"})
    EXPECT_EQ(timeOfIso(text), std::nullopt) << text;
}

}  // namespace
}  // namespace mpm::vision
