// SPDX-License-Identifier: Apache-2.0
#include "vision/times/picture_times.h"

#include <fcntl.h>

#include <cstdint>
#include <opencv2/imgcodecs.hpp>
#include <vector>

#include "support/exif.h"
#include "support/in_folder.h"
#include "support/throws_with.h"

namespace mpm::vision {
namespace {

using ExifTime = test::InFolder;
using TimeList = test::InFolder;
using PictureTimesTest = test::InFolder;

constexpr UnixMs kTime = 1'373'262'853'000;  // 2013-07-08 05:54:13 UTC: date -u -d @1373262853

const CameraClock kUtc;

std::string picture(const std::string& path) {
  cv::imwrite(path, cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(9)));
  return path;
}

TEST(ReadTime, FormsOfListsAreRead) {
  for (const char* text :
       {"2013-07-08T05:54:13", "2013-07-08 05:54:13", "2013:07:08 05:54:13", "2013/7/8 05:54:13",
        "2013-07-08T05:54:13Z", "2013-07-08 07:54:13+02:00", "2013-07-08T05:54:13.000", "20130708T055413"})
    EXPECT_EQ(readTime(text).value_or(WrittenTime{}).utc(kUtc), kTime) << text;
  EXPECT_EQ(readTime("2013-07-08 05:54")->wall, kTime - 13 * kSecondMs);
  EXPECT_EQ(readTime("2013-07-08T05:54:13.25")->wall, kTime + 250);
  for (const char* text :
       {"2013-07-08", "05:54:13", "2013-07-08 5", "2013-07-08T05:54:13 or so", "2013-07-08T05:54:13+99"})
    EXPECT_FALSE(readTime(text)) << text;
}

TEST_F(ExifTime, IsReadWithFractionAndOffset) {
  const auto taken = [&](const std::string& time, const std::string& fraction, const std::string& offset) {
    const std::string path = picture(folder_ / "a.jpg"), png = picture(folder_ / "a.png");
    for (const std::string& one : {path, png}) test::setExifTime(one, time, fraction, offset);
    EXPECT_EQ(exifTime(path).has_value(), exifTime(png).has_value());
    if (exifTime(path)) {
      EXPECT_EQ(exifTime(path)->wall, exifTime(png)->wall);
      EXPECT_EQ(exifTime(path)->offset, exifTime(png)->offset);
    }
    return exifTime(path);
  };
  EXPECT_FALSE(taken("2013:07:08 05:54:13", "", "")->offset);
  EXPECT_EQ(taken("2013:07:08 05:54:13", "25", "")->wall, kTime + 250);
  EXPECT_EQ(taken("2013:07:08 05:54:13", "?", "")->wall, kTime) << "a fraction that is none";
  EXPECT_EQ(taken("2013:07:08 07:54:13", "123456", "+02:00")->utc(kUtc), kTime + 123);
  EXPECT_EQ(taken("2013:07:08 05:54:13", "", "   :  ")->wall, kTime) << "an offset that was left blank";
  EXPECT_FALSE(taken("0000:00:00 00:00:00", "", ""));
  EXPECT_FALSE(taken("    :  :     :  :  ", "", ""));
  EXPECT_FALSE(exifTime(picture(folder_ / "b.jpg")));
  EXPECT_FALSE(exifTime(picture(folder_ / "b.png")));
  EXPECT_FALSE(exifTime(folder_ / "none.jpg"));
  for (const char* name : {"c.jpg", "c.png"}) {
    const std::string cut = picture(folder_ / name);
    test::setExifTime(cut, "2013:07:08 05:54:13");
    fs::resize_file(cut, 50);
    EXPECT_FALSE(exifTime(cut)) << name;
  }
}

// Which offset counts: that of the moment itself, then that of the file, then the whole hours of TIFF/EP.
TEST_F(ExifTime, HasTheOffsetOfAnyTag) {
  const auto offsetBy = [&](const std::vector<test::ExifTag>& main, const std::vector<test::ExifTag>& own,
                            std::uint16_t time_tag = 0x9003) {
    const std::string path = picture(folder_ / "a.jpg");
    auto all = own;
    all.push_back({time_tag, "2013:07:08 05:54:13"});
    test::setExif(path, main, all);
    const auto time = exifTime(path);
    return time ? time->offset.value_or(-1) : -2;
  };
  EXPECT_EQ(offsetBy({}, {}), -1);
  for (const std::uint16_t tag : {0x9010, 0x9011, 0x9012}) {
    EXPECT_EQ(offsetBy({}, {{tag, "+02:00"}}), 120) << tag;
    EXPECT_EQ(offsetBy({{tag, "-03:30"}}, {}), -210) << tag << " in the main directory";
  }
  EXPECT_EQ(offsetBy({}, {{0x9010, "+02:00"}, {0x9011, "+01:00"}}), 60) << "that of DateTimeOriginal";
  EXPECT_EQ(offsetBy({}, {{0x9011, "   :  "}, {0x9010, "+02:00"}}), 120) << "one that was left blank";
  EXPECT_EQ(offsetBy({}, {{0x9012, "+02:00"}}, 0x9004), 120) << "DateTimeDigitized";
  EXPECT_EQ(offsetBy({}, {}, 0x0132), -2) << "when the file was changed";
  for (const int hours : {-12, 0, 14}) {
    EXPECT_EQ(offsetBy({{0x882a, hours}}, {}), 60 * hours);
    EXPECT_EQ(offsetBy({}, {{0x882a, hours}}), 60 * hours);
  }
  EXPECT_EQ(offsetBy({{0x882a, 2}}, {{0x9011, "+05:45"}}), 345);
  EXPECT_EQ(offsetBy({{0x882a, 99}}, {}), -1) << "no zone has it";
}

// Motion writes +05:30 as 5.
TEST_F(ExifTime, WholeHoursLeaveTheHalfOneToTheZone) {
  const std::string path = picture(folder_ / "a.jpg");
  const auto utc = [&](int hours, const char* zone) {
    test::setExif(picture(path), {{0x882a, hours}}, {{0x9003, "2013:07:08 05:54:13"}});
    return isoTime(exifTime(path)->utc(CameraClock(zone))).substr(11, 5);
  };
  EXPECT_EQ(utc(5, "Asia/Kolkata"), "00:24");
  EXPECT_EQ(utc(-2, "America/St_Johns"), "08:24") << "summer time";
  EXPECT_EQ(utc(5, "UTC"), "00:54");
  EXPECT_EQ(utc(2, "Europe/Paris"), "03:54");
  EXPECT_EQ(utc(1, "Europe/Paris"), "04:54") << "a camera that is not put forward";
}

TEST_F(TimeList, ColumnsAndIsoTimesAreRead) {
  const auto list = readTimeList(write("a.csv",
                                       "\xef\xbb\xbfname,year,month,day,hour,minute,second\r\n# a comment\r\n\r\n"
                                       "a.jpg,2013,7,8,5,54,13\r\n\"b, c.jpg\", 2013, 07, 08, 05, 54, 13.25\r\n"));
  EXPECT_EQ(list.at("a.jpg").wall, kTime);
  EXPECT_EQ(list.at("b, c.jpg").wall, kTime + 250);
  EXPECT_EQ(list.size(), 2u);
  EXPECT_EQ(readTimeList(write("a.csv", "a.jpg;2013-07-08T05:54:13Z\n")).at("a.jpg").offset, 0);
  EXPECT_EQ(readTimeList(write("a.csv", "a.jpg\t2013-07-08 05:54:13")).at("a.jpg").wall, kTime);
}

TEST_F(TimeList, ABadLineIsNamed) {
  const std::string good = "a.jpg,2013-07-08T05:54:13\n";
  EXPECT_MPM_ERROR(readTimeList(write("a.csv", good + "b.jpg,2013,7\n")),
                   "a.csv', line 2: 'b.jpg,2013,7' is not a name");
  EXPECT_MPM_ERROR(readTimeList(write("a.csv", good + ",2013-07-08T05:54:13\n")),
                   "line 2: the name of the picture is miss");
  EXPECT_MPM_ERROR(readTimeList(write("a.csv", good + "\n" + good)), "line 3: 'a.jpg' is in line 1 already");
  EXPECT_MPM_ERROR(readTimeList(write("a.csv", "name,time\n")), "lists no picture");
  for (const char* first : {"b.jpg,2013-02-30T00:00:00\n", "b1.jpg,2013,7,8,5,54\n", "b.jpg,8 July 2013\n"})
    EXPECT_MPM_ERROR(readTimeList(write("a.csv", first + good)), "line 1: ") << "a header has no digits";
  EXPECT_MPM_ERROR(readTimeList(folder_ / "none.csv"), "none.csv");
}

TEST_F(PictureTimesTest, TrustTheListThenExifThenTheName) {
  const std::string path = picture(folder_ / "20110101_000000.jpg"), bare = picture(folder_ / "20120101_000000.jpg");
  test::setExifTime(path, "2013:07:08 05:54:13");
  write("a.csv", "20110101_000000.jpg,2014-01-01T00:00:00\n");
  const auto year = [](const TimeOptions& options, const std::string& file) {
    const auto time = PictureTimes(options).of(file);
    return time ? isoTime(time->time).substr(0, 4) + ", " + toString(time->from) : "";
  };
  TimeOptions list = parseTimes("list:" + folder_ / "a.csv");
  list.time_zone = kUtc;
  EXPECT_EQ(year(list, path), "2014, a list");
  EXPECT_EQ(year(list, bare), "2012, the name") << "not in the list";
  const auto zoned = [](const char* text) {
    TimeOptions options = parseTimes(text);
    options.time_zone = kUtc;
    return options;
  };
  EXPECT_EQ(year(zoned("auto"), path), "2013, EXIF");
  EXPECT_EQ(year(zoned("auto"), bare), "2012, the name");
  EXPECT_EQ(year(zoned("exif"), bare), "");
  EXPECT_EQ(year(zoned("name"), path), "2011, the name");
  const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 5'000'000}};
  ::utimensat(AT_FDCWD, path.c_str(), times, 0);
  EXPECT_EQ(PictureTimes(zoned("modified")).of(path)->time, 1'000'000'000'005);
  EXPECT_MPM_ERROR(parseTimes("date"), "'date' is not auto, exif, name, modified or list:FILE");
  for (const char* text : {"auto", "exif", "name", "modified", "list:a.csv"})
    EXPECT_EQ(toString(parseTimes(text)), text);
}

TEST_F(PictureTimesTest, ATimeWithoutOffsetIsOfTheZone) {
  const auto of = [](const char* name) { return *PictureTimes({.time_zone = CameraClock("+02:00")}).of(name); };
  EXPECT_EQ(of("20130708_075413.jpg").time, kTime);
  EXPECT_TRUE(of("20130708_075413.jpg").assumed_zone);
  EXPECT_EQ(of("2013-07-08T05:54:13Z.jpg").time, kTime);
  EXPECT_FALSE(of("2013-07-08T05:54:13Z.jpg").assumed_zone);
}

}  // namespace
}  // namespace mpm::vision
