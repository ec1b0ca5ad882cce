// SPDX-License-Identifier: Apache-2.0
#include "mpm/reuse.hpp"

#include "mpm/error.hpp"
#include "support/matchers.h"

namespace mpm {
namespace {

using testing::ThrowsMessage;

TEST(ReuseSpec, ReadsAndWritesEveryKey) {
  EXPECT_FALSE(parseReuse("off").on);
  EXPECT_EQ(parseReuse("auto"), Reuse{.on = true});
  EXPECT_EQ(parseReuse("threshold=12"), (Reuse{.on = true, .threshold = 12}));
  EXPECT_EQ(parseReuse("agreement=99:refresh=60:flush=0.5"),
            (Reuse{.on = true, .agreement = 99, .refresh = 60, .flush = 0.5}));
  for (const char* spec : {"off", "auto", "threshold=12", "agreement=98.5", "budget=0.25", "cosine=0.98",
                           "threshold=7.5:refresh=30:flush=0.9"})
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
                                    {"budget=1.5", "budget"},
                                    {"cosine=-2", "cosine"},
                                    {"threshold=12:agreement=99", "give one of them"},
                                    {"budget=0.2:cosine=0.9", "give one of them"}})
    EXPECT_THAT(([text = std::string(spec)] { parseReuse(text); }), ThrowsMessage<Error>(HasSubstr(named))) << spec;
}

}  // namespace
}  // namespace mpm
