// SPDX-License-Identifier: Apache-2.0
// Changes of state are those of a series, also where a camera has several series, or several databases.

#include "monitor/samples.h"
#include "monitor/sql.h"
#include "monitor/store/merge.h"

namespace mpm::monitor::test {
namespace {

using ChangesOfStates = InFolder;
using testing::ElementsAre;
using testing::Pair;

UnixMs minute(int minutes) { return kNoon + minutes * kMinuteMs; }

// A watch of a camera or an archive with this model, a sample a minute. "-": without a state.
void watch(const std::string& path, const std::string& model, const std::vector<const char*>& states, int from,
           bool archive = false) {
  SessionInfo info = session("camera 0", 60);
  info.model_digest = model;
  StoreWriter writer(path);
  writer.beginSession(info, archive ? std::optional(minute(from)) : std::nullopt);
  for (const std::string state : states) {
    Sample sample = sampleAt(minute(from++));
    if (state != "-")
      sample.states = {{.name = "gate", .state = "open", .probability = 1, .sure = true, .counted = state}};
    writer.append(sample);
  }
  ASSERT_TRUE(writer.flush());
}

StateChanges changesIn(const std::string& path, const std::string& model = "a") {
  const StoreReader store(path);
  for (const SeriesRecord& series : store.series(1))
    if (series.model_digest == model) return store.stateChanges(series.id, minute(0), minute(60))["gate"];
  return {};
}

// The clock of a camera goes back, between samples of another model without states.
TEST_F(ChangesOfStates, OfACameraAreThoseOfTheOrderOfItsTimesToo) {
  StoreWriter writer(path_);
  const auto measure = [&](const char* model, const std::vector<std::pair<int, const char*>>& states) {
    SessionInfo info = session();
    info.model_digest = model;
    writer.beginSession(info);
    for (const auto& [at, state] : states) {
      Sample sample = sampleAt(minute(at));
      if (*state) sample.states = {{.name = "gate", .state = state, .probability = 1, .sure = true, .counted = state}};
      writer.append(sample);
    }
  };
  measure("a", {{0, "open"}});
  measure("b", {{5, ""}, {8, ""}});
  measure("a", {{3, "shut"}, {6, "shut"}, {7, "open"}, {10, "open"}, {9, "open"}});
  ASSERT_TRUE(writer.flush());
  const StateChanges changes = {{minute(0), "open"}, {minute(3), "shut"}, {minute(5), ""},    {minute(6), "shut"},
                                {minute(7), "open"}, {minute(8), ""},     {minute(9), "open"}};
  EXPECT_EQ(changesIn(path_), changes);
  mergeDatabases({path_}, folder_ / "all.db");
  EXPECT_EQ(changesIn(folder_ / "all.db"), changes);
}

// Two looks at a cut-out, said three times each: neither is more than one sure result.
TEST_F(ChangesOfStates, AnAnswerThatIsSaidAgainIsNoResult) {
  StoreWriter writer(path_);
  for (const int from : {6, 0}) {
    writer.beginSession(session("archive", 0), kNoon + from * 10 * kSecondMs);
    for (int i = from; i < from + 6; ++i) {
      Sample sample = sampleAt(kNoon + i * 10 * kSecondMs);
      sample.picture = std::to_string(i);
      sample.states = {{.name = "gate",
                        .state = i < 6 ? "shut" : "open",
                        .probability = 1,
                        .sure = true,
                        .look = i % 3 == 0 ? StateLook::kOwn : StateLook::kRepeated}};
      writer.append(sample);
    }
  }
  writer.settle("archive", 2);
  ASSERT_TRUE(writer.flush());
  const StateChanges changes = {{kNoon, "shut"}, {kNoon + 90 * kSecondMs, "open"}};
  const StoreReader store(path_);
  EXPECT_EQ(store.stateChanges(store.series(1).back().id, kNoon, kNoon + kHourMs)["gate"], changes);
}

TEST_F(ChangesOfStates, PartsHaveThoseOfOneDatabase) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> watches = {
      {"a", {"shut", "open"}}, {"a", {"open", "shut"}}, {"b", {"shut", "shut"}},
      {"a", {"shut", "open"}}, {"a", {"-", "-"}},       {"a", {"open", "open"}}};
  std::vector<std::string> parts;
  for (int from = 0; const auto& [model, states] : watches) {
    watch(path_, model, states, from);
    watch(parts.emplace_back(folder_ / (std::to_string(from) + ".db")), model, states, from);
    from += 2;
  }
  mergeDatabases(parts, folder_ / "all.db");
  EXPECT_EQ(changesIn(folder_ / "all.db"), changesIn(path_));
  EXPECT_EQ(changesIn(folder_ / "all.db", "b"), changesIn(path_, "b"));
  const StateChanges changes = {{minute(0), "shut"}, {minute(1), "open"}, {minute(3), "shut"}, {minute(4), ""},
                                {minute(6), "shut"}, {minute(7), "open"}, {minute(8), ""},     {minute(10), "open"}};
  EXPECT_EQ(changesIn(path_), changes);
}

TEST_F(ChangesOfStates, NoneCountsBehindAPartThatForgotItsSamples) {
  const std::string first = folder_ / "1.db", second = folder_ / "2.db";
  watch(first, "a", {"shut", "open"}, 0);
  runSql(first, "DELETE FROM state_sample; DELETE FROM region_sample; DELETE FROM sample");
  watch(second, "a", {"-", "-"}, 2);
  mergeDatabases({first, second}, folder_ / "all.db");
  EXPECT_THAT(changesIn(folder_ / "all.db"),
              ElementsAre(Pair(minute(0), "shut"), Pair(minute(1), "open"), Pair(minute(2), "")));
}

// Pictures of an archive that were measured without states, within a part, between two and in a part of their own.
TEST_F(ChangesOfStates, PartsOfAnArchiveHaveNoneWhereNoneIsRead) {
  const std::vector<std::vector<const char*>> watches = {
      {"shut", "open", "-", "-", "open"}, {"-", "shut"}, {"-"}, {"shut", "-"}};
  std::vector<std::string> parts;
  for (int from = 0; const auto& states : watches) {
    watch(path_, "a", states, from, true);
    watch(parts.emplace_back(folder_ / (std::to_string(from) + ".db")), "a", states, from, true);
    from += static_cast<int>(states.size());
  }
  mergeDatabases(parts, folder_ / "all.db");
  const StateChanges changes = {{minute(0), "shut"}, {minute(1), "open"}, {minute(2), ""},
                                {minute(4), "open"}, {minute(5), ""},     {minute(6), "shut"},
                                {minute(7), ""},     {minute(8), "shut"}, {minute(9), ""}};
  EXPECT_EQ(changesIn(path_), changes);
  EXPECT_EQ(changesIn(folder_ / "all.db"), changes);
}

}  // namespace
}  // namespace mpm::monitor::test
