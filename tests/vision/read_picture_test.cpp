// SPDX-License-Identifier: Apache-2.0
// What the one reader of pictures gives for files that are damaged, turned, or of an unusual kind.
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "base/atomic_file.h"
#include "support/exif.h"
#include "support/in_folder.h"
#include "support/pictures.h"
#include "support/throws_with.h"
#include "vision/labels/labelled_picture.h"
#include "vision/pictures/pictures.h"

namespace mpm::vision {
namespace {

const std::string kEnd = "\xff\xd9";

// Smooth, as a photograph is: its codes are of many lengths.
cv::Mat smooth(cv::Size size) {
  cv::Mat picture;
  cv::resize(test::noisePicture(8, 12, 1), picture, size, 0, 0, cv::INTER_CUBIC);
  return picture;
}

struct JpegKind {
  std::string name;
  std::vector<int> parameters;
};
const std::vector<JpegKind> kKinds = {{"baseline", {}},
                                      {"progressive", {cv::IMWRITE_JPEG_PROGRESSIVE, 1}},
                                      {"with restarts", {cv::IMWRITE_JPEG_RST_INTERVAL, 7}}};

class ReadPicture : public test::InFolder {
 protected:
  std::string jpeg(const JpegKind& kind, const cv::Mat& picture) const {
    cv::imwrite(folder_ / "whole.jpg", picture, kind.parameters);
    return readFile(folder_ / "whole.jpg");
  }
};

TEST_F(ReadPicture, RefusesAJpegThatLacksAPart) {
  for (const JpegKind& kind : kKinds) {
    const std::string whole = jpeg(kind, smooth({320, 224}));
    const std::size_t body = whole.find("\xff\xda") + 14;
    for (const double share : {0.1, 0.5, 0.9}) {
      const std::size_t at = body + static_cast<std::size_t>(share * static_cast<double>(whole.size() - body));
      const std::size_t lost = std::min<std::size_t>(500, whole.size() - at - 2);
      const std::pair<const char*, std::string> cases[] = {
          {"cut, with an end", whole.substr(0, at) + kEnd},
          {"a packet is lost", whole.substr(0, at) + whole.substr(at + lost)},
          {"zeros in place of a packet", whole.substr(0, at) + std::string(lost, '\0') + whole.substr(at + lost)},
          {"noise in place of a packet", whole.substr(0, at) + std::string(lost, '\x6b') + whole.substr(at + lost)}};
      for (const auto& [what, bytes] : cases) {
        SCOPED_TRACE(kind.name + ", " + what + " at " + std::to_string(share));
        write("a.jpg", bytes);
        EXPECT_MPM_ERROR(readPicture(folder_ / "a.jpg"), "cannot read image '" + (folder_ / "a.jpg") + "': its pixels");
      }
    }
  }
}

TEST_F(ReadPicture, RefusesAProgressiveJpegThatLacksItsLastScans) {
  const std::string whole = jpeg(kKinds[1], smooth({320, 224}));
  std::size_t scan = whole.find("\xff\xda");
  for (int left = 1;; ++left) {
    scan = whole.find("\xff\xda", scan + 2);
    if (scan == std::string::npos) break;
    // Without the tables of the scan that is lost, or with them: both end where a scan ends.
    write("a.jpg", whole.substr(0, scan) + kEnd);
    EXPECT_MPM_ERROR(readPicture(folder_ / "a.jpg"), "a scan is missing") << left << " scans are left";
  }
}

TEST_F(ReadPicture, TakesBytesThatAreNoPixels) {
  for (const JpegKind& kind : kKinds) {
    const std::string whole = jpeg(kind, smooth({320, 224}));
    const cv::Mat expected = cv::imread(folder_ / "whole.jpg");
    const std::string pixels = whole.substr(0, whole.size() - 2);
    const std::pair<const char*, std::string> cases[] = {
        {"as it is", whole},
        {"behind the end", whole + "@BRCM" + std::string(5000, '\0')},
        {"another picture behind the end", whole + whole.substr(0, whole.size() / 2)},
        {"in front of the end", pixels + std::string("\0\0\x12\x34\x55\x66", 6) + kEnd},
        {"filled up with zeros", pixels + std::string(2048, '\0') + kEnd},
        {"filled up with ones", pixels + std::string(2048, '\xff') + kEnd},
        {"in the header", whole.substr(0, 20) + std::string(300, 'x') + whole.substr(20)}};
    for (const auto& [what, bytes] : cases) {
      SCOPED_TRACE(kind.name + ", " + what);
      write("a.jpg", bytes);
      EXPECT_EQ(cv::norm(readPicture(folder_ / "a.jpg"), expected, cv::NORM_INF), 0);
    }
  }
}

TEST_F(ReadPicture, TakesSmallAndGreyJpegs) {
  for (const JpegKind& kind : kKinds) {
    for (const cv::Size size : {cv::Size(1, 1), {1, 40}, {17, 1}, {7, 9}}) {
      for (const int flags : {cv::IMREAD_COLOR, cv::IMREAD_GRAYSCALE}) {
        cv::Mat picture = smooth(size);
        if (flags == cv::IMREAD_GRAYSCALE) cv::cvtColor(picture, picture, cv::COLOR_BGR2GRAY);
        jpeg(kind, picture);
        EXPECT_EQ(readPicture(folder_ / "whole.jpg").size(), size) << kind.name;
      }
    }
  }
}

TEST_F(ReadPicture, RefusesOtherFormatsThatAreCutOff) {
  for (const char* name : {"a.png", "a.bmp", "a.tif", "a.webp", "a.ppm"}) {
    ASSERT_TRUE(cv::imwrite(folder_ / name, smooth({96, 64})));
    const std::string whole = readFile(folder_ / name);
    EXPECT_EQ(readPicture(folder_ / name).size(), cv::Size(96, 64));
    for (const double share : {0.3, 0.5, 0.9, 0.99}) {
      write(name, whole.substr(0, static_cast<std::size_t>(share * static_cast<double>(whole.size()))));
      EXPECT_MPM_ERROR(readPicture(folder_ / name), "cannot read image '" + (folder_ / name) + "'") << share;
    }
  }
}

// The picture that people see, as EXIF defines each number: where row 0 and column 0 of the stored pixels are.
cv::Mat asShown(const cv::Mat& stored, int orientation) {
  const bool swapped = orientation >= 5;
  cv::Mat shown(swapped ? cv::Size(stored.rows, stored.cols) : stored.size(), CV_8UC3);
  const int last_row = stored.rows - 1, last_column = stored.cols - 1;
  for (int y = 0; y < stored.rows; ++y) {
    for (int x = 0; x < stored.cols; ++x) {
      const cv::Point places[] = {{x, y},
                                  {last_column - x, y},             // 2: row 0 at the top, column 0 at the right
                                  {last_column - x, last_row - y},  // 3: bottom, right
                                  {x, last_row - y},                // 4: bottom, left
                                  {y, x},                           // 5: row 0 at the left, column 0 at the top
                                  {last_row - y, x},                // 6: right, top
                                  {last_row - y, last_column - x},  // 7: right, bottom
                                  {y, last_column - x}};            // 8: left, bottom
      shown.at<cv::Vec3b>(places[orientation - 1]) = stored.at<cv::Vec3b>(y, x);
    }
  }
  return shown;
}

TEST_F(ReadPicture, TurnsAndMirrorsAsExifSays) {
  for (const char* name : {"a.jpg", "a.png"}) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      cv::imwrite(folder_ / name, smooth({40, 24}));
      const cv::Mat stored = cv::imread(folder_ / name);
      test::setExifOrientation(folder_ / name, static_cast<char>(orientation));
      const cv::Mat shown = readPicture(folder_ / name), expected = asShown(stored, orientation);
      ASSERT_EQ(shown.size(), expected.size()) << name << ", orientation " << orientation;
      EXPECT_EQ(cv::norm(shown, expected, cv::NORM_INF), 0) << name << ", orientation " << orientation;
    }
  }
}

// A picture of a camera on its side, 24 px wide and 40 px high as people see it, and labels of both sizes.
class TurnedPicture : public ReadPicture {
 protected:
  void SetUp() override {
    cv::imwrite(picture_, smooth({40, 24}));
    test::setExifOrientation(picture_, 6);
  }

  LabelledPicture read(const std::string& labels) const {
    LabelledFile file{picture_, labels};
    const JsonValue json = labels.ends_with(".json") ? readJsonFile(labels) : JsonValue("{}", "it");
    if (isCoco(json)) file.coco = std::make_shared<const CocoFile>(json);
    return readLabelledPicture(file, {{{"sky"}, {"ground"}}, 255});
  }
  std::string labelMap(cv::Size size) const {
    cv::Mat map(size, CV_8U, cv::Scalar(1));
    map.rowRange(0, size.height / 2).setTo(0);
    cv::imwrite(folder_ / "map.png", map);
    return folder_ / "map.png";
  }
  std::string labelMe(int width, int height) const {
    return write("a.json",
                 R"({"shapes": [{"label": "sky", "points": [[0, 0], [9, 0], [9, 9], [0, 9]]}], "imageWidth": )" +
                     std::to_string(width) + R"(, "imageHeight": )" + std::to_string(height) + "}");
  }
  std::string coco(int width, int height) const {
    return write("coco.json",
                 R"({"categories": [{"id": 1, "name": "sky"}], "images": [{"id": 1, "file_name": "a.jpg", )"
                 R"("width": )" +
                     std::to_string(width) + R"(, "height": )" + std::to_string(height) +
                     R"(}], "annotations": [{"image_id": 1, "category_id": 1, )"
                     R"("segmentation": [[0, 0, 9, 0, 9, 9, 0, 9]]}]})");
  }

  const std::string picture_ = folder_ / "a.jpg";
};

TEST_F(TurnedPicture, HasItsLabelsOverWhatPeopleSee) {
  for (const std::string& labels : {labelMap({24, 40}), labelMe(24, 40), coco(24, 40)}) {
    const LabelledPicture both = read(labels);
    EXPECT_EQ(both.image.size(), cv::Size(24, 40)) << labels;
    EXPECT_EQ(both.labels.size(), cv::Size(24, 40)) << labels;
    EXPECT_EQ(both.labels.at<unsigned char>(3, 3), 0) << labels << ": the sky is above";
    EXPECT_EQ(cv::norm(both.image, readPicture(picture_), cv::NORM_INF), 0) << labels;
  }
}

TEST_F(TurnedPicture, RefusesLabelsOfThePixelsAsTheyAreStored) {
  for (const std::string& labels : {labelMap({40, 24}), labelMe(40, 24), coco(40, 24)})
    EXPECT_MPM_ERROR(read(labels), "40 x 24 px (width x height), its image is 24 x 40 px (width x height): labels lie");
  EXPECT_MPM_ERROR(read(labelMap({24, 41})), "24 x 41 px (width x height), its image is 24 x 40 px");
}

}  // namespace
}  // namespace mpm::vision
