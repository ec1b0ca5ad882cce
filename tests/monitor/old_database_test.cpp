// SPDX-License-Identifier: Apache-2.0
// A database that `mpm monitor` wrote before the first release (tests/data/README.md): eight samples of the street.
#include <filesystem>

#include "monitor/samples.h"
#include "support/data_path.h"
#include "support/temporary_folder.h"

namespace mpm::monitor::test {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr UnixMs kStart = 1'782'036'000'000;  // 2026-06-21 10:00:00 UTC
const std::string kSource = "demo:street?frames=8&size=96x64&step=600";

class OldDatabase : public ::testing::Test {
 protected:
  const mpm::test::TemporaryFolder folder;
  const std::string path = folder / "street.db";
  OldDatabase() { std::filesystem::copy_file(mpm::test::dataPath("old/street.db"), path); }
};

TEST_F(OldDatabase, IsRead) {
  const StoreReader reader(path);
  const auto sources = reader.sources();
  ASSERT_THAT(sources, SizeIs(1));
  EXPECT_EQ(sources[0].name, kSource);
  const auto samples = allSamples(reader);
  ASSERT_THAT(samples, SizeIs(8));
  std::vector<double> tokens;
  for (const Sample& sample : samples) tokens.push_back(sample.tokens.back());
  EXPECT_THAT(tokens, ElementsAre(26, 25, 27, 26, 25, 25, 25, 25));
  EXPECT_EQ(samples[0].time, kStart);
  EXPECT_EQ(samples[7].time, kStart + 7 * 600'000);
  EXPECT_EQ(samples[7].night, false);
  EXPECT_NEAR(samples[7].brightness, 123.855, 1e-3);
  ASSERT_THAT(samples[7].areas, SizeIs(2));
  EXPECT_NEAR(samples[7].areas[1].second, 0.98649, 1e-5);
  const auto sessions = reader.sessions(sources[0].id);
  ASSERT_THAT(sessions, SizeIs(1));
  EXPECT_EQ(sessions[0].model_digest, "120c8c79d8841bd4");
  EXPECT_THAT(sessions[0].schedule, ElementsAre(1));
  EXPECT_TRUE(sessions[0].ended);
  EXPECT_THAT(reader.events(sources[0].id, INT64_MIN, INT64_MAX), SizeIs(2)) << "live, ended";
  const Chart chart = reader.chart({sources[0].id, kStart, kStart + 7'200'000, {{Quantity::Kind::kTokens}}, 2});
  ASSERT_THAT(chart.buckets, SizeIs(2));
  EXPECT_EQ(chart.buckets[0].samples, 6);
}

TEST_F(OldDatabase, IsContinued) {
  {
    StoreWriter writer(path);
    SessionInfo session = test::session(kSource);
    session.tokens = 32;
    session.schedule = {1};
    writer.beginSession(session);
    Sample sample = sampleAt(kStart + 8 * 600'000);
    sample.tokens = {32, 24};
    writer.append(sample);
    EXPECT_TRUE(writer.flush());
  }
  const StoreReader reader(path);
  ASSERT_THAT(reader.sources(), SizeIs(1));
  EXPECT_THAT(reader.sessions(1), SizeIs(2));
  const auto samples = allSamples(reader);
  ASSERT_THAT(samples, SizeIs(9));
  EXPECT_THAT(samples[7].tokens, ElementsAre(32, 25));
  EXPECT_THAT(samples[8].tokens, ElementsAre(32, 24));
}

}  // namespace
}  // namespace mpm::monitor::test
