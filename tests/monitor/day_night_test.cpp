// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/day_night.h"
#include "monitor/clocks.h"

#include "support/local_zone.h"
#include "support/throws_with.h"

namespace mpm::monitor {
namespace {

UnixMs utc(int year, int month, int day, int hour, int minute, int second = 0) {
  std::tm parts{second, minute, hour, day, month - 1, year - 1900, 0, 0, 0, 0, nullptr};
  return static_cast<UnixMs>(::timegm(&parts)) * kSecondMs;
}

TEST(DayNight, BySun) {
  DayNight greenwich(NightBySun{.latitude = 51.48, .longitude = 0});
  EXPECT_EQ(greenwich.night(utc(2026, 6, 21, 12, 0), 0), false);
  EXPECT_EQ(greenwich.night(utc(2026, 12, 21, 0, 0), 255), true) << "however bright the image is";
  DayNight tromso(NightBySun{.latitude = 69.65, .longitude = 18.96});
  for (int hour = 0; hour < 24; ++hour) EXPECT_EQ(tromso.night(utc(2026, 6, 21, hour, 0), 0), false) << hour;
  // The same moment, the other side of the Earth.
  DayNight auckland(NightBySun{.latitude = -36.85, .longitude = 174.76});
  EXPECT_EQ(auckland.night(utc(2026, 3, 20, 12, 0), 0), true);
  EXPECT_EQ(auckland.night(utc(2026, 3, 20, 0, 0), 0), false);
}

TEST(DayNight, ByBrightnessWithHysteresis) {
  DayNight rule(NightByBrightness{.night_below = 40, .day_above = 60});
  EXPECT_EQ(rule.night(0, 55), false) << "starts with the middle of the band";
  EXPECT_EQ(rule.night(0, 45), false);
  EXPECT_EQ(rule.night(0, 39), true);
  EXPECT_EQ(rule.night(0, 59), true) << "a car's headlights do not make a day";
  EXPECT_EQ(rule.night(0, 61), false);
  EXPECT_EQ(rule.night(0, 41), false);
  DayNight dark(NightByBrightness{.night_below = 40, .day_above = 60});
  EXPECT_EQ(dark.night(0, 45), true);
}

TEST(DayNight, ByHours) {
  const mpm::test::LocalZone zone("EST5EDT");
  DayNight rule(parseNightHours("21:00-06:30"));
  EXPECT_EQ(rule.night(utc(2026, 1, 10, 1, 59), 0), false) << "20:59 in the east of America";
  EXPECT_EQ(rule.night(utc(2026, 1, 10, 2, 0), 0), true);
  EXPECT_EQ(rule.night(utc(2026, 1, 10, 11, 29), 0), true);
  EXPECT_EQ(rule.night(utc(2026, 1, 10, 11, 30), 0), false);
  DayNight siesta(parseNightHours("13:00-15:00"));
  EXPECT_EQ(siesta.night(utc(2026, 1, 10, 19, 0), 0), true);
  EXPECT_EQ(siesta.night(utc(2026, 1, 10, 20, 0), 0), false);
}

TEST(DayNight, WithoutARuleNothingIsKnown) { EXPECT_EQ(DayNight().night(0, 100), std::nullopt); }

TEST(DayNight, RefusesNonsense) {
  for (const char* text : {"", "21-6", "25:00-06:00", "21:60-06:00", "21:-1-06:00", "21:00-06:60", "21:00-06:-1",
                           "21:00-21:00", "21:00-06:00x", "-1:00-06:00"})
    EXPECT_MPM_ERROR(parseNightHours(text), "");
  EXPECT_MPM_ERROR(DayNight(NightBySun{.latitude = 91, .longitude = 0}), "latitude");
  EXPECT_MPM_ERROR(DayNight(NightBySun{.latitude = 0, .longitude = 181}), "longitude");
  EXPECT_MPM_ERROR(DayNight(NightBySun{.latitude = 0, .longitude = 0, .night_below = -90}), "elevation");
  EXPECT_MPM_ERROR(DayNight(NightByBrightness{.night_below = 60, .day_above = 40}), "day must begin");
  EXPECT_MPM_ERROR(DayNight(NightByBrightness{.night_below = -1, .day_above = 40}), "brightness");
  EXPECT_MPM_ERROR(DayNight(NightByBrightness{.night_below = 60, .day_above = 256}), "brightness");
}

TEST(ClockWatch, TellsJumpsFromDrift) {
  ClockWatch watch;
  EXPECT_EQ(watch.jump(1'000'000, 0), std::nullopt);
  for (int second = 1; second < 10000; ++second)  // a clock that runs 0.1 % fast: ten seconds in all
    ASSERT_EQ(watch.jump(1'000'000 + second * 1001, second * 1000), std::nullopt);
  ClockWatch back;
  back.jump(5'000'000, 0);
  EXPECT_EQ(back.jump(5'001'000 - 3'600'000, 1000), -3'600'000);
  EXPECT_EQ(back.jump(5'002'000 - 3'600'000, 2000), std::nullopt) << "reported once";
  EXPECT_EQ(back.jump(5'003'000, 3000), 3'600'000);
}

TEST(Time, IsoText) {
  EXPECT_EQ(isoTime(utc(2026, 11, 3, 17, 4, 5) + 250), "2026-11-03T17:04:05Z");
  EXPECT_EQ(isoTime(utc(2026, 11, 3, 17, 4, 5) + 250, true), "2026-11-03T17:04:05.250Z");
  EXPECT_EQ(isoTime(-1, true), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace mpm::monitor
