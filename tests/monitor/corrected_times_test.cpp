// SPDX-License-Identifier: Apache-2.0
// The time of a picture is one fact: samples of earlier series take that of the latest one.
#include "monitor/samples.h"
#include "monitor/sql.h"

namespace mpm::monitor::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

UnixMs hour(double hours) { return kNoon + static_cast<UnixMs>(hours * kHourMs); }

struct Picture {
  int number = 0;
  double hour = 0;
};

class CorrectedTimes : public InFolder {
 protected:
  // A watch of an archive that measures these pictures as a new series, or goes on with the latest one.
  void watch(const std::string& path, const std::vector<Picture>& pictures, const std::vector<Event>& events = {},
             bool again = true) {
    const NightByHours rule{.from = 14 * 60, .to = 16 * 60, .clock = vision::CameraClock("+00:00")};
    SessionInfo info = session("archive", 0);
    info.night_rule = toText(rule);
    info.time_zone = "+00:00";
    StoreWriter writer(path);
    writer.setSource("archive");
    for (const Event& event : events) writer.append(event);
    writer.beginSession(info, hour(pictures.front().hour), again);
    DayNight night(rule);
    std::optional<std::int64_t> before;
    for (const auto& [number, at] : pictures) {
      const std::int64_t pixels = 1 + number / 2;
      const std::string state = number == 2 || number == 3 ? "shut" : "open";
      FrameFacts facts;
      if (before) facts.unchanged = before == pixels;
      before = pixels;
      Sample sample = sampleAt(hour(at), 300 + number, night.night(hour(at), 100), facts);
      sample.picture = named_ ? std::to_string(number) : "";
      sample.digest = named_ ? 100 + number : 0;
      sample.pixels = pixels;
      sample.states = {{.name = "gate", .state = state, .probability = 1, .sure = true, .counted = state}};
      writer.append(sample);
    }
    writer.settle("archive", 1);
    ASSERT_TRUE(writer.flush());
  }

  // All that is stored of a series.
  static std::string dump(const std::string& path, int series) {
    const std::string of = " WHERE number = " + std::to_string(series);
    return runSql(path,
                  "SELECT time_ms || ' ' || picture || ' ' || night || ' ' || coalesce(unchanged, '-') || x'0a'"
                  " FROM sample JOIN session ON session.id = session JOIN series ON series.id = series JOIN"
                  " region_sample ON sample = sample.id" +
                      of + " ORDER BY time_ms") +
           runSql(path,
                  "SELECT width_ms || ' ' || start_ms || ' ' || night || ' ' || samples || ' ' || hex(sums) ||"
                  " coalesce(hex(bucket.tokens), '') || x'0a' FROM bucket JOIN series ON series.id = series" +
                      of + " ORDER BY width_ms, start_ms, night") +
           runSql(path, "SELECT time_ms || ' ' || state || x'0a' FROM state_change JOIN series ON series.id = series" +
                            of + " ORDER BY time_ms") +
           runSql(path,
                  "SELECT min(started_ms) || ' ' || max(ended_ms) FROM session JOIN series ON series.id = series" + of);
  }

  // The numbers of the pictures of a series and the hours of their samples.
  std::vector<std::pair<int, double>> hoursOf(std::size_t series) const {
    std::vector<std::pair<int, double>> found;
    const StoreReader store(path_);
    for (const Sample& sample : allSamples(store, 1, store.series(1).at(series - 1).id))
      found.emplace_back(sample.token_counts.back() - 300, static_cast<double>(sample.time - kNoon) / kHourMs);
    return found;
  }

  bool named_ = true;  // else frames of a video
};

Event event(EventKind kind, double at, const std::string& message) {
  return {hour(at), kind, Severity::kWarning, message};
}

// A clock that was wrong for two pictures.
const std::vector<Picture> kWrong = {{0, 0}, {1, 1}, {4, 4}, {5, 5}, {2, 100}, {3, 101}};
const std::vector<Picture> kRight = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}};

TEST_F(CorrectedTimes, AreThoseOfAllSeries) {
  const std::string fresh = folder_ / "fresh.db";
  watch(fresh, kRight);
  watch(path_, kWrong);
  EXPECT_NE(dump(path_, 1), dump(fresh, 1));
  watch(path_, kWrong);
  watch(path_, kRight);
  for (const int series : {1, 2, 3}) EXPECT_EQ(dump(path_, series), dump(fresh, 1)) << series;
  EXPECT_EQ(StoreReader(path_).sources()[0].last, hour(5));
}

TEST_F(CorrectedTimes, TakeWhatWasReportedAtWrongOnes) {
  using enum EventKind;
  const Event same = event(kAlarm, 0, "it rings"), damaged = event(kDamaged, 2.5, "left out: 2b");
  watch(path_, kWrong, {same, event(kDamaged, 100.5, "left out: 2b"), event(kSource, 101, "it stays")});
  watch(path_, {kRight.begin(), kRight.begin() + 3}, {same, damaged});
  EXPECT_THAT(hoursOf(1), ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2), Pair(4, 4), Pair(5, 5), Pair(3, 101)));
  EXPECT_THAT(allEvents(StoreReader(path_)), SizeIs(4)) << "as long as not all is measured again";
  watch(path_, {kRight.begin() + 3, kRight.end()}, {damaged}, false);
  EXPECT_EQ(hoursOf(1), hoursOf(2));
  EXPECT_THAT(messagesOf(allEvents(StoreReader(path_))), ElementsAre("it rings", "left out: 2b", "it stays"));
  EXPECT_EQ(allEvents(StoreReader(path_))[1].time, damaged.time);
}

TEST_F(CorrectedTimes, OfSeveralPicturesOfOneNameAndContentNoneIsTakenForAnother) {
  watch(path_, {{0, 0}, {0, 24}});
  watch(path_, {{0, 24}});  // one was deleted
  watch(path_, {{0, 0}, {0, 24}, {0, 48}});
  EXPECT_THAT(hoursOf(1), ElementsAre(Pair(0, 0), Pair(0, 24)));
  EXPECT_THAT(hoursOf(2), ElementsAre(Pair(0, 24)));
  watch(path_, {{0, 1}, {0, 25}, {0, 49}});
  EXPECT_THAT(hoursOf(1), ElementsAre(Pair(0, 1), Pair(0, 25)));
  EXPECT_THAT(hoursOf(3), ElementsAre(Pair(0, 1), Pair(0, 25), Pair(0, 49)));
}

TEST_F(CorrectedTimes, OfAVideoGoByTheOrderOfItsFrames) {
  named_ = false;
  watch(path_, {{0, 0}, {1, 1}, {2, 2}});
  watch(path_, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_THAT(hoursOf(1), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3)));
  watch(path_, {{0, 5}, {2, 6}});
  EXPECT_THAT(hoursOf(1), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3))) << "which frames these are is not known";
}

}  // namespace
}  // namespace mpm::monitor::test
