// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <regex>
#include <tuple>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"
#include "monitor/samples.h"
#include "monitor/store/snapshot.h"
#include "monitor/store/sqlite.h"
#include "support/exif.h"
#include "support/formatted_time.h"
#include "support/pictures.h"
#include "support/video.h"
#include "vision/camera_clock.h"
#include "vision/sources/source.h"
#include "vision/times/archive.h"

namespace mpm::test {
namespace {

using monitor::StoreReader;

class ArchiveCommand : public InFolder {
 protected:
  std::string database_ = folder_ / "a b.db", in_ = folder_ / "in";

  void SetUp() override { fs::create_directory(in_); }

  void add(const std::string& name, int seed = 0) { writeImage(in_ + "/" + name, 40, 60, seed); }

  CommandResult monitor(const std::string& source, const Words& more = {}, CommandOptions options = {}) {
    return mpmCommand(Words{"monitor", source, "--model", kSegmenter, "--reduce", "mpm:blocks=1,2", "--db", database_,
                            "--time-zone", "+01:00"} +
                          more,
                      options);
  }

  Words stored() const {
    Words lines;
    for (const monitor::Sample& sample : monitor::test::latestSamples(StoreReader(database_)))
      lines.push_back(sample.picture + " " + isoTime(sample.time));
    return lines;
  }
};

TEST_F(ArchiveCommand, GoesOnWithItsZoneAndPlace) {
  const auto watch = [&](const Words& more) {
    return succeeded(mpmCommand(
        Words{"monitor", in_, "--model", kSegmenter, "--reduce", "mpm:blocks=1,2", "--db", database_} + more));
  };
  const auto nights = [&] {
    std::vector<std::optional<bool>> found;
    for (const auto& sample : monitor::test::latestSamples(StoreReader(database_))) found.push_back(sample.night);
    return found;
  };
  const std::string early = "20130708_055413.png ", late = "20130708_235413.png ";
  add("20130708_055413.png", 1);
  watch({"--time-zone", "-08:00", "--lat", "40", "--lon", "-120"});
  add("20130708_235413.png", 2);
  EXPECT_THAT(watch({}).err, HasSubstr("1 new sample, 2 in"));
  for (const bool again : {false, true}) {
    if (again) watch({"--recompute", "all"});
    EXPECT_THAT(stored(), ElementsAre(early + "2013-07-08T13:54:13Z", late + "2013-07-09T07:54:13Z"));
    EXPECT_THAT(nights(), ElementsAre(false, true));
  }
  EXPECT_THAT(watch({"--time-zone", "+05:45"}).err,
              AllOf(HasSubstr("all pictures are measured again"), HasSubstr("2 new samples")));
  EXPECT_THAT(stored(), ElementsAre(early + "2013-07-08T00:09:13Z", late + "2013-07-08T18:09:13Z"))
      << "not each of them twice in one series";
  EXPECT_THAT(watch({}).err, HasSubstr("0 new samples"));
  watch({"--recompute", "all", "--time-zone", "Z"});
  EXPECT_THAT(stored(), ElementsAre(early + "2013-07-08T05:54:13Z", late + "2013-07-08T23:54:13Z"));
  EXPECT_THAT(nights(), ElementsAre(true, false));
  watch({"--recompute", "all", "--night", "none"});
  EXPECT_THAT(nights(), ElementsAre(std::nullopt, std::nullopt));
}

// The numbers are of the latest series, and so is the last sample, by the clock of the camera.
TEST_F(ArchiveCommand, APictureThatWasDeletedIsNotTheLastOneOfASeriesThatLacksIt) {
  for (int i = 0; i < 6; ++i) add("20240101_00000" + std::to_string(i) + ".png", i);
  const auto brief = [&] { return succeeded(mpmCommand({"report", database_, "--brief"})).out; };
  succeeded(monitor(in_));
  EXPECT_THAT(brief(), HasSubstr("last sample 2024-01-01T00:00:05+01:00, 6 samples"));
  fs::remove(in_ + "/20240101_000005.png");
  succeeded(monitor(in_, {"--recompute", "all"}));
  EXPECT_THAT(brief(), HasSubstr("last sample 2024-01-01T00:00:04+01:00, 5 samples"));
}

TEST_F(ArchiveCommand, MeasuredAgainEachPictureHasItsSnapshot) {
  for (int i = 0; i < 3; ++i) add("2024010" + std::to_string(i + 1) + "_120000.png", i);
  succeeded(monitor(in_));
  const std::string shots = folder_ / "shots";
  succeeded(monitor(in_, {"--recompute", "all", "--snapshots", shots, "--snapshot-every", "0"}));
  EXPECT_EQ(monitor::snapshotFiles(shots).size(), 9u) << "a frame, an overlay and a file of facts of each";
}

// As when the zone changes: no picture is in one series at two times.
TEST_F(ArchiveCommand, PicturesThatHaveOtherTimesAreMeasuredAgain) {
  const auto watch = [&](const std::string& times) { return succeeded(monitor(in_, {"--times", times})).err; };
  const auto again = HasSubstr("all pictures are measured again, as a series of their own: ");
  for (int i : {1, 2}) {
    add("20130708_00000" + std::to_string(i) + ".jpg", i);
    setExifTime(in_ + "/20130708_00000" + std::to_string(i) + ".jpg", "2014:01:01 00:00:0" + std::to_string(i));
  }
  const std::string first = "20130708_000001.jpg ", second = "20130708_000002.jpg ", third = "20130708_000003.jpg ";
  EXPECT_THAT(watch("name"), Not(again));
  EXPECT_THAT(watch("exif"), AllOf(again,
                                   HasSubstr("'20130708_000001.jpg' was of 2013-07-07T23:00:01Z before, and is of "
                                             "2013-12-31T23:00:01Z now"),
                                   HasSubstr("2 new samples")));
  EXPECT_THAT(stored(), ElementsAre(first + "2013-12-31T23:00:01Z", second + "2013-12-31T23:00:02Z"));
  EXPECT_THAT(watch("auto"), AllOf(Not(again), HasSubstr("0 new samples"))) << "which finds the same times";

  const std::string list = folder_ / "times.csv";
  const auto say = [&](const std::string& name, const char* time) {
    std::ofstream(list, std::ios::app) << name.substr(0, name.size() - 1) << "," << time << "\n";
  };
  say(second, "2015-01-01 01:00:00");
  EXPECT_THAT(watch("list:" + list), AllOf(again, HasSubstr("2 new samples")));
  EXPECT_THAT(stored(), ElementsAre(first + "2013-12-31T23:00:01Z", second + "2015-01-01T00:00:00Z"));
  add("20130708_000003.jpg", 3);
  say(third, "2016-01-01 01:00:00");
  EXPECT_THAT(watch("list:" + list), AllOf(Not(again), HasSubstr("1 new sample"))) << "a list that grows";
  fs::remove(list);
  say(second, "2015-01-01 01:00:00");
  say(third, "2016-01-01 01:00:01");
  EXPECT_THAT(watch("list:" + list), AllOf(again, HasSubstr("'20130708_000003.jpg'"))) << "a list that was mended";
  EXPECT_EQ(stored().size(), 3u);
}

// By another zone and a list for two pictures of a clock that was ahead, a database is as one that never had other
// times.
TEST_F(ArchiveCommand, CorrectedTimesAreThoseOfAllThatIsStored) {
  const std::string list = folder_ / "times.csv", fresh = folder_ / "fresh.db";
  for (int day : {1, 2, 3}) {
    for (int hour = 8; hour < 18; ++hour) {
      const bool ahead = day == 2 && hour / 2 == 5;
      const std::string at = (hour < 10 ? "0" : "") + std::to_string(hour),
                        name = (ahead ? "20990101_" : "2024030" + std::to_string(day) + "_") + at + "0000.png";
      if (day != 2 || hour < 15) add(name, 100 * day + hour);
      if (ahead) std::ofstream(list, std::ios::app) << name << ",2024-03-02 " << at << ":00:00\n";
    }
  }
  std::ofstream(in_ + "/20240303_120000.png") << "damaged";
  const auto watch = [&](const std::string& database, const Words& times) {
    const CommandResult result =
        mpmCommand(Words{"monitor", in_, "--model", kSegmenter, "--reduce", "mpm:blocks=1,2", "--db", database, "--lat",
                         "40", "--lon", "-74", "--alarm", "tokens>1", "--alarm-minutes", "0"} +
                   times);
    EXPECT_THAT(result.err, HasSubstr("pictures could not be read"));
  };
  const Words right = {"--time-zone", "America/New_York", "--times", "list:" + list};
  watch(fresh, right);
  watch(database_, {"--time-zone", "Z"});
  EXPECT_GT(StoreReader(database_).sources()[0].last, 4'000'000'000'000);
  watch(database_, right);
  watch(database_, right);

  // But for how large the file is, and the list of its series.
  const auto report = [](const std::string& database, const Words& more) {
    static const std::regex kOfTheFile(", [0-9.]+ MB|  (series 2 of 2|measured from|2024-.* [12] +[0-9]+  seg).*\n");
    return std::regex_replace(succeeded(mpmCommand(Words{"report", database} + more)).out, kOfTheFile, "");
  };
  for (const Words& more : {Words(), Words{"--days", "1"}, Words{"--brief"}, Words{"--brief", "--days", "2"}})
    EXPECT_EQ(report(database_, more), report(fresh, more)) << testing::PrintToString(more);
  EXPECT_THAT(report(fresh, {"--brief"}), AllOf(HasSubstr("26 samples"), HasSubstr("1 alarm (")));

  const StoreReader corrected(database_), measured(fresh);
  const auto facts = [](const StoreReader& store) {  // of /api/cameras
    const monitor::SourceRecord source = store.sources()[0];
    return std::tuple(source.first, source.last, source.end, source.knownUntil());
  };
  EXPECT_EQ(facts(corrected), facts(measured));
  EXPECT_EQ(corrected.outages(1, INT64_MIN, INT64_MAX), measured.outages(1, INT64_MIN, INT64_MAX));
  const auto events = [](const StoreReader& store) {  // of its pictures
    auto all = monitor::test::allEvents(store);
    std::erase_if(all, [](const auto& event) { return event.kind == monitor::EventKind::kSource; });
    return all;
  };
  EXPECT_EQ(events(corrected), events(measured));
  const auto nights = [](const StoreReader& store, std::size_t series) {
    std::vector<std::pair<UnixMs, std::optional<bool>>> found;
    for (const auto& sample : monitor::test::allSamples(store, 1, store.series(1)[series].id))
      found.emplace_back(sample.time, sample.night);
    return found;
  };
  for (const std::size_t series : {0u, 1u}) EXPECT_EQ(nights(corrected, series), nights(measured, 0));
}

// Names come again where a camera counts, and contents at night.
TEST_F(ArchiveCommand, APictureOfTheNameAndContentOfAnotherIsNew) {
  const std::string list = folder_ / "times.csv";
  for (int day : {1, 2}) {
    const std::string name = "day" + std::to_string(day) + "/0001.png";
    fs::create_directory(in_ + "/day" + std::to_string(day));
    add(name);
    std::ofstream(list, std::ios::app) << name << ",2013-07-0" << day << " 00:00:00\n";
    EXPECT_THAT(succeeded(monitor(in_ + "/*/*.png", {"--times", "list:" + list})).err,
                AllOf(HasSubstr("1 new sample"), Not(HasSubstr("measured again"))));
  }
}

// They are of another view: that is no move of the camera, and the newest picture still has the view of those before.
TEST_F(ArchiveCommand, OlderPicturesDoNotTurnTheViewBack) {
  cv::Mat scene;
  cv::GaussianBlur(noisePicture(160, 220, 5), scene, {}, 3);
  const auto addDay = [&](const std::string& day, int first, int last, cv::Point corner) {
    for (int hour = first; hour < last; ++hour)
      cv::imwrite(in_ + "/" + day + "_" + (hour < 10 ? "0" : "") + std::to_string(hour) + "0000.png",
                  scene(cv::Rect(corner, cv::Size(144, 96))));
  };
  addDay("20240602", 0, 12, {30, 30});
  succeeded(monitor(in_));
  addDay("20240601", 0, 12, {60, 40});
  addDay("20240602", 12, 13, {30, 30});
  succeeded(monitor(in_));
  const StoreReader store(database_);
  for (const monitor::Event& event : store.events(1, 0, INT64_MAX)) EXPECT_NE(event.kind, monitor::EventKind::kView);
  const auto last = store.lastSamples(1, 1, INT64_MAX).back();
  EXPECT_EQ(last.picture, "20240602_120000.png");
  ASSERT_TRUE(last.measured_offset);
  EXPECT_NEAR(last.measured_offset->right, 0, 0.5);
}

TEST_F(ArchiveCommand, AVideoWithAnotherStartIsMeasuredAgain) {
  const std::string video = folder_ / "clip.avi";
  const auto brighter = [](int i) { return cv::Mat(40, 60, CV_8UC3, cv::Scalar::all(20 * i)); };
  if (!writeVideo(video, "MJPG", 1, {60, 40}, 3, brighter)) GTEST_SKIP() << "this OpenCV writes no video";
  const auto watch = [&](const std::string& start) { return succeeded(monitor(video, {"--start", start})).err; };
  EXPECT_THAT(watch("2013-07-08T00:00:00Z"), HasSubstr("3 new samples"));
  EXPECT_THAT(watch("2013-07-08T00:00:00Z"), AllOf(HasSubstr("0 new samples"), Not(HasSubstr("measured again"))));
  EXPECT_THAT(watch("2013-07-08T01:00:00Z"),
              AllOf(HasSubstr("the first frame was of 2013-07-08T00:00:00Z before, and is of 2013-07-08T01:00:00Z now"),
                    HasSubstr("3 new samples")));
  EXPECT_EQ(stored().size(), 3u);
  expectFailure(mpmCommand({"monitor", video, "--model", kSegmenter, "--db", database_}), 2,
                {"--start", "say again when it began"});
}

TEST_F(ArchiveCommand, PicturesWithAndWithoutTheirTimesAreNoOneSeries) {
  add("20130708_120000.png");
  (void)succeeded(monitor(in_, {"--times", "none"}));
  EXPECT_THAT(succeeded(monitor(in_)).err,
              AllOf(HasSubstr("measured again, as a series of their own: they had the time at which they were read"),
                    HasSubstr("1 new sample")));
  EXPECT_THAT(succeeded(monitor(in_)).err, HasSubstr("0 new samples"));
  expectFailure(monitor(in_, {"--times", "none"}), 2, {"--times", "times of their own: say how to read them"});
  EXPECT_THAT(stored(), ElementsAre("20130708_120000.png 2013-07-08T11:00:00Z")) << "not twice in one series";
}

// The database keeps the name, so that a later run, a report and a film know when the clock was put forward.
TEST_F(ArchiveCommand, GoesOnWithTheSummerTimeOfItsZone) {
  const auto watch = [&](const Words& more) {
    return succeeded(
        mpmCommand(Words{"monitor", in_, "--model", kSegmenter, "--reduce", "none", "--db", database_} + more));
  };
  add("20240115_120000.png");
  watch({"--time-zone", "Europe/Paris"});
  add("20240715_003000.png");
  EXPECT_THAT(watch({}).err, HasSubstr("read as Europe/Paris"));
  EXPECT_THAT(stored(),
              ElementsAre("20240115_120000.png 2024-01-15T11:00:00Z", "20240715_003000.png 2024-07-14T22:30:00Z"));
  const StoreReader store(database_);
  EXPECT_EQ(store.sources()[0].time_zone, "Europe/Paris");
  EXPECT_EQ(store.sources()[0].clock, vision::CameraClock("Europe/Paris"));
  EXPECT_EQ(store.sessions(1).back().time_zone, "Europe/Paris");
  fs::rename(in_, in_ + "-moved");
  succeeded(mpmCommand({"monitor", in_, "--db", database_, "--judge", "--night-hours", "00:00-01:00"}));
  expectFailure(mpmCommand({"monitor", in_, "--db", database_, "--judge", "--night-hours", "00:00-01:00", "--time-zone",
                            "Asia/Tokyo"}),
                2, {"--time-zone", "the times of Europe/Paris"});
  expectFailure(mpmCommand({"monitor", in_, "--db", database_, "--judge"}), 1, {"no rule tells day from night"});
  fs::rename(in_ + "-moved", in_);
  const auto report = mpmCommand({"report", database_, "--json"}).json();
  EXPECT_EQ(report["night"]["samples"], 1) << "00:30 by the clock in July";
  EXPECT_EQ(report["night_where"], "the clock shows 00:00 to 01:00");
  EXPECT_EQ(report["from_local"], "2024-01-15T12:00:00+01:00");
  EXPECT_EQ(report["to_local"], "2024-07-15T00:30:00+02:00");
  succeeded(mpmCommand({"report", database_, "--export", folder_ / "a.csv"}));
  EXPECT_THAT(readFile(folder_ / "a.csv"), HasSubstr("\n2024-07-14T22:30:00.000Z,2024-07-15T00:30:00+02:00,"));
  const auto film =
      succeeded(mpmCommand({"report", database_, "--brief", "--film", folder_ / "f.avi", "--film-at", "00:30"}));
  EXPECT_THAT(film.err, HasSubstr("2 days of Europe/Paris; 181 days between them"));
}

// A run that does not say where the times come from does not measure all pictures again by other times.
TEST_F(ArchiveCommand, GoesOnWithTheTimesOfItsPictures) {
  const auto add_with_exif = [&](int i) {
    const std::string name = "20130708_00000" + std::to_string(i) + ".jpg";
    add(name, i);
    setExifTime(in_ + "/" + name, "2014:01:01 00:00:0" + std::to_string(i));
    return name;
  };
  const std::string first = add_with_exif(1);
  succeeded(monitor(in_, {"--times", "name"}));
  const std::string second = add_with_exif(2);
  EXPECT_THAT(succeeded(monitor(in_)).err, AllOf(HasSubstr("1 new sample"), Not(HasSubstr("measured again"))));
  EXPECT_THAT(stored(), ElementsAre(first + " 2013-07-07T23:00:01Z", second + " 2013-07-07T23:00:02Z"));
  EXPECT_EQ(StoreReader(database_).sessions(1).back().times, "name");
  EXPECT_THAT(succeeded(monitor(in_, {"--times", "auto"})).err, HasSubstr("measured again")) << "as it is said";
  EXPECT_THAT(stored(), ElementsAre(first + " 2013-12-31T23:00:01Z", second + " 2013-12-31T23:00:02Z"));

  const std::string list = folder_ / "times.csv";
  std::ofstream(list) << first << ",2015-01-01 01:00:00\n" << second << ",2015-01-01 01:00:01\n";
  succeeded(monitor(in_, {"--times", "list:" + fs::relative(list).string()}));
  EXPECT_EQ(StoreReader(database_).sessions(1).back().times, "list:" + list) << "whatever the folder of the next run";
  EXPECT_THAT(succeeded(monitor(in_)).err, HasSubstr("0 new samples"));
  fs::remove(list);
  expectFailure(monitor(in_), 2, {"times.csv', is not there any more", "--times"});
  EXPECT_THAT(succeeded(monitor(in_, {"--times", "name"})).err, HasSubstr("measured again"));
}

TEST_F(ArchiveCommand, AZoneThatThisMachineLacksHidesNothing) {
  add("20240115_120000.png");
  succeeded(monitor(in_));
  monitor::Database(database_, monitor::Database::Mode::kReadWrite)
      .execute("UPDATE session SET time_zone = 'Mars/Base'");
  EXPECT_EQ(StoreReader(database_).sources()[0].clock, vision::CameraClock());
  succeeded(mpmCommand({"report", database_}));
  expectFailure(mpmCommand({"monitor", in_, "--model", kSegmenter, "--db", database_}), 2, {"'Mars/Base' is neither"});
}

// Motion keeps a link to its latest picture. Others keep a copy.
TEST_F(ArchiveCommand, TheLatestPictureIsOneSample) {
  const auto take = [&](int minute) {
    const std::string name = "01-2024031014" + std::to_string(minute) + "00-snapshot.png";
    add(name, minute);
    fs::remove(in_ + "/lastsnap.png");
    fs::create_symlink(name, in_ + "/lastsnap.png");
    fs::copy_file(in_ + "/" + name, in_ + "/latest.png", fs::copy_options::overwrite_existing);
    test::setExifTime(in_ + "/" + name, "2024:03:10 14:" + std::to_string(minute) + ":00");
    fs::copy_file(in_ + "/" + name, in_ + "/0_with_time.png", fs::copy_options::overwrite_existing);
    fs::copy_file(in_ + "/" + name, in_ + "/latest.png", fs::copy_options::overwrite_existing);
  };
  take(10);
  take(11);
  for (int run = 0; run < 3; ++run) {
    succeeded(monitor(in_));
    EXPECT_EQ(stored().size(), static_cast<std::size_t>(2 + run));
    take(12 + run);
  }
  EXPECT_THAT(stored(), Each(StartsWith("01-")));
  fs::remove(in_ + "/01-20240310141200-snapshot.png");
  fs::rename(in_ + "/01-20240310141100-snapshot.png", in_ + "/renamed_20240310_141100.png");
  EXPECT_THAT(succeeded(monitor(in_)).err, HasSubstr("1 new sample"));
}

TEST_F(ArchiveCommand, IsJudgedAnewWithoutTheModelThatMeasuredIt) {
  for (const char* name : {"20130708_120000.png", "20130710_120000.png"}) add(name);
  fs::copy_file(kSegmenter, folder_ / "vit.onnx");
  succeeded(mpmCommand({"monitor", in_, "--model", folder_ / "vit.onnx", "--db", database_, "--time-zone", "Z", "--lat",
                        "48", "--lon", "2"}));
  fs::remove(folder_ / "vit.onnx");
  const CommandResult judged = succeeded(mpmCommand(
      {"monitor", in_, "--db", database_, "--judge", "--night-hours", "11:00-13:00"}, {.stderr_is_terminal = true}));
  EXPECT_THAT(judged.err, HasSubstr("percent 1 of 100"));
  EXPECT_EQ(monitor::test::allSamples(StoreReader(database_))[0].night, true);
  succeeded(mpmCommand({"monitor", in_, "--db", database_, "--judge", "--night", "sun"}));
  EXPECT_EQ(monitor::test::allSamples(StoreReader(database_))[0].night, false) << "by the stored place";
  succeeded(mpmCommand({"monitor", in_, "--db", database_, "--judge", "--night", "none"}));
  EXPECT_EQ(monitor::test::allSamples(StoreReader(database_))[0].night, std::nullopt);
  expectFailure(mpmCommand({"monitor", in_, "--db", database_}), 2, {"vit.onnx'", "is not there any more"});
  expectFailure(mpmCommand({"monitor", in_, "--db", folder_ / "none.db", "--judge"}), 1, {"none.db"});
  expectFailure(mpmCommand({"monitor", in_, "--judge"}), 2, {"--db: no database"});
  expectFailure(mpmCommand({"monitor", "--judge"}), 2, {"no source"});
  expectFailure(mpmCommand({"monitor", "rtsp://gate", "--db", database_, "--judge"}), 1,
                {"holds no samples of 'rtsp://gate'"});
  EXPECT_FALSE(fs::exists(folder_ / "none.db"));
}

TEST_F(ArchiveCommand, AFolderWithoutTimesIsRefused) {
  add("a.png", 1);
  add("b.png", 2);
  const CommandResult result = monitor(in_);
  expectFailure(result, 1, {"has a time in its EXIF or its name", "--times list:FILE", "--times modified"});
  EXPECT_EQ(monitor(in_, {"--times", "modified"}).exit_code, 0);
  EXPECT_EQ(StoreReader(database_).count(1), 2);
  EXPECT_EQ(mpmCommand({"run", in_, "--model", kSegmenter}).exit_code, 0) << "goes on without";
}

TEST_F(ArchiveCommand, RunSaysTheTimesOfPictures) {
  add("20130708_055413.png");
  const auto line = mpmCommand({"run", in_, "--model", kSegmenter, "--json", "--time-zone", "-03:00"}).json();
  EXPECT_EQ(line["time"], "2013-07-08T08:54:13.000Z");
  EXPECT_FALSE(line.contains("film"));
}

// A folder is one source by whatever path, and not the folder of another place with the same relative name.
TEST_F(ArchiveCommand, ASourceIsItsAbsolutePath) {
  const std::string other = folder_ / "other";
  fs::create_directories(other + "/in");
  fs::create_directory_symlink(in_, folder_ / "link");
  add("20130708_055413.png", 1);
  writeImage(other + "/in/20130708_055413.png", 40, 60, 2);
  const auto from = [&](const std::string& place, const std::string& source) {
    return succeeded(monitor(source, {}, {.folder = place})).err;
  };
  EXPECT_THAT(from(folder_.path(), "in"), HasSubstr("1 new sample, 1 in"));
  for (const char* same : {"in/", "link", "./other/../in"})
    EXPECT_THAT(from(folder_.path(), same), HasSubstr("0 new samples")) << same;
  EXPECT_THAT(from(other, "in"), HasSubstr("1 new sample, 2 in"));
  EXPECT_THAT(from(folder_.path(), "in/*.png"), HasSubstr("1 new sample, 3 in")) << "a glob is another source";
  EXPECT_EQ(StoreReader(database_).sources()[0].name, fs::canonical(in_));
  for (const std::string& name : {in_, folder_ / "link"})
    EXPECT_EQ(mpmCommand({"report", database_, "--source", name, "--json"}).json()["samples"], 1) << name;
}

TEST_F(ArchiveCommand, APictureOfAnotherContentIsStored) {
  add("20130708_055413.png", 1);
  ASSERT_EQ(monitor(in_).exit_code, 0);
  add("20130708_055413.png", 2);
  const CommandResult other = monitor(in_);
  EXPECT_THAT(other.err, HasSubstr("1 picture has the name and time of a stored one and another content, such as "
                                   "'20130708_055413.png': stored as well"));
  EXPECT_THAT(other.err, HasSubstr("1 new sample, 2 in"));
  EXPECT_THAT(monitor(in_).err, HasSubstr("0 new samples, 2 in"));
  add("20130708_055413.png", 1);
  EXPECT_THAT(monitor(in_).err, HasSubstr("0 new samples, 2 in"));
}

TEST_F(ArchiveCommand, OptionsThatDoNotFitAreRefused) {
  add("20130708_055413.png");
  expectFailure(monitor(in_, {"--keep", "30"}), 2, {"--keep: it is for a camera"});
  expectFailure(monitor(in_, {"--start", "2013-07-08T00:00"}), 2, {"--start: it is for a video"});
  expectFailure(monitor("0", {}), 2, {": it is for pictures"});
  expectFailure(monitor("0", {"--follow"}), 2, {"--follow: only a folder"});
  for (const Words& more : {Words(), Words{"--start", "2013-07-08T00:00"}})
    expectFailure(monitor("nothing.png", more), 1, {"there is no file or folder 'nothing.png'"});
  expectFailure(monitor("0", {"--shard", "1/2"}), 2, {"--shard needs a folder"});
  expectFailure(monitor(in_, {"--times", "date"}), 2, {"'date' is not auto"});
  expectFailure(mpmCommand({"monitor", in_, "--db", database_, "--time-zone", "Mars"}), 2, {"'Mars' is neither"});
  expectFailure(monitor(in_, {"--times", "list:" + in_ + "/none.csv"}), 1, {"cannot read", "none.csv"});
}

TEST_F(ArchiveCommand, FollowStoresWhatIsNewUntilASignal) {
  add("20130708_055413.png");
  const auto stored_two = [&] {
    static int looks = 0;
    if (looks++ == 0) add("20130708_060000.png");
    return monitor::test::samplesStored(database_) >= 2;
  };
  succeeded(monitor(in_, {"--follow"}, {.signal_after_first_line = SIGTERM, .signal_when = stored_two}));
  EXPECT_THAT(stored(), ElementsAre(HasSubstr("055413"), HasSubstr("060000")));
}

// For docs/monitor.md: MPM_PICTURES=1000000 monitor_command_test --gtest_filter=ArchiveSpeed.*
TEST(ArchiveSpeed, LongListsAndStoresManyPictures) {
  const char* const asked = std::getenv("MPM_PICTURES");
  const int count = asked ? std::atoi(asked) : 100'000;
  const TemporaryFolder work;
  auto seconds = [begin = steadyNow()]() mutable {
    return static_cast<double>(steadyNow() - std::exchange(begin, steadyNow())) / 1000;
  };
  writeImage(work / "one.jpg", 64, 96);
  const std::string any_time = "2013:07:08 05:54:13";
  setExifTime(work / "one.jpg", any_time.c_str());
  std::string bytes = readFile(work / "one.jpg");
  const std::size_t at = bytes.find(any_time);
  ASSERT_NE(at, std::string::npos);
  fs::create_directory(work / "in");
  for (int i = 0; i < count; ++i) {
    const UnixMs time = 1'000'000'000'000 + i * 30 * kMinuteMs;
    bytes.replace(at, any_time.size(), formatted(time, "%Y:%m:%d %H:%M:%S"));
    std::ofstream(work / "in/" + formatted(time, "%Y%m%d_%H%M%S.jpg")) << bytes;
  }
  std::printf("wrote %d pictures in %.1f s\n", count, seconds());
  const auto spec = vision::parseSourceSpec(work / "in");
  for (const char* from : {"name", "exif"}) {
    EXPECT_EQ(vision::openArchive(spec, {.times = vision::parseTimes(from)}, {})->size(), count);
    std::printf("listed and sorted by %s in %.1f s\n", from, seconds());
  }
  {
    monitor::StoreWriter writer(work / "a.db");
    writer.beginSession(monitor::test::session("in"), 0);
    for (int i = 0; i < count; ++i) {
      monitor::Sample sample =
          monitor::test::sampleAt(1'000'000'000'000 + i * 30 * kMinuteMs, 300 + i % 99, i % 48 < 20);
      sample.picture = formatted(sample.time, "%Y%m%d_%H%M%S.jpg");
      sample.whole().areas.clear();
      for (int label = 0; label < 9; ++label)
        sample.whole().areas.emplace_back(label, 0.1 + i % 97 * 1e-4 + label * 1e-3);
      writer.append(sample);
    }
    EXPECT_TRUE(writer.flush());
  }
  const auto size = static_cast<double>(fs::file_size(work / "a.db"));
  std::printf("stored in %.1f s: %.0f bytes for a picture\n", seconds(), size / count);
  std::int64_t known = 0;
  StoreReader(work / "a.db").pictures(1, [&](auto&&...) { ++known; });
  std::printf("read what is stored in %.1f s\n", seconds());
  EXPECT_EQ(known, count);
}

}  // namespace
}  // namespace mpm::test
