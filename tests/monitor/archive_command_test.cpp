// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

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
  const std::string list = folder_ / "times.csv";
  const auto say = [&](const std::string& name, const char* time) {
    std::ofstream(list, std::ios::app) << name << "," << time << "\n";
  };
  for (const char* name : {"20130708_000001.png", "20130708_000002.png"}) add(name, name[14]);
  EXPECT_THAT(watch("name"), Not(again));
  say("20130708_000002.png", "2015-01-01 01:00:00");
  EXPECT_THAT(watch("list:" + list),
              AllOf(again, HasSubstr("2 new samples"),
                    HasSubstr("'20130708_000002.png' was of 2013-07-07T23:00:02Z before, and is of 2015-01-01T")));
  EXPECT_THAT(stored(),
              ElementsAre("20130708_000001.png 2013-07-07T23:00:01Z", "20130708_000002.png 2015-01-01T00:00:00Z"));
  add("20130708_000003.png", 3);
  say("20130708_000003.png", "2016-01-01 01:00:00");
  EXPECT_THAT(watch("list:" + list), AllOf(Not(again), HasSubstr("1 new sample"))) << "a list that grows";
  fs::remove(list);
  say("20130708_000002.png", "2015-01-01 01:00:00");
  say("20130708_000003.png", "2016-01-01 01:00:01");
  EXPECT_THAT(watch("list:" + list), AllOf(again, HasSubstr("'20130708_000003.png'"))) << "a list that was mended";
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

// The numbers are those of the worlds (tests/worlds).
TEST_F(ArchiveCommand, IsJudgedByItsOwnZoneAlone) {
  add("20240715_003000.png");
  succeeded(mpmCommand({"monitor", in_, "--model", kSegmenter, "--db", database_, "--time-zone", "Europe/Paris"}));
  fs::rename(in_, in_ + "-moved");
  const Words judge = {"monitor", in_, "--db", database_, "--judge"};
  succeeded(mpmCommand(judge + Words{"--night-hours", "00:00-01:00"}));
  EXPECT_EQ(monitor::test::latestSamples(StoreReader(database_)).at(0).night, true) << "by the clock in July";
  expectFailure(mpmCommand(judge + Words{"--night-hours", "00:00-01:00", "--time-zone", "Asia/Tokyo"}), 2,
                {"--time-zone", "the times of Europe/Paris"});
  expectFailure(mpmCommand(judge), 1, {"no rule tells day from night"});
}

// A run that does not say where the times come from does not measure all pictures again by other times.
TEST_F(ArchiveCommand, GoesOnWithTheListOfTimesWhereverItRuns) {
  const std::string list = folder_ / "times.csv";
  add("20130708_000001.png");
  std::ofstream(list) << "20130708_000001.png,2015-01-01 01:00:00\n";
  succeeded(monitor(in_, {"--times", "list:" + fs::relative(list).string()}));
  EXPECT_EQ(StoreReader(database_).sessions(1).back().times, "list:" + list);
  EXPECT_THAT(succeeded(monitor(in_)).err, HasSubstr("0 new samples"));
  EXPECT_THAT(stored(), ElementsAre("20130708_000001.png 2015-01-01T00:00:00Z"));
  fs::remove(list);
  expectFailure(monitor(in_), 2, {"times.csv', is not there any more", "--times"});
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
