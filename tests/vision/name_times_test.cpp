// SPDX-License-Identifier: Apache-2.0
#include "vision/times/name_times.h"

#include <gtest/gtest.h>
#include <random>

#include "support/formatted_time.h"
#include "vision/camera_clock.h"

namespace mpm::vision {
namespace {

using test::formatted;

constexpr UnixMs kMorning = 1'373'262'853'000;  // 2013-07-08 05:54:13 UTC: date -u -d @1373262853
const CameraClock kUtcClock;

// The time that a name without offset shows, of a source that has these pictures.
std::string timeAmong(const std::string& path, std::vector<std::string> all = {}) {
  NameTimes names;
  all.push_back(path);
  names.learn(all);
  const auto time = names.of(path);
  return time ? isoTime(time->utc(kUtcClock)).substr(0, 19) : "none";
}

TEST(TimeInName, EveryFormInUseIsRead) {
  for (const char* name : {"2013-07-08T05-54-13Z",
                           "2013-07-08T07:54:13+02:00",
                           "site2_IR_2013_07_08_055413",
                           "IMG20130708055413_1",
                           "1280x720_20130708-055413",
                           "cam.2013.07.08_05.54.13",
                           "PXL_20130708_055413000",
                           "cam1-1373262853000",
                           "front-1373262853.0-a1b2c3",
                           "84-20130708055413-snapshot",
                           "192.168.0.64_01_20130708055413000_TIMING",
                           "Gate_00_20130708055413",
                           "Entrance-2013-07-08@055413",
                           "MOTION_2013-07-08-05-54-13-123_001",
                           "2013_0708_055413_0001F",
                           "vlcsnap-2013-07-08-05h54m13s",
                           "Screenshot 2013-07-08 at 05.54.13",
                           "Screenshot 2013-07-08 at 05.54.13 AM",
                           "2013-07-08 - 05-54-13",
                           "saturn_20130708_055413_GMT",
                           "20130708_055413Z"}) {
    const auto time = timeInName(name);
    ASSERT_TRUE(time) << name;
    EXPECT_EQ(time->utc(kUtcClock), kMorning) << name;
  }
  for (const char* name :
       {"2013-07-08_0554", "20130708_0554", "201307080554", "2013-07-08-05-54", "20130708T0554", "2013-07-08_05-54",
        "2013-07-08T05:54Z", "2013-07-08 05h54", "SVB_FOR_P02_20130708_189_0554"}) {
    ASSERT_TRUE(timeInName(name)) << name;
    EXPECT_EQ(timeInName(name)->utc(kUtcClock), kMorning - 13 * kSecondMs) << name;
  }
  for (const char* name : {"PXL_20130708_055413250", "2013-07-08T05-54-13.250Z", "vlcsnap-2013-07-08-05h54m13s250",
                           "front-1373262853.25-a1", "192.168.0.64_01_20130708055413250_FACE"})
    EXPECT_EQ(timeInName(name)->wall, kMorning + 250) << name;
  EXPECT_EQ(timeInName("Screenshot 2013-07-08 at 05.54.13 PM")->wall, kMorning + 12 * kHourMs);
  EXPECT_EQ(timeInName("2013-07-08 12.54.13 AM")->wall, kMorning - 5 * kHourMs);
}

TEST(TimeInName, AnOffsetIsHonouredOrTheNameRefused) {
  EXPECT_FALSE(timeInName("20130708_055413")->offset);
  for (const auto& [name, minutes] : {std::pair("20130708T055413-0330", -210),
                                      {"2013-07-08T05:54:13Z", 0},
                                      {"2013-07-08T05:54:13-03:30", -210},
                                      {"1373262853", 0},
                                      {"PXL_20130708_055413000", 0},
                                      {"2013-07-08T05_54_13+01_00", 60},
                                      {"2013-07-08T05_54_13-03_00", -180},
                                      {"20130708_055413+0100", 60},
                                      {"20130708_055413+0545", 345},
                                      {"20130708_055413+01", 60},
                                      {"2013-07-08 05.54.13 +0200", 120},
                                      {"2013-07-08 05:54:13-03:00", -180},
                                      {"20130708_055413_UTC", 0},
                                      {"20130708_055413_UTC+02", 120},
                                      {"20130708_055413_GMT-5", -1},
                                      {"20130708_055413-UTC-05", -300},
                                      {"20130708_0554+0100", 60}}) {
    const auto time = timeInName(name);
    if (minutes == -1) {
      EXPECT_FALSE(time) << name << ": an offset that is not understood";
      continue;
    }
    ASSERT_TRUE(time) << name;
    EXPECT_EQ(time->offset, minutes) << name;
  }
  for (const char* name :
       {"20130708_055413+2", "2013-07-08T05_54_13+99", "20130708_055413+0107", "20130708_055413+01000"})
    EXPECT_FALSE(timeInName(name)) << name;
  for (const char* name :
       {"2013-07-08_05-54-13-0001", "2013-07-08T05-54-13-0001", "2013-07-08T05-54-13-2", "2013-07-08T05-54-13-01",
        "2013-07-08T05-54-13-050", "20130708T055413-02000", "2013-07-08T05-54-13-0000", "2013-07-08T05-54-13-0030",
        "20130708T055413-0115", "20130708055413-00-07", "2013-07-08_05-54-13Zoom", "20130708_055413_UTCHILL"}) {
    EXPECT_FALSE(timeInName(name)->offset) << name << ": a number or word of the picture";
    EXPECT_EQ(timeInName(name)->wall, kMorning) << name;
  }
}

TEST(TimeInName, WhatIsNoTimeIsNone) {
  for (const char* name : {"",
                           "IMG_0042",
                           "20130708",
                           "2013-07-08",
                           "20131308_055413",
                           "20130230_055413",
                           "20130708_245413",
                           "12345678_123456",
                           "20130708_190_0554",
                           "137326285",
                           "13732628530",
                           "9999999999",
                           "cam_2099123123",
                           "3007080554",
                           "2013-07_08_055413",
                           "20130708_0554137",
                           "20130708_1920x1080",
                           "20130708_1440p",
                           "20130708_0012",
                           "20130708_2460",
                           "201307080012",
                           "cam1373262853",
                           "1373262853m",
                           "RCNX0001",
                           "03100001",
                           "DSC_2013_0102_0304",
                           "09-10-2024 14:30:45",
                           "29991231_1430"})
    EXPECT_FALSE(timeInName(name)) << name;
}

TEST(TimeInName, AnyTimeOfAnyFormIsReadBack) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const UnixMs time = static_cast<UnixMs>(1'000'000'000 + random() % 3'100'000'000u) * kSecondMs;  // 2001 to 2099
    for (const char* form : {"%Y%m%d_%H%M%S", "%Y-%m-%d_%H-%M-%S", "%Y-%m-%dT%H:%M:%SZ", "a_%Y_%m_%d_%H%M%S",
                             "IMG_%Y%m%d_%H%M%S", "01-%Y%m%d%H%M%S-00", "%Y_%m%d_%H%M%S", "%s", "%s000"}) {
      const std::string name =
          std::string(form).starts_with("%s") ? std::to_string(time / kSecondMs) + (form + 2) : formatted(time, form);
      if (std::string(form).starts_with("%s") && time > unixNow()) continue;
      ASSERT_TRUE(timeInName(name)) << name;
      EXPECT_EQ(timeInName(name)->utc(kUtcClock), time) << name;
    }
    const UnixMs minute = time / kMinuteMs * kMinuteMs;
    const std::string sites = formatted(minute, "s_%Y%m%d_%j_%H%M");
    ASSERT_TRUE(timeInName(sites)) << sites;
    EXPECT_EQ(timeInName(sites)->wall, minute) << sites;
    if (minute > unixNow()) continue;
    for (const char* form : {"%Y-%m-%d-%H-%M", "%Y%m%dT%H%M", "%Y-%m-%d_%H:%M"})
      EXPECT_EQ(timeInName(formatted(minute, form))->wall, minute) << formatted(minute, form);
    for (const char* form : {"%Y-%m-%d/%H-%M-%S", "a/%Y/%m/%d/%H.%M.%S[M]", "%Y%m%d/001/jpg/%H/%M/%S[M][0@0][0]"}) {
      const UnixMs whole = time / kSecondMs * kSecondMs;
      EXPECT_EQ(timeAmong(formatted(whole, form) + ".jpg"), isoTime(whole).substr(0, 19)) << form;
    }
  }
}

TEST(TimeInName, AnyTextIsReadOrRefused) {
  std::mt19937 random(3);
  const std::string letters = "0123456789_-T:.Z+x /hAUTCPM";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int n = static_cast<int>(random() % 24); n > 0; --n) text += letters[random() % letters.size()];
    EXPECT_GE(timeInName(text).value_or(WrittenTime{}).wall, 0) << text;
    (void)timeAmong("2013-07-08/" + text + ".jpg");
    (void)timeAmong(text + "/05-54-13.jpg");
  }
}

TEST(NameTimes, TheDateMayStandInTheFolders) {
  for (const char* path :
       {"gate/2013_07_08/05_54_13.jpg", "20130708/055413.jpg", "Img_2013-07-08/Snap_055413_021_1.jpg",
        "2013/07/08/05-54-13-00.jpg", "2013/07-08/05.54.13.jpg", "2013-07/08/055413.jpg", "201307/08/055413.jpg",
        "2013/0708/055413.jpg", "2013-07-08/001/jpg/05/54/13[M][0@0][0].jpg", "2013-07-08/pic_001/05.54.13[M][0@0].jpg",
        "2013-07-08/14/05-54-13.jpg", "2013-07-08/05h54m13s.jpg", "1999-01-01/2013-07-08/05-54-13.jpg"})
    EXPECT_EQ(timeAmong(path), "2013-07-08T05:54:13") << path;
  for (const char* path : {"2013-07-08/05-54.jpg", "2013/07/08/0554_hd.jpg", "gate/2013/07/08/05:54.jpg"})
    EXPECT_EQ(timeAmong(path), "2013-07-08T05:54:00") << path;
  EXPECT_EQ(timeAmong("2013-07-08/05-54-13+0200.jpg"), "2013-07-08T03:54:13");
  EXPECT_EQ(timeAmong("2013-07-08/20120101_000000.jpg"), "2012-01-01T00:00:00") << "a name with its own date";
  for (const char* path :
       {"2013-07-08_backup/05-54-13.jpg", "2013-07-08/a/b/c/d/e/05-54-13.jpg", "2013-13-08/05-54-13.jpg",
        "2013-07-08/14/05-54.jpg", "2013-07-08/IMG_0554.jpg", "2013-07-08/DSC055413.jpg", "2013-07-08/a.jpg",
        "2013-07-08/25-00-00.jpg", "2013-07-08/05-54-13+2.jpg", "07/08/05-54-13.jpg"})
    EXPECT_EQ(timeAmong(path), "none") << path;
}

TEST(NameTimes, NumbersThatCountAreNoTimes) {
  EXPECT_EQ(timeAmong("20130708_0554.jpg", {"20130708_0000.jpg", "20130709_2359.jpg"}), "2013-07-08T05:54:00");
  EXPECT_EQ(timeAmong("20130708_0000.jpg", {"20130708_0554.jpg"}), "2013-07-08T00:00:00") << "midnight among others";
  EXPECT_EQ(timeAmong("20130708_0554.jpg", {"20130708_0561.jpg"}), "none") << "a minute 61";
  EXPECT_EQ(timeAmong("20130708_0554.jpg", {"b/20130709_2400.jpg"}), "none");
  EXPECT_EQ(timeAmong("20130708_0554.jpg", {"gate_20130709_2400.jpg"}), "2013-07-08T05:54:00") << "of another form";
  EXPECT_EQ(timeAmong("20130708_0003.jpg", {"20130708_0001.jpg", "20130708_0002.jpg"}), "none");
  EXPECT_EQ(timeAmong("201307080003.jpg", {"201307080001.jpg"}), "none");
  EXPECT_EQ(timeAmong("2013-07-08-05-54.jpg", {"2013-07-08-05-75.jpg"}), "none");
  EXPECT_EQ(timeAmong("2013-07-08/0554.jpg", {"2013-07-09/0561.jpg"}), "none");
  EXPECT_EQ(timeAmong("2013-07-08/0001.jpg", {"2013-07-08/0002.jpg"}), "none");
  EXPECT_EQ(timeAmong("2013-07-08/0001.jpg", {"2013-07-07/1200.jpg"}), "2013-07-08T00:01:00");
  EXPECT_EQ(timeAmong("2013-07-08/img_012345.jpg", {"2013-07-08/img_012360.jpg"}), "none");
  EXPECT_EQ(timeAmong("2013-07-08/000123.jpg"), "none");
}

TEST(NameTimes, ASerialNumberIsNoUnixTime) {
  EXPECT_EQ(timeAmong("cam_1373262853_1.jpg", {"cam_1373262853_2.jpg"}), "none");
  EXPECT_EQ(timeAmong("cam_1373262853_1.jpg", {"cam_1373262854_1.jpg"}), "2013-07-08T05:54:13");
  EXPECT_EQ(timeAmong("cam_1373262853_1.jpg", {"cam_1373262853_1.jpg"}), "2013-07-08T05:54:13") << "learned twice";
}

}  // namespace
}  // namespace mpm::vision
