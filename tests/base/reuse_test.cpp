// SPDX-License-Identifier: Apache-2.0
#include "mpm/reuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mpm/error.hpp"

namespace mpm {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ReuseSpec, ReadsAndWritesEveryKey) {
  EXPECT_FALSE(parseReuse("off").on);
  EXPECT_EQ(parseReuse("auto"), Reuse{.on = true});
  EXPECT_EQ(parseReuse("threshold=12"), (Reuse{.on = true, .threshold = 12}));
  EXPECT_EQ(parseReuse("agreement=99:refresh=60:flush=0.5"),
            (Reuse{.on = true, .agreement = 99, .refresh = 60, .flush = 0.5}));
  for (const char* spec : {"off", "auto", "threshold=12", "agreement=98.5", "threshold=7.5:refresh=30:flush=0.9"})
    EXPECT_EQ(toString(parseReuse(spec)), spec);
}

TEST(ReuseSpec, RefusesInOneLineThatNamesTheKey) {
  for (const auto& [spec, named] : {std::pair{"", "''"},
                                    {"on", "'on'"},
                                    {"threshold", "threshold"},
                                    {"threshold=twelve", "'twelve'"},
                                    {"threshold=12:", "''"},
                                    {"threshold=300", "300"},
                                    {"flush=2", "flush"},
                                    {"refresh=0", "refresh"},
                                    {"agreement=20", "agreement"},
                                    {"threshold=nan", "nan"},
                                    {"threshold=12:flush=1:threshold=9", "'threshold' is there twice"},
                                    {"threshold=12:agreement=99", "one of the two"}})
    EXPECT_THAT(([text = std::string(spec)] { parseReuse(text); }), ThrowsMessage<Error>(HasSubstr(named))) << spec;
}

}  // namespace
}  // namespace mpm
