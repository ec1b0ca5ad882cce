// SPDX-License-Identifier: Apache-2.0
#include "vision/camera_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "support/local_zone.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::vision {
namespace {

using Twice = CameraClock::Twice;

// By Python's zoneinfo, with fold=0. In a missing hour both are the same, as this clock has one answer there.
TEST(CameraClock, TurnsMissingAndEqualHoursIntoMoments) {
  for (const auto& [zone, wall, first, second] :
       {std::tuple("Europe/Paris", "2024-03-31T02:30", "2024-03-31T01:30:00Z", "2024-03-31T01:30:00Z"),
        {"Europe/Paris", "2024-10-27T02:30", "2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z"},
        {"Australia/Lord_Howe", "2024-04-07T01:45", "2024-04-06T14:45:00Z", "2024-04-06T15:15:00Z"},
        {"Australia/Lord_Howe", "2024-10-06T02:15", "2024-10-05T15:45:00Z", "2024-10-05T15:45:00Z"},
        {"Pacific/Apia", "2011-12-30T12:00", "2011-12-30T22:00:00Z", "2011-12-30T22:00:00Z"}}) {  // a missing date
    const CameraClock clock(zone);
    EXPECT_EQ(isoTime(clock.time(*timeOfIso(wall))), first) << zone;
    EXPECT_EQ(isoTime(clock.time(*timeOfIso(wall), Twice::kSecond)), second) << zone;
  }
}

// The C library reads the same database with code of its own.
TEST(CameraClock, AgreesWithTheCLibraryInAllZones) {
  namespace fs = std::filesystem;
  std::vector<std::string> zones;
  for (const auto& entry : fs::recursive_directory_iterator("/usr/share/zoneinfo")) {
    const std::string name = fs::relative(entry.path(), "/usr/share/zoneinfo").string();
    std::string magic(4, '\0');
    std::ifstream(entry.path(), std::ios::binary).read(magic.data(), 4);
    const bool plain = name.find("right/") == std::string::npos && name.find("posix") == std::string::npos;
    if (entry.is_regular_file() && magic == "TZif" && plain && name != "localtime") zones.push_back(name);
  }
  ASSERT_GT(zones.size(), 100u);
  std::mt19937_64 random(11);
  for (const std::string& zone : zones) {
    const test::LocalZone local(zone.c_str());
    const CameraClock clock(zone), machine = CameraClock::ofMachine();
    EXPECT_EQ(machine.zone(), zone);
    for (int i = 0; i < 60; ++i) {
      const UnixMs time = static_cast<UnixMs>(random() % 4'000'000'000'000) + 999;  // 1970 to 2096
      const std::time_t second = time / kSecondMs;
      std::tm parts{};
      ::localtime_r(&second, &parts);
      const auto [year, month, day, hour, minute, seconds, ms] = civilTime(clock.wall(time));
      ASSERT_EQ(std::tuple(year, month, day, hour, minute, seconds, ms),
                std::tuple(parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                           parts.tm_sec, time % kSecondMs))
          << zone << ' ' << isoTime(time);
      ASSERT_EQ(machine.offset(time), clock.offset(time)) << zone;
      const UnixMs first = clock.time(clock.wall(time)), twice = clock.time(clock.wall(time), Twice::kSecond);
      ASSERT_TRUE(first == time || twice == time) << zone << ' ' << isoTime(time);
      ASSERT_LE(first, twice) << zone;
    }
  }
}

TEST(CameraClock, ReadsOffsetsAndNames) {
  const auto ahead = [](const char* text) { return CameraClock(text).offset(0) / kMinuteMs; };
  for (const auto& [text, minutes] :
       {std::pair("UTC", 0), {"GMT", 0}, {"Z", 0}, {"+01:00", 60}, {"-0330", -210}, {"+9", 540}, {"UTC+01:00", 60}}) {
    EXPECT_EQ(ahead(text), minutes) << text;
    EXPECT_EQ(CameraClock(text), CameraClock::ahead(minutes)) << text;
  }
  EXPECT_EQ(CameraClock("-0330").name(), "UTC-03:30");
  for (const char* utc : {"UTC", "Etc/UTC"}) EXPECT_EQ(CameraClock(utc).name(), "UTC");
  EXPECT_EQ(CameraClock("Europe/Paris").offsetText(*timeOfIso("2024-07-01T00:00")), "UTC+02:00");
  EXPECT_FALSE(CameraClock("Europe/Paris") == CameraClock("+01:00"));
  for (const char* text : {"", "Mars/Base", "Europe", "../../../etc/passwd", "/etc/passwd", "+25", "+1:", "1",
                           "posixrules", "right/Europe/Paris", "CET-1CEST"})
    EXPECT_MPM_ERROR(CameraClock{text}, std::string("'") + text + "' is neither an offset");
}

TEST(CameraClock, OfTheMachineFollowsTz) {
  const UnixMs winter = *timeOfIso("2024-01-15T12:00"), summer = *timeOfIso("2024-07-15T12:00");
  const auto hours = [&] {
    const CameraClock clock = CameraClock::ofMachine();
    return std::pair(clock.offset(winter) / kHourMs, clock.offset(summer) / kHourMs);
  };
  for (const auto& [tz, in_winter, in_summer] : {std::tuple("Europe/Paris", 1, 2),
                                                 {":Europe/Paris", 1, 2},
                                                 {"/usr/share/zoneinfo/Europe/Paris", 1, 2},
                                                 {"CET-1CEST,M3.5.0,M10.5.0/3", 1, 2},
                                                 {"<+03>-3", 3, 3},
                                                 {"AEST-10AEDT,M10.1.0,M4.1.0/3", 11, 10},
                                                 {"XXX-1YYY,J60/0,J300/0", 1, 2},
                                                 {"XXX-1YYY,59/0,299/0", 1, 2},
                                                 {"", 0, 0},
                                                 {"Mars/Base", 0, 0}}) {
    const test::LocalZone local(tz);
    const std::pair<UnixMs, UnixMs> expected(in_winter, in_summer);
    EXPECT_EQ(hours(), expected) << tz;
  }
}

TEST(CameraClock, HasAStandardTimeWithoutSummerTime) {
  for (const auto& [zone, standard] : {std::pair("Europe/Paris", "+01:00"),
                                       {"Europe/Dublin", "+00:00"},
                                       {"Australia/Sydney", "+10:00"},
                                       {"Asia/Kolkata", "+05:30"},
                                       {"-05:00", "-05:00"}}) {
    for (const char* date : {"2024-01-15", "2024-04-15", "2024-07-15", "2024-10-15"})
      EXPECT_EQ(CameraClock(zone).standardTime(*timeOfIso(date)).zone(), standard) << zone << ' ' << date;
  }
}

TEST(TimeOfIso, ReadsWhatIsoTimeWritesOfAScene) {
  for (const char* time : {"1900-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2099-12-31T23:59:59Z"})
    EXPECT_EQ(isoTime(timeOfIso(time).value_or(0)), time);
  EXPECT_FALSE(timeOfIso("1899-12-31T23:59:59Z"));
  EXPECT_FALSE(readTime("1969-12-31T23:59:59Z")) << "of pictures";
}

TEST(CameraClock, ADayBeginsWhereTheClockSaysSo) {
  for (const auto& [zone, time, days, start] :
       {std::tuple("Europe/Paris", "2024-03-31T12:00", 1, "2024-03-31T22:00:00Z"),  // after 23 hours
        {"Asia/Beirut", "2024-03-31T12:00", 0, "2024-03-30T22:00:00Z"},             // at 01:00: midnight is missing
        {"+09:00", "2024-03-31T16:00", -1, "2024-03-30T15:00:00Z"}})
    EXPECT_EQ(isoTime(CameraClock(zone).startOfDay(*timeOfIso(time), days)), start) << zone;
  EXPECT_EQ(CameraClock("+09:00").date(*timeOfIso("2024-12-31T16:00")), "2025-01-01");
}

// The page has its times by these offsets.
TEST(CameraClock, SaysWhenItIsChanged) {
  const UnixMs from = *timeOfIso("2026-01-01T00:00:00Z"), to = *timeOfIso("2027-01-01T00:00:00Z");
  using ::testing::ElementsAre, ::testing::Pair;
  EXPECT_THAT(CameraClock("Europe/Paris").offsets(from, to),
              ElementsAre(Pair(from, kHourMs), Pair(*timeOfIso("2026-03-29T01:00:00Z"), 2 * kHourMs),
                          Pair(*timeOfIso("2026-10-25T01:00:00Z"), kHourMs)));
  EXPECT_THAT(CameraClock("+09:00").offsets(from, from), ElementsAre(Pair(from, 9 * kHourMs)));
}

TEST(CameraClock, TakesAnyWallTimeApart) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 5000; ++i) {
    const UnixMs wall = static_cast<UnixMs>(random() % 800'000'000'000'000) - 400'000'000'000'000;
    const CivilTime civil = civilTime(wall);
    ASSERT_EQ(wallTime(civil), wall);
    std::tm parts{};
    parts.tm_year = civil.year - 1900;
    parts.tm_mon = civil.month - 1;
    parts.tm_mday = civil.day;
    parts.tm_hour = civil.hour;
    parts.tm_min = civil.minute;
    parts.tm_sec = civil.second;
    ASSERT_EQ(::timegm(&parts) * kSecondMs + civil.millisecond, wall);
  }
  EXPECT_EQ(isoTime(wallTime({2024, 14, 0})), "2025-01-31T00:00:00Z");
  EXPECT_EQ(isoTime(wallTime({2024, 0, 1})), "2023-12-01T00:00:00Z");
  EXPECT_EQ(isoTime(wallTime({2024, -11, 29})), "2023-01-29T00:00:00Z");
  for (const UnixMs end : {INT64_MIN, INT64_MAX}) {
    (void)civilTime(end);
    (void)CameraClock("Europe/Paris").offset(end);
  }
}

// A file of the database that is damaged is none. Whatever it holds, nothing is read beyond its end.
TEST(CameraClock, ADamagedFileIsRefused) {
  const test::TemporaryFolder folder;
  std::ifstream file("/usr/share/zoneinfo/Europe/Paris", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  const auto offsets = [&](const std::string& bytes) {
    static int number = 0;
    const std::string path = folder / std::to_string(number++);
    std::ofstream(path, std::ios::binary) << bytes;
    const test::LocalZone local(path.c_str());
    return CameraClock::ofMachine().offset(*timeOfIso("2024-07-15T12:00"));
  };
  EXPECT_EQ(offsets(whole), 2 * kHourMs);
  EXPECT_EQ(offsets(whole.substr(0, 600)), 0);
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string changed = whole;
    changed[random() % (i < 150 ? 60 : changed.size())] = static_cast<char>(random());
    (void)offsets(changed.substr(0, i % 3 == 0 ? random() % changed.size() : changed.size()));
  }
}

}  // namespace
}  // namespace mpm::vision
