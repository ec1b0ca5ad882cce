// SPDX-License-Identifier: Apache-2.0
#include <QSignalSpy>
#include <QTest>

#include "gui/controllers/history_browser.h"
#include "gui/models/history_sources.h"
#include "gui/models/readout.h"
#include "gui/views/labels.h"
#include "monitor/samples.h"
#include "text.h"

namespace mpm::gui {
namespace {

using namespace monitor::test;

constexpr int kPatience = 60000;

class Histories : public monitor::test::InFolder {
 protected:
  Histories() {
    QObject::connect(&history_, &History::failed, [this](const QString& why) { failures_ << why; });
  }
  monitor::SourceRecord opens(const std::string& path) {
    QSignalSpy sources(&history_, &History::sourcesChanged);
    history_.setDatabase(QString::fromStdString(path));
    EXPECT_TRUE(QTest::qWaitFor([&] { return !sources.isEmpty(); }, kPatience));
    return sources.value(0).value(0).value<std::vector<monitor::SourceRecord>>().at(0);
  }

  QStringList failures_;
  History history_;
};

// Which source is on show: the one that is wanted, as soon as it is there; else the one of before, else the last.
TEST_F(Histories, TheSourceOnShowIsTheOneThatIsWanted) {
  HistorySources sources(&history_);
  const auto list = [&](const std::vector<std::string>& names, std::optional<UnixMs> awaited = {}) {
    std::vector<monitor::SourceRecord> records;
    for (const std::string& name : names) {
      records.emplace_back().id = static_cast<std::int64_t>(name.size());
      records.back().name = name;
      records.back().last = kNoon;
      records.back().awaited = awaited;
    }
    emit history_.sourcesChanged(records);
  };
  QStringList steps;
  QObject::connect(&sources, &HistorySources::chosen, [&] { steps << QStringLiteral("chosen"); });
  QObject::connect(&sources, &HistorySources::changed, [&] { steps << sources.name(); });
  const auto said = [&] { return std::exchange(steps, {}); };
  list({"a", "bb"});
  EXPECT_EQ(said(), QStringList({"bb"}));
  sources.want("dddd");
  EXPECT_EQ(said(), QStringList({""})) << "samples of another one would be taken for those of the wanted";
  list({"a", "bb", "ccc"});
  EXPECT_EQ(said(), QStringList());
  list({"a", "bb", "ccc", "dddd"});
  EXPECT_EQ(said(), QStringList({"dddd"}));
  list({"dddd", "eeeee"});
  EXPECT_EQ(said(), QStringList()) << "the one of before stays";
  sources.choose(5);
  EXPECT_EQ(said(), QStringList({"chosen", "eeeee"}));
  sources.beginWith("ffffff");
  EXPECT_EQ(said(), QStringList({""}));
  list({"a", "bb"});
  EXPECT_EQ(said(), QStringList({"bb"})) << "nobody waits for it";
  EXPECT_TRUE(sources.ended());
  EXPECT_EQ(sources.present(), static_cast<double>(kNoon) / 1000);
  sources.setPresent("a", 7.5);
  list({"a", "bb"}, unixNow());
  EXPECT_FALSE(sources.ended()) << "another program watches it";
  EXPECT_NEAR(sources.present(), static_cast<double>(unixNow()) / 1000, 60) << "not the present of the open one";
  sources.setPresent("bb", 7.5);
  EXPECT_FALSE(sources.ended());
  EXPECT_EQ(sources.present(), 7.5);
}

// Statistics of a source are asked for seldom while samples come, but at once where they are of another series, and
// where no more samples come.
TEST_F(Histories, DayAndNightAreThoseOfTheLatestSeriesAndOfAllItsSamples) {
  const auto add = [&](int first, int count, const monitor::SessionInfo& by = session()) {
    std::vector<monitor::Sample> samples;
    for (int i = first; i < first + count; ++i) samples.push_back(sampleAt(kNoon + i * kMinuteMs));
    record(path_, samples, by);
  };
  add(0, 6);
  HistoryBrowser browser;
  std::vector<std::int64_t> judged;
  QObject::connect(&browser, &HistoryBrowser::judged, [&](const std::optional<JudgedHistory>& history) {
    if (history) judged.push_back(history->statistics.day.samples);
  });
  const auto judges = [&](std::int64_t samples) {
    return QTest::qWaitFor([&] { return !judged.empty() && judged.back() == samples; }, kPatience);
  };
  const auto look = [&] {
    QSignalSpy sources(browser.history(), &History::sourcesChanged);
    browser.history()->askSources();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !sources.isEmpty(); }, kPatience));
  };
  browser.setPeriod(kNoon / 1e3, (kNoon + kDayMs) / 1e3);
  browser.setDatabase(QString::fromStdString(path_));
  EXPECT_TRUE(judges(6));
  add(6, 6);
  look();
  look();
  EXPECT_TRUE(judges(12)) << "no more came";
  monitor::SessionInfo other = session();
  other.model_digest = "00000000000000b2";
  add(0, 3, other);
  look();
  EXPECT_TRUE(judges(3)) << "of another series";
}

// Two sessions with classes of their own; a sample each minute but for two gaps.
TEST_F(Histories, ASampleIsTheNearestWithTheClassesOfItsSession) {
  {
    monitor::StoreWriter writer(path_);
    const std::pair<const char*, std::vector<int>> sessions[] = {{"road", {0, 1, 2, 60}}, {"ice", {61, 90, 91}}};
    for (const auto& [name, minutes] : sessions) {
      monitor::SessionInfo info = monitor::test::session();
      info.classes = {name};
      info.every_s = 60;
      writer.beginSession(info);
      for (const int minute : minutes) writer.append(monitor::test::sampleAt(kNoon + minute * kMinuteMs));
    }
    ASSERT_TRUE(writer.flush());
  }
  const auto source = opens(path_);
  std::optional<StoredSample> found;
  QObject::connect(&history_, &History::sampleReady, [&](const StoredSample& sample) { found = sample; });
  for (const auto& [minute, off, name] : {std::tuple(60, 1, "road"), {61, 1, "ice"}, {0, -1, "road"}, {91, 1, "ice"}}) {
    history_.askSample(source, kNoon + minute * kMinuteMs + off * kSecondMs, minute == 60 ? kHourMs : kSecondMs, {}, 7);
    ASSERT_TRUE(QTest::qWaitFor([&] { return found.has_value(); }, kPatience));
    EXPECT_EQ(found->question, 7);
    EXPECT_EQ(found->time, kNoon + minute * kMinuteMs);
    EXPECT_EQ(found->areas.value({}).value(name), 0.75);
    EXPECT_EQ(found->areas.value({}).size(), 2) << "none of the other session";
    found.reset();
  }
  history_.askLast(source, {});
  ASSERT_TRUE(QTest::qWaitFor([&] { return found.has_value(); }, kPatience));
  EXPECT_THAT(found->text, Has("2 gap(s), the longest of 58 min"));
  const QSignalSpy named(&history_, &History::namesReady);
  history_.askNames(source.id, "camera 0");
  ASSERT_TRUE(QTest::qWaitFor([&] { return !named.isEmpty(); }, kPatience));
  EXPECT_EQ(named[0][0].value<SourceNames>().classes, QStringList{"ice"}) << "those of now";
  monitor::test::record(folder_ / "b.db", {monitor::test::sampleAt(kNoon)});
  history_.askNames(source.id, "camera 0");
  opens(folder_ / "b.db");
  EXPECT_EQ(named.count(), 1) << "an answer about a database that is not on show any more";
}

// The numbers beside a picture are those that the chart shows.
TEST_F(Histories, OfPicturesThatWereMeasuredAgainTheLatestSeriesCounts) {
  std::optional<StoredSample> found;
  QObject::connect(&history_, &History::sampleReady, [&](const StoredSample& sample) { found = sample; });
  const auto shows = [&](const char* name) {
    EXPECT_TRUE(QTest::qWaitFor([&] { return found.has_value(); }, kPatience));
    EXPECT_EQ(found->areas.value({}).value(name), 0.75) << name;
    found.reset();
  };
  // The third time it is the first model again, which reads only pictures that are new to it.
  for (const auto& [name, reads] : {std::pair("road", true), {"ice", true}, {"road", false}}) {
    {
      monitor::StoreWriter writer(path_);
      monitor::SessionInfo info = monitor::test::session();
      info.classes = {name};
      writer.beginSession(info, kNoon);
      if (reads) writer.append(monitor::test::sampleAt(kNoon));
      ASSERT_TRUE(writer.flush());
    }
    const auto source = opens(path_);
    history_.askSample(source, kNoon, kSecondMs, {}, 1);
    shows(name);
    history_.askLast(source, {});
    shows(name);
  }
  // Two pictures have one time: the last of them counts, as on the page.
  monitor::Sample second = monitor::test::sampleAt(kNoon);
  second.whole().areas = {{0, 0.5}};
  {
    monitor::StoreWriter writer(path_);
    monitor::SessionInfo info = monitor::test::session();
    info.classes = {"road"};
    writer.beginSession(info);
    writer.append(second);
    ASSERT_TRUE(writer.flush());
  }
  for (const bool last : {false, true}) {
    const auto source = opens(path_);
    last ? history_.askLast(source, {}) : history_.askSample(source, kNoon, kSecondMs, {}, 1);
    EXPECT_TRUE(QTest::qWaitFor([&] { return found.has_value(); }, kPatience));
    EXPECT_EQ(found->areas.value({}).value("road"), 0.5);
    found.reset();
  }
  // The last picture was deleted before the others were measured again.
  monitor::SessionInfo later = monitor::test::session();
  later.model_digest = "00000000000000b2";
  monitor::test::record(path_, {monitor::test::sampleAt(kNoon - kHourMs)}, later);
  QSignalSpy answered(&history_, &History::sampleReady);
  history_.askLast(opens(path_), {});
  ASSERT_TRUE(QTest::qWaitFor([&] { return !answered.isEmpty(); }, kPatience));
  EXPECT_EQ(found->time, kNoon - kHourMs);
}

TEST_F(Histories, EventsAreToldOnceAndGoWithTheirDatabase) {
  {
    monitor::StoreWriter writer(path_);
    writer.beginSession(session());
    writer.append(sampleAt(kNoon));
    writer.append({kNoon, monitor::EventKind::kAlarm, monitor::Severity::kWarning, "of the yard"});
    ASSERT_TRUE(writer.flush());
  }
  HistoryBrowser browser;
  browser.setDatabase(QString::fromStdString(path_));
  ASSERT_TRUE(QTest::qWaitFor([&] { return browser.events()->rowCount() > 0; }, kPatience));
  const int stored = browser.events()->rowCount();
  browser.add(browser.events()->eventAt(0));
  EXPECT_EQ(browser.events()->rowCount(), stored) << "it was read before it was told here";
  browser.setDatabase(QString::fromStdString(folder_ / "none-yet.db"));
  EXPECT_EQ(browser.events()->rowCount(), 0);
}

TEST_F(Histories, ADatabaseThatIsNoneIsSaidOnceAndOneThatIsReplacedIsReadAnew) {
  QFile file(QString::fromStdString(folder_ / "x.db"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly) && file.write(QByteArray(5000, 'x')) > 0);
  file.close();
  history_.setDatabase(file.fileName());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !failures_.isEmpty(); }, kPatience));
  history_.askEvents(1);
  for (const char* name : {"old", "new"}) {
    std::filesystem::remove(path_);
    monitor::test::record(path_, {monitor::test::sampleAt(kNoon)}, monitor::test::session(name));
    EXPECT_EQ(opens(path_).name, name);
  }
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_THAT(failures_[0], Has("x.db"));
  history_.setDatabase(file.fileName());
  EXPECT_TRUE(QTest::qWaitFor([&] { return failures_.size() == 2; }, kPatience)) << "others could be read since";
}

}  // namespace
}  // namespace mpm::gui
