// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/store_reader.h"
#include "monitor/store/store_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "monitor/clocks.h"
#include "monitor/samples.h"
#include "monitor/sql.h"
#include "monitor/store/merge.h"
#include "monitor/store/sqlite.h"
#include "monitor/wait.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using MergeDatabases = InFolder;
using Store = InFolder;
using ::testing::Pair;

const std::string kRelease = std::string(MPM_TEST_DATA_DIR) + "/releases/0.1.0/watch.db";

// Also from pages that nothing uses any more, and from the log, while the writer goes on.
TEST_F(Store, AnotherPrivacyDeletesWhatWasLearnedOfTheView) {
  const auto viewOf = [](int pictures, const std::string& pattern) {
    cv::Mat edges(200, 320, CV_16SC2);
    for (std::size_t i = 0; i < edges.total() * edges.elemSize(); ++i)
      edges.ptr<char>()[i] = pattern[i % pattern.size()];
    return ViewReference{
        .size = {64, 48}, .pictures = pictures, .learned = kNoon, .motion = {.right = 3}, .edges = edges};
  };
  const auto holds = [&](const std::string& pattern) {
    for (const char* ending : {"", "-wal"}) {
      if (fs::exists(path_ + ending) && readFile(path_ + ending).find(pattern + pattern) != std::string::npos)
        return true;
    }
    return false;
  };
  RunningWriter writer(path_);
  const auto pictures = [&] {
    EXPECT_TRUE(writer.flush());
    const auto view = StoreReader(path_).view("camera 0");
    EXPECT_TRUE(view && view->motion.right == 3 && view->edges.empty() == (view->pictures == 0));
    return view ? view->pictures : -1;
  };
  writer.append(sampleAt(kNoon), viewOf(10, "first board"));
  EXPECT_EQ(pictures(), 10);
  writer.append(sampleAt(kNoon + 1), viewOf(11, "second board"));
  writer.setPrivacy("camera 0", "");
  writer.setPrivacy("camera 1", "{}");
  EXPECT_EQ(pictures(), 11) << "nothing else must be hidden there";
  EXPECT_TRUE(holds("second board"));
  writer.setPrivacy("camera 0", R"({"hide":[],"blur":["car"]})");
  EXPECT_EQ(pictures(), 0);
  EXPECT_FALSE(holds("first board"));
  EXPECT_FALSE(holds("second board"));
  EXPECT_EQ(StoreReader(path_).privacy("camera 0"), R"({"hide":[],"blur":["car"]})");
  EXPECT_EQ(StoreReader(path_).privacy("camera 2"), "");
  writer.append(sampleAt(kNoon + 2), viewOf(1, "third board"));
  writer.setPrivacy("camera 0", R"({"hide":[],"blur":["car"]})");
  EXPECT_EQ(pictures(), 1) << "as before";
  writer.setPrivacy("camera 0", "");
  EXPECT_EQ(pictures(), 0);
  EXPECT_FALSE(holds("third board"));
}

// Also of files that were there, and of those that SQLite makes later.
TEST_F(Store, OthersCannotReadADatabaseWhereSomethingMustNotBeSeen) {
  const mode_t before = ::umask(0);
  const auto modes = [&](const std::string& path) {
    std::set<int> found;
    for (const char* ending : {"", "-wal", "-shm", "-lock"}) {
      if (struct stat file{}; ::stat((path + ending).c_str(), &file) == 0)
        found.insert(static_cast<int>(file.st_mode & 07777));
    }
    return found;
  };
  fs::create_symlink(path_, folder_ / "link.db");
  {
    RunningWriter writer(path_);
    writer.append(sampleAt(kNoon));
    ASSERT_TRUE(writer.flush());
    EXPECT_TRUE(fs::exists(path_ + "-wal"));
    EXPECT_THAT(modes(path_), ElementsAre(0644, 0666));
    writer.setPrivacy("camera 0", "");
    ASSERT_TRUE(writer.flush());
    EXPECT_THAT(modes(path_), ElementsAre(0644, 0666)) << "as the umask says";
  }
  {
    StoreWriter writer(folder_ / "link.db");
    writer.setPrivacy("camera 0", R"({"hide":[],"blur":["car"]})");
    ASSERT_TRUE(writer.flush());
    EXPECT_THAT(modes(path_), ElementsAre(0640));
  }
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  {
    RunningWriter writer(path_);
    writer.append(sampleAt(kNoon + 1));
    ASSERT_TRUE(writer.flush());
    EXPECT_THAT(modes(path_), ElementsAre(0640)) << "as long as it hides something";
  }
  mergeDatabases({path_}, folder_ / "all.db");
  EXPECT_THAT(modes(folder_ / "all.db"), ElementsAre(0640));
  ASSERT_EQ(::chmod(path_.c_str(), 0600), 0);
  StoreWriter(path_).flush();
  EXPECT_THAT(modes(path_), ElementsAre(0600, 0640)) << "none are added";
  ::umask(before);
}

TEST_F(Store, ADatabaseIsKnownByItsIdWhereverItLies) {
  std::string id;
  {
    StoreWriter writer(path_);
    id = writer.id().value();
    EXPECT_THAT(id, ::testing::MatchesRegex("[0-9a-f]{16}"));
    StoreWriter other(folder_ / "b.db");
    EXPECT_NE(other.id(), id);
  }
  EXPECT_EQ(StoreReader(path_).id(), id);
  fs::copy(path_, folder_ / "c.db");
  EXPECT_EQ(StoreWriter(folder_ / "c.db").id(), id);
  fs::copy_file(kRelease, folder_ / "old.db");
  EXPECT_EQ(StoreReader(folder_ / "old.db").id(), "") << "of a release that gave none";
}

TEST_F(Store, AConvertedDatabaseHasTheTablesOfAFreshOne) {
  const auto tables = [](const std::string& path) {
    { const StoreWriter writer(path); }
    return linesOf(runSql(path,
                          "SELECT type || ' ' || name || ' ' || coalesce(group_concat(of, ' '), '') || char(10)"
                          " FROM (SELECT s.type, s.name, c.name AS of FROM sqlite_master s LEFT JOIN"
                          " pragma_table_info(s.name) c WHERE s.name NOT LIKE 'sqlite_%' ORDER BY 1, 2, 3)"
                          " GROUP BY name"));
  };
  fs::copy_file(kRelease, folder_ / "old.db");
  const auto fresh = tables(path_);
  EXPECT_EQ(tables(folder_ / "old.db"), fresh);
  EXPECT_EQ(std::ranges::count_if(fresh, [](const std::string& one) { return !one.starts_with("index"); }), 15)
      << "how many questions the database answers: see docs/monitor.md";
}

TEST_F(Store, CountsInAnySpanWhatIsKept) {
  SessionInfo other = session();
  other.reduce = "none";
  for (const SessionInfo& info : {session(), other, session()}) {
    std::vector<Sample> samples;
    for (int i = 0; i < 700; ++i) samples.push_back(sampleAt(kNoon + i * 7 * kMinuteMs + (i % 3) * 999));
    record(path_, samples, info);
  }
  forget(path_, kNoon + kDayMs / 2 + 1234567);
  const StoreReader store(path_);
  Random random(7, 0);
  const auto time = [&] { return kNoon + random.below(3500) * kMinuteMs + random.below(9) * 9999; };
  for (const std::optional<std::int64_t> series : {std::optional<std::int64_t>(), {1}, {2}}) {
    const auto all = allSamples(store, 1, series);
    EXPECT_EQ(store.count(1, INT64_MIN, INT64_MAX, series), static_cast<std::int64_t>(all.size()));
    for (int i = 0; i < 200; ++i) {
      const UnixMs from = time(), to = time();
      ASSERT_EQ(store.count(1, from, to, series),
                std::ranges::count_if(all, [&](const Sample& one) { return from <= one.time && one.time < to; }))
          << from << " " << to;
    }
  }
  EXPECT_EQ(store.count(2), 0);
}

// What a statement was asked before is no part of the next question of the same text.
TEST(Sqlite, AStatementThatIsUsedAgainIsAsNew) {
  std::optional<Database> database(std::in_place, ":memory:", Database::Mode::kCreate);
  database->execute("CREATE TABLE song(title, year)");
  const char* const insert = "INSERT INTO song VALUES (?, ?)";
  database->run(insert, "a", 1999);
  database->prepare(insert).bind("b").step();
  EXPECT_EQ(database->integer("SELECT year IS NULL FROM song WHERE title = 'b'"), 1);
  const char* const all = "SELECT title FROM song ORDER BY title";
  {
    Statement one = database->prepare(all), two = database->prepare(all);
    EXPECT_TRUE(one.step() && two.step() && two.step());
    EXPECT_EQ(one.text(0), "a");
    EXPECT_EQ(two.text(0), "b");
  }
  database->execute("DROP TABLE song; CREATE TABLE song(year, title); INSERT INTO song VALUES (7, 'c')");
  Statement last = database->prepare(all);
  EXPECT_TRUE(last.step());
  EXPECT_EQ(last.text(0), "c");
  database.reset();  // a statement may outlive it
}

// Not a second later: a kill in between would let it ring twice.
TEST_F(Store, AnAlarmIsStoredAtOnceWithItsSample) {
  StoreWriter writer(path_, {.commit_s = 3600});
  writer.beginSession(session("a"));
  ASSERT_TRUE(writer.flush());
  const std::vector<AlarmState> states = {{"tokens>9", kNoon, true}};
  writer.append({.sample = sampleAt(kNoon),
                 .alarms = states,
                 .events = {{kNoon, EventKind::kState, Severity::kInfo, "gate is open"},
                            {kNoon, EventKind::kAlarm, Severity::kWarning, "tokens 10 above 9"}}});
  ASSERT_TRUE(eventually([&] { return StoreReader(path_).events(1, 0, INT64_MAX).size() == 2; }));
  const StoreReader reader(path_);
  EXPECT_EQ(reader.count(1), 1);
  EXPECT_EQ(reader.alarms(1), states);
}

TEST_F(Store, KnowsWhichAlarmsRingAndWhatWasAnnounced) {
  const std::vector<AlarmState> states = {{"car>20", kNoon, true}, {"gate=\"open\"", kNoon + 1, false}};
  {
    StoreWriter writer(path_);
    writer.append(Recorded{.alarms = states});  // of no source
    writer.beginSession(session("b"));
    writer.append(Recorded{.alarms = std::vector<AlarmState>{{"tokens>9", kNoon, true}}});
    writer.beginSession(session("a"));
    writer.append(Recorded{.alarms = std::vector<AlarmState>{{"tokens>8", kNoon, true}}});
    writer.append(Recorded{.alarms = states});
    writer.announce("mpm/a", "{\"name\":\"a 'b' \\\"c\\\"\"}");
    writer.announce("mpm/b.c[0]", "first");
    writer.announce("mpm/b.c[0]", "second");
    writer.announce("mpm/gone", "x");
    writer.announce("mpm/gone", "");
  }
  EXPECT_EQ(StoreReader(path_).alarms(2), states);
  EXPECT_EQ(StoreReader(path_).alarms(1), (std::vector<AlarmState>{{"tokens>9", kNoon, true}}));
  EXPECT_THAT(StoreReader(path_).announced(),
              ElementsAre(Pair("mpm/a", "{\"name\":\"a 'b' \\\"c\\\"\"}"), Pair("mpm/b.c[0]", "second")));
  fs::copy_file(kRelease, folder_ / "old.db");
  EXPECT_THAT(StoreReader(folder_ / "old.db").announced(), IsEmpty());
  EXPECT_THAT(StoreReader(folder_ / "old.db").alarms(1), IsEmpty());
  runSql(path_, "UPDATE source SET alarms = '{'; UPDATE database SET announced = '{'");  // by another program
  EXPECT_THAT(StoreReader(path_).alarms(2), IsEmpty());
  EXPECT_THAT(StoreReader(path_).announced(), IsEmpty());
  {
    StoreWriter writer(path_);
    writer.announce("mpm/a", "again");
    ASSERT_TRUE(writer.flush());
  }
  EXPECT_THAT(StoreReader(path_).announced(), ElementsAre(Pair("mpm/a", "again")));
}

TEST_F(Store, TheOutboxKeepsSoManyMessagesOfAChannelAndReportsTheFirstThatGoes) {
  std::vector<Event> reported;
  StoreOptions options;
  options.outbox.of_event = [](const Event& event) {
    return std::vector<Message>{{.channel = "a", .payload = event.message}, {.channel = "b", .payload = event.message}};
  };
  options.outbox.max_waiting = 3;
  RunningWriter writer(path_, options, [&](const Event& event) { reported.push_back(event); });
  const auto waiting = [&](const std::string& channel) {
    std::vector<std::string> payloads;
    for (const Message& message : StoreReader(path_).outbox(channel, 0, 10)) payloads.push_back(message.payload);
    return payloads;
  };
  const auto add = [&](const std::string& text) {
    writer.append(eventAt(kNoon, text));
    EXPECT_TRUE(writer.flush());
  };
  for (const char* text : {"1", "2", "3"}) add(text);
  EXPECT_THAT(waiting("a"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(reported, IsEmpty());
  add("4");
  EXPECT_THAT(waiting("a"), ElementsAre("2", "3", "4"));
  EXPECT_THAT(waiting("b"), ElementsAre("2", "3", "4"));
  ASSERT_THAT(reported, SizeIs(1));
  EXPECT_EQ(reported[0].severity, Severity::kWarning);
  EXPECT_THAT(reported[0].message, ::testing::MatchesRegex("3 messages wait for [ab]: the oldest are dropped.*"));
  add("5");
  EXPECT_THAT(reported, SizeIs(1)) << "not of each that goes";
}

TEST_F(Store, TheLastSamplesAreSoMany) {
  std::vector<Sample> samples;
  for (int i = 0; i < 5; ++i) samples.push_back(sampleAt(kNoon + i * kMinuteMs));
  record(path_, samples);
  const StoreReader reader(path_);
  const auto timesOf = [&](int limit, UnixMs until) {
    std::vector<UnixMs> minutes;
    for (const Sample& sample : reader.lastSamples(1, limit, until))
      minutes.push_back((sample.time - kNoon) / kMinuteMs);
    return minutes;
  };
  EXPECT_THAT(timesOf(3, INT64_MAX), ElementsAre(2, 3, 4));
  EXPECT_THAT(timesOf(3, kNoon + 3 * kMinuteMs), ElementsAre(0, 1, 2));
  EXPECT_THAT(timesOf(3, kNoon + 3 * kMinuteMs + 1), ElementsAre(1, 2, 3));
  EXPECT_THAT(timesOf(1, INT64_MAX), ElementsAre(4));
  EXPECT_THAT(timesOf(9, INT64_MAX), ElementsAre(0, 1, 2, 3, 4));
}

// Write-ahead logging: readers do not wait for the writer, and a cut of power leaves the last commit.
TEST_F(Store, WhereTheMotionOfTheViewIsNotSureItIsAsBefore) {
  {
    RunningWriter writer(path_);
    const auto append = [&](int minute, std::optional<double> right) {
      Sample sample = sampleAt(kNoon + minute * kMinuteMs);
      if (right) sample.measured_offset = {.right = *right};
      writer.append(sample);
    };
    append(0, std::nullopt);
    append(1, 6);
    append(2, std::nullopt);
    append(3, std::nullopt);
    writer.append(Event{kNoon + 4 * kMinuteMs, EventKind::kView, Severity::kWarning, "another view"});
    append(4, std::nullopt);
    append(5, 2);
    writer.append(Event{kNoon + 6 * kMinuteMs, EventKind::kView, Severity::kInfo, "moved a little"});
    append(6, std::nullopt);
    EXPECT_TRUE(writer.flush());
  }
  const StoreReader reader(path_);
  const auto placesFrom = [&](int minute) {
    std::vector<double> right;
    const auto take = [&](const Sample& sample) {
      right.push_back(sample.view_offset.right);
      return true;
    };
    reader.samples(1, kNoon + minute * kMinuteMs, INT64_MAX, take);
    return right;
  };
  EXPECT_THAT(placesFrom(0), ElementsAre(0, 6, 6, 6, 0, 2, 2));
  EXPECT_THAT(placesFrom(3), ElementsAre(6, 0, 2, 2)) << "what lies before counts";
  EXPECT_THAT(placesFrom(4), ElementsAre(0, 2, 2));
  EXPECT_THAT(placesFrom(6), ElementsAre(2));
}

TEST_F(Store, KeepsAWriteAheadLog) {
  const StoreWriter writer(path_);
  EXPECT_TRUE(std::ifstream(folder_ / "a.db-wal").good());
  EXPECT_EQ(runSql(path_, "PRAGMA journal_mode"), "wal");
}

// A monitor that is started twice stores nothing twice.
TEST_F(Store, ASecondWriterIsRefused) {
  auto first = std::make_unique<StoreWriter>(path_);
  first->beginSession(session());
  ASSERT_TRUE(first->flush());
  fs::create_symlink("a.db", folder_ / "link.db");
  for (const char* name : {"a.db", "link.db"})
    EXPECT_MPM_ERROR(StoreWriter{folder_ / name}, "another program stores in '" + (folder_ / name) + "'");
  const StoreWriter second(path_, {.open_at_once = false});
  ASSERT_TRUE(eventually([&] { return second.status().stopped; }));
  EXPECT_FALSE(StoreReader(path_).sessions(1).at(0).ended) << "the first one's session goes on";
  first.reset();
  const StoreWriter third(path_);
}

TEST_F(Store, CommitsAtMostOncePerInterval) {
  RunningWriter writer(path_, {.commit_s = 3600});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(writer.flush());  // where nothing waits, it must not ask for a commit
  const StoreReader reader(path_);
  for (int i = 0; i < 1000; ++i) writer.append(sampleAt(kNoon + i));
  EXPECT_THAT(allSamples(reader), SizeIs(0)) << "the next commit is an hour away";
  EXPECT_EQ(writer.status().pending, 1000);
  ASSERT_TRUE(writer.flush());
  EXPECT_EQ(allSamples(reader).size(), 1000u);
}

TEST_F(Store, RefusesWhatItDoesNotKnow) {
  EXPECT_MPM_ERROR(StoreReader{folder_ / "none.db"}, "there is no database");
  std::ofstream(folder_ / "text.db") << "This is a letter to somebody, and long enough to be taken for a header.\n"
                                        "It goes on for a while, so that the first page of it is more than a page.\n";
  EXPECT_MPM_ERROR(StoreReader{folder_ / "text.db"}, "is not a database");
  EXPECT_MPM_ERROR(StoreWriter{folder_ / "text.db"}, "is not a database");
  runSql(folder_ / "other.db", "CREATE TABLE song(title TEXT)");
  EXPECT_MPM_ERROR(StoreWriter{folder_ / "other.db"}, "another program");
  EXPECT_MPM_ERROR(StoreReader{folder_ / "other.db"}, "another program");
  { const StoreWriter writer(folder_ / "new.db"); }
  for (const std::string version : {"3", "5", "99"}) {  // 5 was never released
    runSql(folder_ / "new.db", "PRAGMA user_version = " + version);
    EXPECT_MPM_ERROR(StoreWriter{folder_ / "new.db"}, "has schema " + version + ", this program knows schemas 4 and 6");
    EXPECT_MPM_ERROR(StoreReader{folder_ / "new.db"}, "has schema " + version + ", this program knows schemas 4 and 6");
  }
  EXPECT_MPM_ERROR(StoreWriter{folder_ / "no/such/folder/a.db"}, "no/such/folder/a.db");
}

// Else the next program that closes the database takes itself for the last one, and deletes the log of the writer.
TEST_F(Store, AReaderInItsProcessLeavesTheLocksOfTheWriter) {
  StoreWriter writer(path_);
  writer.beginSession(session());
  writer.append(sampleAt(kNoon));
  ASSERT_TRUE(writer.flush());
  const auto isLocked = [this] {  // as another process sees it
    const pid_t other = fork();
    if (other == 0) {
      struct flock lock {};
      lock.l_type = F_WRLCK;
      _exit(fcntl(open(path_.c_str(), O_RDWR | O_CLOEXEC), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 0 : 1);
    }
    int status = 0;
    waitpid(other, &status, 0);
    return status == 0;
  };
  EXPECT_TRUE(isLocked());
  EXPECT_EQ(StoreReader(path_).sources().size(), 1u);
  EXPECT_TRUE(isLocked());
}

TEST_F(Store, ForgetsByAgeButKeepsHours) {
  StoreWriter writer(path_, {.keep_days = 2, .maintenance_s = 0.01, .now = [] { return kNoon + 6 * kDayMs; }});
  writer.setSource("gave nothing");
  writer.append(eventAt(kNoon, "old"));
  writer.setSource("camera 0");
  writer.setRegions("camera 0", {regionNamed("tree")});
  writer.beginSession(session());
  for (int minute = 0; minute < 6 * 24 * 60; ++minute) {  // some go with a second batch
    Sample sample = sampleAt(kNoon + minute * kMinuteMs);
    sample.regions.push_back(regionOf(0, {1, 2, 3}));
    sample.states = {{.name = "gate", .state = "open"}};
    writer.append(sample);
  }
  writer.append(eventAt(kNoon, "old"));
  writer.append(eventAt(kNoon + 5 * kDayMs, "young"));
  ASSERT_TRUE(writer.flush());
  const StoreReader reader(path_);
  const auto old = [&] { return runSql(path_, "SELECT count(*) FROM event WHERE message = 'old'"); };
  for (int i = 0; i < 2000 && old() != "0"; ++i) {
    writer.append(eventAt(kNoon + 5 * kDayMs, "tick"));  // it looks when it writes
    ASSERT_TRUE(writer.flush());
  }
  EXPECT_EQ(old(), "0");
  EXPECT_EQ(reader.count(1), 2 * 24 * 60);
  for (const char* table : {"region_sample WHERE region > 0", "region_sample WHERE region = 0", "state_sample"})
    EXPECT_EQ(runSql(path_, std::string("SELECT count(*) FROM ") + table), std::to_string(2 * 24 * 60));
  EXPECT_EQ(allSamples(reader)[0].time, kNoon + 4 * kDayMs);
  const auto events = reader.events(1, INT64_MIN, INT64_MAX, 100000);
  EXPECT_EQ(events.front().message, "young");
  // The whole stretch still has its hours.
  EXPECT_EQ(reader.sources()[0].first, kNoon);
  const Chart chart = reader.chart({.source = 1, .from = kNoon, .to = kNoon + 6 * kDayMs, .series = {}});
  EXPECT_EQ(chart.bucket_ms, kHourMs);
  EXPECT_EQ(chart.buckets.size(), 6u * 24);
}

TEST_F(Store, ForgetsByAgeOnlyWhatIsItsOwn) {
  StoreOptions options{.now = [] { return kNoon + 10 * kDayMs; }};
  const auto fill = [&](StoreWriter& writer, const std::string& source) {
    writer.beginSession(session(source));
    writer.append(sampleAt(kNoon));
    writer.append(sampleAt(kNoon + 9 * kDayMs + kDayMs / 2));
    writer.append(eventAt(kNoon, "old"));
    ASSERT_TRUE(writer.flush());
  };
  {
    StoreWriter other(path_, options);
    fill(other, "camera 0");
  }
  options.keep_days = 2;
  options.maintenance_s = 0.01;
  StoreWriter writer(path_, options);
  fill(writer, "camera 1");
  const StoreReader reader(path_);
  ASSERT_TRUE(eventually([&] {
    return allSamples(reader, 2).size() == 1 && allEvents(reader, 2).empty() &&
           runSql(path_,
                  "SELECT count(*) FROM bucket WHERE series IN (SELECT id FROM series WHERE source = 2) AND width_ms = "
                  "60000") == "1";
  }));
  EXPECT_THAT(allSamples(reader), SizeIs(2));
  EXPECT_THAT(allEvents(reader), SizeIs(1));
  EXPECT_EQ(runSql(path_, "SELECT count(*) FROM bucket WHERE series = 1 AND width_ms = 60000"), "2");
}

// Its samples are months old by the clock of this machine as soon as they are taken.
TEST_F(Store, ASceneAgesByItsOwnClock) {
  StoreWriter writer(path_, {.keep_days = 2, .maintenance_s = 0.001, .now = [] { return kNoon + 200 * kDayMs; }});
  writer.beginSession(session("demo:street"));
  for (int day = 0; day < 5; ++day) writer.append(sampleAt(kNoon + day * kDayMs));
  ASSERT_TRUE(writer.flush());
  const StoreReader reader(path_);
  ASSERT_TRUE(eventually([&] { return allSamples(reader).size() < 5; }));
  ::usleep(20'000);  // it has looked once more
  const auto left = allSamples(reader);
  ASSERT_EQ(left.size(), 3u);
  EXPECT_EQ(left.front().time, kNoon + 2 * kDayMs);
  for (int day = 5; day < 8; ++day) writer.append(sampleAt(kNoon + day * kDayMs));
  ASSERT_TRUE(writer.flush());
  EXPECT_TRUE(eventually([&] { return allSamples(reader).front().time == kNoon + 5 * kDayMs; }));
}

TEST_F(Store, ASceneThatIsWatchedAgainAgesAtOnce) {
  const StoreOptions options{.keep_days = 2, .maintenance_s = 0.001, .now = [] { return kNoon + 200 * kDayMs; }};
  record(path_, {sampleAt(kNoon)}, session("demo:street"));
  StoreWriter writer(path_, options);
  writer.beginSession(session("demo:street"));
  writer.append(sampleAt(kNoon + 5 * kDayMs));
  ASSERT_TRUE(writer.flush());
  const StoreReader reader(path_);
  EXPECT_TRUE(eventually([&] { return allSamples(reader).size() == 1; }));
}

TEST_F(Store, AClockThatIsWrongForAMinuteMakesNothingOld) {
  std::atomic<UnixMs> now = kNoon + 200 * kDayMs;
  const StoreOptions options{.keep_days = 365, .maintenance_s = 0.001, .now = [&] { return now.load(); }};
  const auto run = [&](StoreWriter& writer) {
    for (int i = 0; i < 20; ++i) {
      writer.append(sampleAt(now));
      ASSERT_TRUE(writer.flush());
      ::usleep(2000);  // it looks at what is old
    }
  };
  {
    RunningWriter writer(path_, options);
    writer.append(sampleAt(kNoon));
    run(writer);
    now += 400 * kDayMs;
    run(writer);
    now -= 400 * kDayMs;
    run(writer);
    now += 400 * kDayMs;
    run(writer);
  }
  {  // killed and begun anew while it is wrong
    RunningWriter writer(path_, options);
    run(writer);
  }
  EXPECT_EQ(allSamples(StoreReader(path_)).front().time, kNoon);
}

// The first samples that are left after runs of one sample each, at these times, that keep two days.
TEST_F(Store, RunsOfOneSampleForgetAgainAfterAnOutage) {
  const auto firstAfter = [&](const std::string& name, const std::vector<int>& hours) {
    for (const int hour : hours) {
      const UnixMs now = kNoon + hour * kHourMs;
      StoreWriter writer(folder_ / name, {.keep_days = 2, .now = [now] { return now; }});
      ::usleep(20000);  // its first look at what is old comes before it knows its source
      writer.beginSession(session());
      writer.append(sampleAt(now));
      EXPECT_TRUE(writer.flush());
    }
    return (allSamples(StoreReader(folder_ / name)).front().time - kNoon) / kHourMs;
  };
  EXPECT_EQ(firstAfter("doubt.db", {0, 3, 6, 90}), 0) << "the clock may be wrong";
  EXPECT_EQ(firstAfter("outage.db", {0, 3, 6, 90, 93, 96}), 90) << "it has gone on since";
  EXPECT_EQ(firstAfter("back.db", {0, 3, 6, 9000, 9}), 0) << "the last one is the only one to be believed";
  EXPECT_EQ(firstAfter("slow.db", {0, 49, 98, 147, 196, 245, 294, 343, 392, 441, 490}), 392)
      << "their usual distance is known after four of them";
}

TEST_F(Store, TheClockIsBelievedAfterAnHour) {
  SettledClock clock(kNoon);
  EXPECT_TRUE(clock.believes(kNoon + 20 * kHourMs, 0)) << "a night without power";
  EXPECT_TRUE(clock.believes(kNoon + 20 * kHourMs + 3 * kDayMs, 3 * kDayMs));
  EXPECT_FALSE(clock.believes(kNoon + 90 * kDayMs, 4 * kDayMs));
  EXPECT_FALSE(clock.believes(kNoon + 90 * kDayMs, 4 * kDayMs + kHourMs - 1));
  EXPECT_TRUE(clock.believes(kNoon + 90 * kDayMs, 4 * kDayMs + kHourMs));
  EXPECT_TRUE(clock.believes(0, 5 * kDayMs)) << "nothing is old in 1970";
  EXPECT_FALSE(clock.believes(kNoon, 5 * kDayMs));
  EXPECT_TRUE(clock.believes(kMinuteMs, 5 * kDayMs + kMinuteMs));
  EXPECT_FALSE(clock.believes(kNoon, 5 * kDayMs + 2 * kHourMs)) << "an hour of its own";
  EXPECT_TRUE(SettledClock(std::nullopt).believes(kNoon, 0));
}

TEST_F(Store, ForgetsTheOldestBeyondItsSize) {
  RunningWriter writer(path_, {.max_megabytes = 1, .maintenance_s = 0.01, .now = [] { return kNoon + 100 * kHourMs; }});
  constexpr int kSamples = 100 * 120;  // one in 30 s for 100 hours: several megabytes
  for (int block = 0; block < kSamples / 1000; ++block) {
    for (int i = block * 1000; i < (block + 1) * 1000; ++i) writer.append(sampleAt(kNoon + i * 30 * kSecondMs));
    ASSERT_TRUE(writer.flush());
  }
  const auto used = [&] { return std::stoll(runSql(path_, "PRAGMA page_count")) * 4096; };
  const StoreReader reader(path_);
  for (int i = 0; i < 2000 && used() > 1'000'000; ++i) {
    writer.append(eventAt(kNoon + 100 * kHourMs, "tick"));
    ASSERT_TRUE(writer.flush());
  }
  EXPECT_LE(used(), 1'000'000);
  const auto samples = allSamples(reader);
  ASSERT_FALSE(samples.empty());
  EXPECT_LT(samples.size(), static_cast<std::size_t>(kSamples));
  EXPECT_EQ(samples.back().time, kNoon + (kSamples - 1) * 30 * kSecondMs) << "the newest stay";
}

TEST_F(Store, KeepsNoCredentials) {
  {
    StoreWriter writer(path_);
    writer.beginSession(session("rtsp://admin:hunter2@10.0.0.7/stream?token=s3cret"));
    writer.append(sampleAt(kNoon));
    writer.append(Event{kNoon, EventKind::kSource, Severity::kError,
                        "cannot open rtsp://admin:hunter2@10.0.0.7/stream?token=s3cret: no answer"});
  }
  const std::string bytes = readFile(path_);
  EXPECT_NE(bytes.find("10.0.0.7"), std::string::npos) << "the rest is kept";
  for (const char* secret : {"hunter2", "s3cret", "admin"}) EXPECT_EQ(bytes.find(secret), std::string::npos) << secret;
  EXPECT_THAT(StoreReader(path_).sources()[0].name, HasSubstr("***"));
}

TEST_F(Store, ReadsFromAMediumThatCannotBeWritten) {
  const std::string inside = folder_ / "ro", file = inside + "/a.db";
  ASSERT_EQ(::mkdir(inside.c_str(), 0700), 0);
  record(file, {sampleAt(kNoon)});
  ::chmod(file.c_str(), 0400);
  ::chmod(inside.c_str(), 0500);
  const bool root = ::geteuid() == 0;
  if (root) {  // may write anyway: look at it as somebody else
    ::chmod(folder_.path().c_str(), 0755);
    ::chmod(file.c_str(), 0444);
    ::chmod(inside.c_str(), 0555);
    ASSERT_EQ(::seteuid(65534), 0);
  }
  {
    const StoreReader reader(file);
    EXPECT_THAT(allSamples(reader), SizeIs(1));
    EXPECT_FALSE(reader.current()) << "a writer that comes back would not be seen";
  }
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ::chmod(inside.c_str(), 0700);
}

TEST_F(Store, AReaderKnowsThatItsFileWasReplaced) {
  record(path_, {sampleAt(kNoon)});
  const StoreReader reader(path_);
  EXPECT_TRUE(reader.current());
  record(folder_ / "b.db", {sampleAt(kNoon)});
  EXPECT_TRUE(reader.current());
  ASSERT_EQ(std::rename((folder_ / "b.db").c_str(), (path_).c_str()), 0);
  EXPECT_FALSE(reader.current());
}

TEST_F(Store, AKilledSessionEndsWithItsLastSample) {
  UnixMs now = kNoon;
  const StoreOptions options{.now = [&] { return now; }};
  for (int run = 0; run < 3; ++run) {
    {
      RunningWriter writer(path_, options);
      for (int i = 0; i < 5; ++i) writer.append(sampleAt(now + i * 1000));
    }
    runSql(path_, "UPDATE session SET ended_ms = NULL WHERE id = " + std::to_string(run + 1));
    now = run == 0 ? 70'000 : kNoon + kHourMs;  // a boot without a clock, and one with
  }
  { StoreWriter(path_, options).beginSession(session("camera 1")); }
  EXPECT_FALSE(StoreReader(path_).sessions(1).at(2).ended) << "when its source is watched again";
  { StoreWriter(path_, options).beginSession(session()); }
  const auto sessions = StoreReader(path_).sessions(1);
  ASSERT_THAT(sessions, SizeIs(4));
  EXPECT_EQ(sessions[0].ended, kNoon + 4000);
  EXPECT_EQ(sessions[1].ended, 74'000);
  EXPECT_EQ(sessions[2].ended, kNoon + kHourMs + 4000);
}

TEST_F(Store, AKilledSessionOfASceneHasNoTimeOfItsClock) {
  const StoreOptions options{.now = [] { return kNoon; }};
  for (int run = 0; run < 2; ++run) {
    {
      StoreWriter writer(path_, options);
      writer.beginSession(session("demo:street"));
      writer.append(sampleAt(kNoon + kDayMs));
    }
    if (run == 0) runSql(path_, "UPDATE session SET ended_ms = NULL");
  }
  EXPECT_EQ(StoreReader(path_).sessions(1).at(0).ended, kNoon);
}

TEST_F(Store, EventsBelongToTheSourceThatIsWatched) {
  {
    StoreWriter writer(path_);
    writer.beginSession(session("camera 0"));
    writer.setSource("camera 1");
    writer.append(eventAt(kNoon, "before its first sample"));
    writer.beginSession(session("camera 1"));
    writer.setSource("camera 0");
    writer.append(eventAt(kNoon, "of camera 0"));
    writer.setSource("camera 2");
    writer.append(eventAt(kNoon, "of one that gives nothing"));
    writer.beginSession(session("camera 3"));
  }
  const StoreReader reader(path_);
  EXPECT_THAT(messagesOf(allEvents(reader)), ElementsAre("of camera 0"));
  EXPECT_THAT(messagesOf(allEvents(reader, 2)), ElementsAre("before its first sample"));
  EXPECT_THAT(allEvents(reader, 3), IsEmpty()) << "it began while another one waited for its first sample";
}

TEST_F(Store, AnotherModelAtTheSamePathIsNotTheSame) {
  StoreWriter writer(path_);
  const auto run = [&](const SessionInfo& info) {
    writer.beginSession(info);
    writer.append(sampleAt(kNoon));
    EXPECT_TRUE(writer.flush());
    const StoreReader reader(path_);
    std::int64_t samples = 0;
    for (const HourOfTokens& hour : reader.hoursOfTokens(latestSeries(reader).id, INT64_MIN, INT64_MAX))
      for (const auto& [tokens, count] : hour.occurrences) samples += count;
    return samples;
  };
  EXPECT_EQ(run(session()), 1);
  EXPECT_EQ(run(session()), 2) << "a restart";
  SessionInfo other = session();
  other.model_digest = "00000000000000b2";
  EXPECT_EQ(run(other), 1) << "another training under the same name";
  other.model = "./models/../vit.onnx";
  other.model_name = "renamed";
  EXPECT_EQ(run(other), 2) << "the same file under another name";
  other.precision = "bf16";
  EXPECT_EQ(run(other), 1);
  other.settings = "refine=guided";
  EXPECT_EQ(run(other), 1);
  other.reduce = "gradual:blocks=0-7:count=48";
  EXPECT_EQ(run(other), 1);
  other.tokens = 1024;
  EXPECT_EQ(run(other), 1);
  other.classes = {"sky"};
  EXPECT_EQ(run(other), 1);
  EXPECT_EQ(run(session()), 3);
}

TEST_F(Store, YesterdayIsNotWhatIsLeftOfAShortRange) {
  std::vector<Sample> samples;
  for (int hour = 0; hour < 72; ++hour)
    samples.push_back(sampleAt(kNoon + hour * kHourMs, 400 + hour / 24 * 5 + hour % 24, hour % 24 >= 12));
  record(path_, samples);
  const StoreReader reader(path_);
  const UnixMs end = kNoon + 72 * kHourMs;
  const DayNightStatistics whole = reader.dayNight(1, INT64_MIN, end), day = reader.dayNight(1, end - kDayMs, end);
  for (const auto& change : {whole.night_change, day.night_change}) EXPECT_DOUBLE_EQ(change.value(), 5);
  EXPECT_EQ(day.night.samples, 12);
  const DayNightStatistics night = reader.dayNight(1, end - 6 * kHourMs, end);
  EXPECT_EQ(night.day.samples, 0);
  EXPECT_FALSE(night.day_change) << "of a part of the day that is not asked for";
  EXPECT_DOUBLE_EQ(night.night_change.value(), 5);
}

TEST_F(Store, OnlyARuleThatFindsNoNightAtAllIsDoubted) {
  const auto brightness = [&](const std::string& path, bool night) {
    FrameFacts dark{.quality = PictureQuality{.flags = kDark}};
    record(path, {sampleAt(kNoon), sampleAt(kNoon + kHourMs, 377, night, dark)});
    return StoreReader(path).dayNight(1, INT64_MIN, INT64_MAX).brightness;
  };
  EXPECT_EQ(brightness(path_, false), std::pair(100.0, 100.0));
  EXPECT_EQ(brightness(folder_ / "b.db", true), std::nullopt) << "its pictures are flagged, but it is there";
}

TEST_F(Store, EventsOfASourceAndOfNoneByTime) {
  { const StoreWriter made(path_); }
  runSql(path_,
         "INSERT INTO source(id, name) VALUES (1, 'camera 0'), (2, 'camera 1');"
         "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)"
         " INSERT INTO event(source, time_ms, kind, severity, message)"
         " SELECT nullif(i % 3, 0), i / 2, 1, 0, i FROM n");
  const StoreReader reader(path_);
  EXPECT_THAT(messagesOf(reader.events(1, 0, 450, 6)), ElementsAre("891", "892", "894", "895", "897", "898"));
  EXPECT_EQ(reader.events(1, 0, 450, 10000).size(), 600u);
  EXPECT_EQ(reader.events(2, 0, 1000, 10000).size(), 667u);
}

TEST_F(Store, AnArchiveOutlivesEveryLimit) {
  StoreWriter writer(path_, {.keep_days = 2, .max_megabytes = 0.001, .maintenance_s = 0.01, .now = [] {
                               return kNoon + 4000 * kDayMs;
                             }});
  writer.beginSession(session("camera 0"));
  writer.append(sampleAt(kNoon));
  writer.beginSession(session("archive"), kNoon);
  for (int i = 0; i < 50; ++i) writer.append(sampleAt(kNoon + i * kDayMs));
  ASSERT_TRUE(writer.flush());
  const StoreReader reader(path_);
  EXPECT_TRUE(eventually([&] { return allSamples(reader, 1).empty(); })) << "of the camera";
  ::usleep(100'000);
  EXPECT_THAT(allSamples(reader, 2), SizeIs(50));
  EXPECT_EQ(reader.hoursOfTokens(2, 0, INT64_MAX).size(), 50u);
  EXPECT_TRUE(reader.sources().at(1).archive);
}

TEST_F(Store, APictureOfAnArchiveIsStoredOnce) {
  const auto picture = [](UnixMs time, const char* name, std::int64_t digest = 0) {
    Sample sample = sampleAt(time);
    sample.picture = name;
    sample.digest = digest;
    return sample;
  };
  for (int start = 0; start < 2; ++start) {
    StoreWriter writer(path_);
    writer.beginSession(session("archive"), kNoon);
    for (const char* name : {"a.jpg", "b.jpg", "a.jpg"}) writer.append(picture(kNoon, name));
    for (const int digest : {0, 7, 8, 7})
      writer.append(picture(kNoon, "a.jpg", digest));  // where it is not known: once
    for (const int digest : {7, 8, 7, 0}) writer.append(picture(kNoon + kDayMs, "c.jpg", digest));
    writer.append(picture(kNoon + kDayMs, "a.jpg"));
  }
  const StoreReader reader(path_);
  EXPECT_THAT(allSamples(reader), SizeIs(5));
  EXPECT_EQ(samplesIn(reader.chart({.source = 1, .from = 0, .to = INT64_MAX, .series = {{.quantity = "tokens"}}})), 5);
  const SessionRecord session = reader.sessions(1).at(0);
  EXPECT_EQ(session.started, kNoon);
  EXPECT_EQ(session.ended, kNoon + kDayMs);
}

// What pictures show is found again where they are measured again.
TEST_F(Store, AnEventOfAnArchiveIsStoredOnce) {
  const Event rings{kNoon, EventKind::kAlarm, Severity::kWarning, "it rings"};
  std::vector<Event> events(4, rings);
  events[1].time += 1;
  events[2].kind = EventKind::kAlarmEnded;
  events[3].message = "it rings on";
  StoreOptions options;
  std::atomic<int> told = 0;
  options.outbox.of_event = [&](const Event&) {
    ++told;
    return std::vector<Message>();
  };
  for (const std::string source : {"archive", "camera"}) {
    StoreWriter writer(path_, options);
    for (int i = 0; i < 2; ++i) {
      writer.setSource(source);
      if (i > 0) writer.append(events[1]);  // before its first picture
      writer.beginSession(session(source), source == "archive" ? std::optional(kNoon) : std::nullopt, true);
      for (const Event& event : events)
        if (i == 0 || event != events[1]) writer.append(event);
    }
    ASSERT_TRUE(writer.flush());
  }
  EXPECT_THAT(allEvents(StoreReader(path_)), testing::UnorderedElementsAreArray(events));
  EXPECT_THAT(allEvents(StoreReader(path_), 2), SizeIs(8)) << "a camera may ring twice";
  EXPECT_EQ(told, 4 + 8) << "what is known already is not told again";
}

TEST_F(MergeDatabases, PartsHideTheSame) {
  const auto part = [&](const std::string& name, const std::string& privacy) {
    StoreWriter writer(folder_ / name);
    writer.setPrivacy("archive", privacy);
    writer.beginSession(session("archive"), kNoon);
    Sample sample = sampleAt(kNoon);
    sample.picture = name;
    writer.append(sample);
    return folder_ / name;
  };
  const std::string hides = R"({"hide":[],"blur":["car"]})";
  const std::string one = part("1", hides), other = part("2", hides), plain = part("3", "");
  mergeDatabases({one, other}, folder_ / "all");
  EXPECT_EQ(StoreReader(folder_ / "all").privacy("archive"), hides);
  for (const auto& parts : {std::vector{one, plain}, {plain, one}})
    EXPECT_MPM_ERROR(mergeDatabases(parts, folder_ / "both"), "hides other parts of 'archive'");
  EXPECT_FALSE(fs::exists(folder_ / "both"));
}

TEST_F(MergeDatabases, PartsWithTheirRegionsBecomeOne) {
  for (int part = 0; part < 2; ++part) {
    const std::string path = folder_ / ("part" + std::to_string(part) + ".db");
    {
      StoreWriter writer(path);
      if (part == 1) {
        writer.beginSession(session("other"));
        writer.append(sampleAt(kNoon));
      }
      writer.beginSession(session("archive"), kNoon);
      writer.append(sampleAt(kNoon + part * kDayMs, 300 + 10 * part));
    }
    runSql(path,
           "INSERT INTO region(id, source, name, ignored, shape, from_ms, to_ms, current) SELECT 5 + id, id, 'tree', 0,"
           " '{}', NULL, 7, 1"
           " FROM source WHERE name = 'archive';"
           "INSERT INTO region_sample(sample, region, areas) SELECT s.id, r.id, '{}' FROM sample s JOIN region r "
           "USING(source)");
  }
  mergeDatabases({folder_ / "part0.db", folder_ / "part1.db"}, folder_ / "all.db");
  const StoreReader reader(folder_ / "all.db");
  const auto sources = reader.sources();
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_TRUE(sources[0].archive);
  EXPECT_FALSE(sources[1].archive);
  const auto samples = allSamples(reader, sources[0].id);
  ASSERT_THAT(samples, SizeIs(2));
  for (int part = 0; part < 2; ++part) {
    EXPECT_EQ(samples[part].token_counts.back(), 300 + 10 * part);
    ASSERT_THAT(samples[part].regions, SizeIs(2));
    EXPECT_EQ(samples[part].regions[1].region, samples[0].regions[1].region) << "one region";
  }
  EXPECT_THAT(allSamples(reader, sources[1].id), SizeIs(1));
  EXPECT_EQ(reader.hoursOfTokens(latestSeries(reader, sources[0].id).id, 0, INT64_MAX).size(), 2u);
  EXPECT_MPM_ERROR(mergeDatabases({folder_ / "none.db"}, folder_ / "more.db"), "none.db");
  EXPECT_FALSE(fs::exists(folder_ / "more.db"));
  const std::string part = folder_ / "part0.db", more = folder_ / "more.db";
  EXPECT_MPM_ERROR(mergeDatabases({part}, folder_ / "all.db"), "all.db");
  runSql(part, "UPDATE sample SET picture = 'a.png', picture_digest = 7");
  EXPECT_MPM_ERROR(mergeDatabases({part, part}, more), "holds what another part holds: picture 'a.png'");
}

vision::Region tree(double x) {
  return {.name = "tree", .size = {64, 48}, .polygons = {{{x, 5}, {x + 9, 5}, {x, 20}}}};
}

// Regions of one name that are valid at one time would be no regions at all. An alarm that rings would ring again, and
// a camera that had moved would move back. Camera 0 was last watched for the second part, camera 1 for the first one.
TEST_F(MergeDatabases, EachSourceGoesOnWithItsOwnLatestPart) {
  std::vector<std::string> parts;
  for (int part = 0; part < 2; ++part) {
    parts.push_back(folder_ / std::to_string(part));
    StoreWriter writer(parts.back());
    for (int camera = 0; camera < 2; ++camera) {
      const std::string name = "camera " + std::to_string(camera);
      writer.setRegions(name, {tree(10 * part)});
      writer.beginSession(session(name));
      writer.append(Recorded{.alarms = std::vector<AlarmState>{{"tokens>9", kNoon + part, true}}});
      writer.append(sampleAt(kNoon + (part == camera ? 0 : 9 - camera) * kDayMs),
                    ViewReference{.size = {64, 48}, .motion = {.right = 7.0F * part}});
      writer.append(eventAt(kNoon + part, name));
    }
  }
  runSql(parts[0], "INSERT INTO event(source, time_ms, kind, severity, message) VALUES(0, " + std::to_string(kNoon) +
                       ", 1, 1, 'another camera gives nothing')");
  for (int order = 0; order < 2; ++order) {
    const std::string all = folder_ / ("all" + std::to_string(order));
    mergeDatabases(parts, all);
    const StoreReader reader(all);
    const auto sources = reader.sources();
    ASSERT_THAT(sources, SizeIs(2));
    for (int camera = 0; camera < 2; ++camera) {
      const int latest = 1 - camera;
      const SourceRecord& source = sources[camera];
      SCOPED_TRACE(source.name);
      EXPECT_EQ(source.name, "camera " + std::to_string(camera)) << "in the order of the parts";
      const auto regions = currentRegions(reader, source.name);
      ASSERT_THAT(regions, SizeIs(1));
      EXPECT_EQ(vision::toJson(regions[0]), vision::toJson(tree(10 * latest)));
      EXPECT_THAT(reader.regions(source.name), SizeIs(2)) << "the one before is kept";
      EXPECT_EQ(reader.alarms(source.id), (std::vector<AlarmState>{{"tokens>9", kNoon + latest, true}}));
      const auto view = reader.view(source.name);
      ASSERT_TRUE(view);
      EXPECT_EQ(view->motion.right, 7 * latest);
      EXPECT_THAT(reader.series(source.id), SizeIs(1));
      EXPECT_THAT(allSamples(reader, source.id), SizeIs(2));
      const auto messages = messagesOf(reader.events(source.id, INT64_MIN, INT64_MAX, 99));
      EXPECT_THAT(messages, Contains(source.name).Times(2));
      EXPECT_THAT(messages, Not(Contains("another camera gives nothing")));
    }
    std::ranges::reverse(parts);
  }
}

TEST_F(Store, RetentionCanBeChangedWhileItRuns) {
  RunningWriter writer(path_, {.now = [] { return kNoon + 100 * kDayMs; }});
  writer.append(sampleAt(kNoon));
  writer.append(sampleAt(kNoon + 99 * kDayMs));
  ASSERT_TRUE(writer.flush());
  const StoreReader reader(path_);
  ASSERT_THAT(allSamples(reader), SizeIs(2));
  writer.setRetention(30, 0);
  ASSERT_TRUE(eventually([&] { return allSamples(reader).size() == 1; }));
  EXPECT_EQ(allSamples(reader)[0].time, kNoon + 99 * kDayMs);
}

}  // namespace
}  // namespace mpm::monitor::test
