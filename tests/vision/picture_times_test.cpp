// SPDX-License-Identifier: Apache-2.0
#include "vision/times/picture_times.h"

#include <fcntl.h>

#include <opencv2/imgcodecs.hpp>
#include <random>

#include "support/exif.h"
#include "support/formatted_time.h"
#include "support/in_folder.h"
#include "support/local_zone.h"
#include "support/throws_with.h"

namespace mpm::vision {
namespace {

using test::formatted;
using ExifTime = test::InFolder;
using TimeList = test::InFolder;
using PictureTimesTest = test::InFolder;

constexpr UnixMs kTime = 1'373'262'853'000;  // 2013-07-08 05:54:13 UTC: date -u -d @1373262853

std::string picture(const std::string& path) {
  cv::imwrite(path, cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(9)));
  return path;
}

TEST(TimeInName, EveryFormInUseIsRead) {
  for (const char* name : {"20130708_055413", "2013-07-08_05-54-13", "2013-07-08T05:54:13Z", "2013-07-08T05-54-13Z",
                           "2013-07-08T07:54:13+02:00", "downerwoods_2013_07_08_055413", "site2_IR_2013_07_08_055413",
                           "IMG_20130708_055413", "IMG20130708055413_1", "1280x720_20130708-055413",
                           "cam.2013.07.08_05.54.13", "PXL_20130708_055413000", "1373262853", "cam1-1373262853000"}) {
    const auto time = timeInName(name);
    ASSERT_TRUE(time) << name;
    EXPECT_EQ(time->utc(0), kTime) << name;
  }
  EXPECT_EQ(timeInName("SVB_FOR_P02_20130708_189_0554")->wall, kTime - 13 * kSecondMs);
  EXPECT_EQ(timeInName("PXL_20130708_055413250")->wall, kTime + 250);
  EXPECT_EQ(timeInName("2013-07-08T05-54-13.250Z")->wall, kTime + 250);
}

TEST(TimeInName, OnlyUtcAndUnixTimeKnowTheZone) {
  EXPECT_FALSE(timeInName("20130708_055413")->offset);
  for (const char* name : {"2013-07-08_05-54-13-0001", "2013-07-08T05-54-13-0001", "2013-07-08T05-54-13-2",
                           "2013-07-08T05-54-13-01", "2013-07-08T05-54-13-050", "20130708T055413-02000",
                           "2013-07-08T05-54-13-0000", "2013-07-08T05-54-13-0030", "20130708T055413-0115"}) {
    EXPECT_FALSE(timeInName(name)->offset) << name << ": a number of the picture";
    EXPECT_EQ(timeInName(name)->wall, kTime) << name;
  }
  EXPECT_EQ(timeInName("20130708T055413-0330")->offset, -210);
  EXPECT_EQ(timeInName("2013-07-08T05:54:13Z")->offset, 0);
  EXPECT_EQ(timeInName("2013-07-08T05:54:13-03:30")->offset, -210);
  EXPECT_EQ(timeInName("1373262853")->offset, 0);
  EXPECT_EQ(timeInName("20130708_055413")->utc(60), kTime - kHourMs);
}

TEST(TimeInName, WhatIsNoTimeIsNone) {
  for (const char* name :
       {"", "street", "IMG_0042", "20130708", "2013-07-08", "20131308_055413", "20130230_055413", "20130708_245413",
        "20130708_0554", "12345678_123456", "20130708_190_0554", "137326285", "13732628530", "9999999999",
        "cam_2099123123", "3007080554", "2013-07_08_055413", "20130708_0554137"})
    EXPECT_FALSE(timeInName(name)) << name;
}

TEST(TimeInName, AnyTimeOfAnyFormIsReadBack) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const UnixMs time = static_cast<UnixMs>(1'000'000'000 + random() % 3'100'000'000u) * kSecondMs;  // 2001 to 2099
    for (const char* form : {"%Y%m%d_%H%M%S", "%Y-%m-%d_%H-%M-%S", "%Y-%m-%dT%H:%M:%SZ", "a_%Y_%m_%d_%H%M%S",
                             "IMG_%Y%m%d_%H%M%S", "%s", "%s000"}) {
      const std::string name =
          std::string(form).starts_with("%s") ? std::to_string(time / kSecondMs) + (form + 2) : formatted(time, form);
      if (std::string(form).starts_with("%s") && time > unixNow()) continue;
      ASSERT_TRUE(timeInName(name)) << name;
      EXPECT_EQ(timeInName(name)->utc(0), time) << name;
    }
    const UnixMs minute = time / kMinuteMs * kMinuteMs;
    const std::string sites = formatted(minute, "s_%Y%m%d_%j_%H%M");
    ASSERT_TRUE(timeInName(sites)) << sites;
    EXPECT_EQ(timeInName(sites)->wall, minute) << sites;
  }
}

TEST(TimeInName, AnyTextIsReadOrRefused) {
  std::mt19937 random(3);
  const std::string letters = "0123456789_-T:.Z+x ";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int n = static_cast<int>(random() % 24); n > 0; --n) text += letters[random() % letters.size()];
    for (const auto& time : {timeInName(text), readTime(text)}) EXPECT_GE(time.value_or(WrittenTime{}).wall, 0) << text;
  }
}

TEST(ReadTime, FormsOfListsAreRead) {
  for (const char* text :
       {"2013-07-08T05:54:13", "2013-07-08 05:54:13", "2013:07:08 05:54:13", "2013/7/8 05:54:13",
        "2013-07-08T05:54:13Z", "2013-07-08 07:54:13+02:00", "2013-07-08T05:54:13.000", "20130708T055413"})
    EXPECT_EQ(readTime(text).value_or(WrittenTime{}).utc(0), kTime) << text;
  EXPECT_EQ(readTime("2013-07-08 05:54")->wall, kTime - 13 * kSecondMs);
  EXPECT_EQ(readTime("2013-07-08T05:54:13.25")->wall, kTime + 250);
  for (const char* text :
       {"2013-07-08", "05:54:13", "2013-07-08 5", "2013-07-08T05:54:13 or so", "2013-07-08T05:54:13+99"})
    EXPECT_FALSE(readTime(text)) << text;
}

TEST(TimeZone, OffsetsAndZonesAreRead) {
  EXPECT_EQ(parseTimeZone("UTC"), 0);
  EXPECT_EQ(parseTimeZone("+01:00"), 60);
  EXPECT_EQ(parseTimeZone("-0330"), -210);
  EXPECT_EQ(parseTimeZone("+9"), 540);
  EXPECT_EQ(parseTimeZone("Europe/Paris"), 60) << "no daylight saving";
  EXPECT_EQ(parseTimeZone("Europe/Dublin"), 0) << "whose summer is called the standard";
  EXPECT_EQ(parseTimeZone("America/St_Johns"), -210);
  EXPECT_EQ(parseTimeZone("Australia/Sydney"), 600) << "south of the equator";
  EXPECT_EQ(parseTimeZone("Asia/Kolkata"), 330);
  EXPECT_EQ(parseTimeZone("America/Sao_Paulo"), -180);
  for (const char* text : {"", "Mars/Base", "../../../etc/passwd", "/etc/passwd", "+25", "+1:", "1", "zone.tab"})
    EXPECT_MPM_ERROR(parseTimeZone(text), std::string("'") + text + "' is neither an offset");
  EXPECT_EQ(timeZoneText(-210), "UTC-03:30");
}

TEST(TimeZone, OfTheMachineIsItsStandardTime) {
  for (const auto& [zone, offset] : {std::pair("Europe/Paris", 60), {"Australia/Sydney", 600}, {"UTC", 0}}) {
    const test::LocalZone local(zone);
    EXPECT_EQ(machineTimeZone(), offset) << zone;
  }
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
  EXPECT_EQ(taken("2013:07:08 05:54:13", "", "")->wall, kTime);
  EXPECT_FALSE(taken("2013:07:08 05:54:13", "", "")->offset);
  EXPECT_EQ(taken("2013:07:08 05:54:13", "25", "")->wall, kTime + 250);
  EXPECT_EQ(taken("2013:07:08 05:54:13", "?", "")->wall, kTime) << "a fraction that is none";
  EXPECT_EQ(taken("2013:07:08 07:54:13", "123456", "+02:00")->utc(0), kTime + 123);
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
  EXPECT_MPM_ERROR(readTimeList(write("a.csv", good + "b.jpg,2013-02-30T00:00:00\n")), "line 2: ");
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
  list.time_zone = 0;
  EXPECT_EQ(year(list, path), "2014, a list");
  EXPECT_EQ(year(list, bare), "2012, the name") << "not in the list";
  const auto zoned = [](const char* text) {
    TimeOptions options = parseTimes(text);
    options.time_zone = 0;
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
  const auto of = [](const char* name) { return *PictureTimes({.time_zone = 120}).of(name); };
  EXPECT_EQ(of("20130708_075413.jpg").time, kTime);
  EXPECT_TRUE(of("20130708_075413.jpg").assumed_zone);
  EXPECT_EQ(of("2013-07-08T05:54:13Z.jpg").time, kTime);
  EXPECT_FALSE(of("2013-07-08T05:54:13Z.jpg").assumed_zone);
}

}  // namespace
}  // namespace mpm::vision
