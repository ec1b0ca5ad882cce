// SPDX-License-Identifier: Apache-2.0
// `mpm report` of a time of which days are all that is left: `max-size` takes hours before days.

#include "cli/command.h"
#include "monitor/samples.h"
#include "monitor/sql.h"

namespace mpm::test {
namespace {

using namespace monitor;
using monitor::test::forget, monitor::test::kNoon, monitor::test::record, monitor::test::runSql,
    monitor::test::sampleAt, monitor::test::session;
using ForgottenReport = InFolder;

TEST_F(ForgottenReport, CountsWhatTheMeansCount) {
  const std::string path = folder_ / "a.db";
  // Two series of a camera, an hour between samples: two days at noon, then eight.
  for (const auto& [model, first, last] : {std::tuple("a", 0, 2), std::tuple("b", 2, 10)}) {
    SessionInfo info = session("camera 0", 3600);
    info.model_digest = model;
    std::vector<Sample> samples;
    for (int hour = 24 * first; hour < 24 * last; ++hour)
      samples.push_back(sampleAt(kNoon + hour * kHourMs, 300 + hour, hour % 2 == 0));
    record(path, samples, info);
  }
  forget(path, kNoon + 8 * kDayMs, kDayMs);
  const auto report = [&](const Words& more) {
    return succeeded(mpmCommand(Words{"report", path, "--json", "--time-zone", "UTC"} + more)).jsonLines().at(0);
  };
  const auto latest = report({}), old = report({"--series", "1"});
  EXPECT_EQ(latest["mean"]["samples"], 8 * 24);
  EXPECT_THAT(latest["methods"], HasSubstr("n = 192 samples, from 2026-06-03 to 2026-06-11 "));
  EXPECT_EQ(latest["comparable"]["samples"], 48);
  EXPECT_EQ(latest["comparable"]["days"], 3) << "those of the samples";
  EXPECT_EQ(latest["samples"], 48);
  // A stretch goes by days where that is all that is known; the third day has both series.
  ASSERT_EQ(latest["stretches"].size(), 2);
  EXPECT_EQ(latest["stretches"][0]["from"], "2026-06-01T00:00:00.000Z");
  EXPECT_EQ(latest["stretches"][0]["to"], "2026-06-04T00:00:00.000Z");
  EXPECT_EQ(latest["stretches"][0]["samples"], 48);
  EXPECT_EQ(latest["stretches"][1]["from"], "2026-06-03T00:00:00.000Z");
  EXPECT_EQ(latest["stretches"][1]["to"], "2026-06-11T11:00:00.000Z");
  EXPECT_EQ(latest["stretches"][1]["samples"], 192);

  EXPECT_EQ(old["mean"]["samples"], 48);
  EXPECT_EQ(old["comparable"]["samples"], 0);
  EXPECT_EQ(old["to"], "2026-06-03T23:59:59.999Z");
  EXPECT_THAT(old["methods"], HasSubstr("n = 48 samples, from 2026-06-01 to 2026-06-03 "));
  const std::string text = succeeded(mpmCommand({"report", path, "--series", "1"})).out;
  EXPECT_THAT(text, Not(HasSubstr("no samples of this series")));
}

}  // namespace
}  // namespace mpm::test
