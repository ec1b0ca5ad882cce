// SPDX-License-Identifier: Apache-2.0
#include "mpm/options.hpp"
#include "mpm/reuse.hpp"
#include "support/throws_with.h"

namespace mpm {
namespace {

using enum ReductionMethod;

TEST(Reduction, EverySpecIsReadAndWrittenAgain) {
  const std::pair<const char*, Reduction> specs[] = {
      {"none", {.method = kNone}},
      {"mpm", {}},
      {"mpm:blocks=2,5", {.blocks = Schedule{2, 5}}},
      {"gradual", {.method = kGradual}},
      {"gradual:blocks=0-7:count=48", {.method = kGradual, .blocks = Schedule{0, 1, 2, 3, 4, 5, 6, 7}, .count = 48}},
      {"gradual:share=0.073", {.method = kGradual, .share = 0.073}},
      {"gradual:count=60:similarity=0.9", {.method = kGradual, .count = 60, .similarity = 0.9}},
      {"gradual:blocks=0,1,3-5,7:similarity=-1",
       {.method = kGradual, .blocks = Schedule{0, 1, 3, 4, 5, 7}, .similarity = -1}},
      {"tome:count=36", {.method = kTome, .count = 36}},
      {"tome:count=36:attention=plain", {.method = kTome, .count = 36, .attention = Attention::kPlain}},
      {"algm", {.method = kAlgm}},
      {"mpm:blocks=2,5:attention=proportional", mpmBefore({2, 5}, Attention::kProportional)},
      {"algm:blocks=0,4:threshold=0.88:positions=first",
       {.method = kAlgm, .blocks = Schedule{0, 4}, .similarity = 0.88, .positions = MergedPositions::kFirst}},
      {"tome:head=restored", {.method = kTome, .head_restored = true}},
      {"cts:policy=a folder/p.onnx", {.method = kCts, .policy = "a folder/p.onnx"}},
      {"cts:policy=p.onnx:share=1", {.method = kCts, .share = 1, .policy = "p.onnx"}},
  };
  for (const auto& [spec, reduction] : specs) {
    EXPECT_EQ(parseReduction(spec), reduction) << spec;
    EXPECT_EQ(toString(reduction), spec);
    EXPECT_NO_THROW(reduction.validate()) << spec;
  }
  EXPECT_EQ(toString(parseReduction("gradual:similarity=0.90:count=3:blocks=0,1,2")),
            "gradual:blocks=0-2:count=3:similarity=0.9");
}

TEST(Reduction, RuleIsWrittenButNotRead) {
  const Reduction rule{.method = kRule, .blocks = Schedule{2, 5}, .plain_mean = true};
  EXPECT_NO_THROW(rule.validate());
  EXPECT_EQ(toString(rule), "rule:blocks=2,5:mean=plain");
  EXPECT_EQ(toString(Reduction{.method = kRule}), "rule");
  const char* const named = "rule:function=near.py#veto:blocks=2,5:where=inside";
  EXPECT_EQ(toString(parseReduction(named)), named);
  EXPECT_MPM_ERROR((Reduction{.plain_mean = true}.validate()), "'mpm' has no key 'mean'");
}

TEST(Reduction, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> specs[] = {
      {"", "reduction '': '' is not none, mpm, gradual, tome, algm or cts"},
      {"cts:share=0.4", "'cts' needs a policy network, policy=FILE.onnx"},
      {"cts:policy=", "policy: '' is not the path of a file, without colons"},
      {"cts:policy=c:p.onnx", "'p.onnx' is not a key with a value"},
      {"cts:policy=p.onnx:blocks=0", "'cts' has no key 'blocks'; it has policy, share, attention, positions, head"},
      {"gradual:policy=p.onnx", "'gradual' has no key 'policy'"},
      {"none:count=3", "'none' has no key 'count'"},
      {"rule:blocks=2", "'rule' is not none, mpm, gradual, tome, algm or cts"},
      {"mpm:mean=plain", "'mpm' has no key 'mean'"},
      {"mpm:count=3", "'mpm' has no key 'count'; it has blocks, attention, positions, head"},
      {"none:attention=plain", "'none' has no key 'attention'"},
      {"tome:similarity=0.9",
       "'tome' has no key 'similarity'; it has blocks, count, share, attention, positions, head"},
      {"algm:similarity=0.9", "'algm' has no key 'similarity'; it has blocks, threshold, attention, positions, head"},
      {"gradual:threshold=0.9", "'gradual' has no key 'threshold'"},
      {"gradual:", "'' is not a key with a value"},
      {"gradual:count", "'count' is not a key with a value"},
      {"gradual:count=0", "count: '0' is not a whole number, 1 or more"},
      {"gradual:count=99999999999", "count: '99999999999' is not a whole number"},
      {"gradual:count=3:count=3", "'count' is there twice"},
      {"gradual:count=3:share=0.1", "'count' and 'share' say the same"},
      {"gradual:share=0", "share: '0' is not a share, more than 0 and at most 1"},
      {"gradual:share=nan", "share: 'nan' is not a share"},
      {"gradual:similarity=1.5", "similarity: '1.5' is not a similarity from -1 to 1"},
      {"gradual:similarity=0.9x", "similarity: '0.9x' is not a similarity"},
      {"mpm:blocks=5,2", "block indices must be strictly increasing"},
      {"mpm:blocks=none", "expected block indices"},
      {"mpm:blocks=7-0", "a range goes from a block to a later one"},
      {"mpm:blocks=0-3-5", "a range goes from a block to a later one"},
      {"mpm:blocks=0-", "expected block indices"},
      {"mpm:blocks=0-99999999", "expected block indices"},
      {"tome:attention=some", "attention 'some' is not plain or proportional"},
      {"mpm:head=both", "head: 'both' is not merged or restored"},
      {"mpm:positions=last", "positions: merged positions 'last' is not mean, centroid or first"},
      {"algm:blocks=0", "'algm' merges in two blocks, not in 1"},
      {"algm:blocks=0,4,8", "'algm' merges in two blocks, not in 3"},
  };
  for (const auto& one : specs) {
    EXPECT_MPM_ERROR(parseReduction(one.first), one.second) << one.first;
    EXPECT_MPM_ERROR(parseReduction(one.first), "reduction '" + std::string(one.first) + "'") << one.first;
  }
}

TEST(Reduction, AStructIsCheckedAsATextIs) {
  EXPECT_MPM_ERROR((Reduction{.method = kTome, .similarity = 0.9}.validate()), "'tome' has no key 'similarity'");
  EXPECT_MPM_ERROR((Reduction{.method = kNone, .attention = Attention::kPlain}.validate()), "'none' has no key");
  EXPECT_MPM_ERROR((Reduction{.method = kCts, .policy = "a:b"}.validate()), "without colons");
  EXPECT_MPM_ERROR((Reduction{.method = kGradual, .count = -3}.validate()), "'-3' is not a whole number");
  EXPECT_MPM_ERROR((Reduction{.method = kGradual, .share = 2}.validate()), "'2' is not a share");
  EXPECT_MPM_ERROR((Reduction{.blocks = Schedule{}}.validate()), "names no blocks");
  EXPECT_MPM_ERROR((Reduction{.blocks = Schedule{3, 1}}.validate()), "strictly increasing");
  EXPECT_MPM_ERROR((Reduction{.blocks = Schedule{-1}}.validate()), "0 or more");
  EXPECT_EQ(mpmBefore({}, Attention::kProportional), kFullModel);
}

using testing::ThrowsMessage;

TEST(ReuseSpec, ReadsAndWritesEveryKey) {
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
