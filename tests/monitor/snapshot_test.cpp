// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/snapshot.h"

#include <sys/stat.h>

#include <latch>
#include <opencv2/imgcodecs.hpp>
#include <set>

#include "base/atomic_file.h"
#include "monitor/privacy.h"
#include "monitor/results.h"
#include "monitor/wait.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using SnapshotWriterTest = InFolder;

InferenceResult result(UnixMs time) {
  return resultOf(std::vector<ClassInfo>(4), cv::Mat(8, 8, CV_8UC3, cv::Scalar(10, 20, 30)), time, {},
                  mpmBefore({2, 5}));
}

class SnapshotTest : public InFolder {
 protected:
  void shoot(UnixMs time, const std::string& source = "0") const {
    writeSnapshot(folder_.path(), result(time), sampleAt(time), {source});
  }
};

TEST_F(SnapshotTest, WritesTheFrameTheOverlayAndWhatIsKnown) {
  const std::string path = writeSnapshot(folder_ / "shots", result(kNoon + 250), sampleAt(kNoon + 250),
                                         {"rtsp://u:hunter2@cam", "d", "yard"});
  EXPECT_EQ(path, folder_ / "shots/2026-06-01T12-00-00.250Z.png");
  EXPECT_EQ(cv::imread(path).at<cv::Vec3b>(3, 3), cv::Vec3b(10, 20, 30)) << "clean";
  EXPECT_NE(cv::imread(folder_ / "shots/2026-06-01T12-00-00.250Z_overlay.png").at<cv::Vec3b>(3, 3),
            cv::Vec3b(10, 20, 30));
  const auto json = nlohmann::json::parse(readFile(folder_ / "shots/2026-06-01T12-00-00.250Z.json"));
  EXPECT_EQ(json["token_counts"], nlohmann::json({660, 491, 377}));
  EXPECT_EQ(json["reduce"], "mpm:blocks=2,5");
  EXPECT_EQ(json["source"], "rtsp://***@cam");
  EXPECT_EQ(json["camera"], "yard");
  EXPECT_EQ(json["database"], "d");
  EXPECT_FALSE(json.contains("hides"));
  EXPECT_EQ(json["area_fraction"]["class_0"], 0.75);
  EXPECT_MPM_ERROR(writeSnapshot("/dev/null/x", result(kNoon), sampleAt(kNoon), {"0"}), "/dev/null/x");
  InferenceResult timed = result(kNoon);
  timed.estimate.ms.total = 12.5;
  Sample sample = sampleAt(kNoon);
  sample.regions.push_back(regionOf(0, {1, 2, 3}, 8, {{1, 0.5}}, "gate"));
  const std::string again = writeSnapshot(folder_ / "shots", timed, sample, {"0"});
  const StoredFrame stored = readStored(again.substr(0, again.size() - 4));
  EXPECT_EQ(stored.token_counts, sample.token_counts);
  EXPECT_EQ(stored.ms, 12.5);
  EXPECT_EQ(stored.areas.at("").at("class_0"), 0.75);
  EXPECT_EQ(stored.areas.at("gate"), (std::map<std::string, double>{{"class_1", 0.5}}));
}

TEST_F(SnapshotTest, WritesSegmentsAndDepth) {
  InferenceResult segments = result(kNoon);
  segments.estimate.task = Task::kInstance;
  segments.estimate.ids = cv::Mat::zeros(8, 8, CV_16U);
  segments.estimate.ids.colRange(0, 4).setTo(1);
  segments.estimate.segments = {{.id = 1, .label = 2, .score = 0.9, .area = 32}};
  writeSnapshot(folder_.path(), segments, sampleAt(kNoon), {"0"});
  const std::string stem = folder_ / "2026-06-01T12-00-00.000Z";
  EXPECT_EQ(cv::countNonZero(cv::imread(stem + "_segments.png", cv::IMREAD_UNCHANGED) == 1), 32);
  EXPECT_NE(cv::imread(stem + "_overlay.png").at<cv::Vec3b>(3, 1), cv::Vec3b(10, 20, 30));
  const auto list = nlohmann::json::parse(std::ifstream(stem + "_segments.json"));
  EXPECT_EQ(list["task"], "instance");
  EXPECT_EQ(list["segments"][0]["class"], "class_2");

  segments.frame.time = kNoon + kDayMs / 2;
  segments.estimate.task = Task::kBoxes;
  segments.estimate.segments = {
      {.id = 2, .label = 2, .score = 0.9, .area = 0, .box = cv::Rect2d(1, 1, 5.5, 4)}};  // 1 was hidden
  writeSnapshot(folder_.path(), segments, sampleAt(kNoon + kDayMs / 2), {"0"});
  const std::string boxes = folder_ / "2026-06-02T00-00-00.000Z";
  EXPECT_EQ(nlohmann::json::parse(std::ifstream(boxes + "_segments.json"))["segments"][0]["box"],
            (nlohmann::json{1.0, 1.0, 6.5, 5.0}));

  InferenceResult depth = result(kNoon + kDayMs);
  depth.estimate.labels.release();
  depth.estimate.task = Task::kDepth;
  depth.estimate.depth = cv::Mat(8, 8, CV_32F, cv::Scalar(2));
  depth.estimate.depth.at<float>(3, 3) = 4;
  depth.estimate.depth_range = depthRange(depth.estimate.depth);
  writeSnapshot(folder_.path(), depth, sampleAt(kNoon + kDayMs), {"0"});
  const std::string next = folder_ / "2026-06-02T12-00-00.000Z";
  const cv::Mat pixels = cv::imread(next + "_depth.png", cv::IMREAD_UNCHANGED);
  ASSERT_EQ(pixels.type(), CV_16U);
  const auto json = nlohmann::json::parse(std::ifstream(next + ".json"));
  EXPECT_EQ(json["depth"]["unit"], "relative");
  EXPECT_NEAR(json["depth"]["offset"].get<double>() + json["depth"]["step"].get<double>() * pixels.at<ushort>(3, 3), 4,
              1e-3);
  EXPECT_GT(cv::imread(next + "_depth_colors.png").rows, 8) << "the legend below";
  EXPECT_FALSE(fs::exists(next + "_overlay.png"));
  shoot(kNoon + 2 * kDayMs);
  EXPECT_EQ(forgetSnapshots(folder_.path(), kNoon + 2 * kDayMs, 0.1, 0, {"0"}), 14) << "twice five and four files";
}

// As a folder inside somebody else's private one, or on a disk that fails: the system does not even say what it is.
TEST_F(SnapshotTest, AFolderThatCannotBeLookedAtIsAnErrorOfOurs) {
  const std::string unseen = folder_ / std::string(300, 'x');
  // The name alone has 300 characters, so the line may be longer than others.
  const auto saying = [](const char* part) { return ::testing::ThrowsMessage<Error>(HasSubstr(part)); };
  EXPECT_THAT([&] { writeSnapshot(unseen, result(kNoon), sampleAt(kNoon), {"0"}); }, saying("cannot make the folder"));
  EXPECT_THAT([&] { forgetSnapshots(unseen, kNoon, 1, 0, {"0"}); }, saying("cannot read folder"));
  EXPECT_THAT([&] { (void)freeMegabytes(unseen); }, saying("cannot read the free space"));
}

TEST_F(SnapshotTest, NothingStaysOfAPictureThatFails) {
  fs::create_directories(folder_ / "2026-06-01T12-00-00.000Z_overlay.png/x");
  EXPECT_MPM_ERROR(shoot(kNoon), "_overlay.png");
  EXPECT_FALSE(fs::exists(folder_ / "2026-06-01T12-00-00.000Z.png"));
}

TEST_F(SnapshotTest, ForgetsOldOnesAndNothingElse) {
  for (int day = 0; day < 5; ++day) shoot(kNoon + day * kDayMs);
  std::ofstream(folder_ / "2020-notes.txt") << "mine";
  EXPECT_EQ(forgetSnapshots(folder_.path(), kNoon + 4 * kDayMs, 1.5, 0, {"0"}), 9) << "three of five, three files each";
  EXPECT_TRUE(fs::exists(folder_ / "2020-notes.txt"));
  EXPECT_TRUE(fs::exists(folder_ / "2026-06-05T12-00-00.000Z.png"));
  EXPECT_EQ(forgetSnapshots(folder_.path(), kNoon + 4 * kDayMs, 0, 0, {"0"}), 0);
  EXPECT_EQ(forgetSnapshots(folder_.path(), kNoon + 4 * kDayMs, 0, 1e15, {"0"}), 3)
      << "a disk that is never free enough";
  EXPECT_TRUE(fs::exists(folder_ / "2020-notes.txt"));
}

TEST_F(SnapshotTest, SeveralSourcesMayShareAFolder) {
  for (int day = 0; day < 4; ++day)
    for (const char* source : {"rtsp://u:hunter2@yard", "street"}) shoot(kNoon + day * kDayMs, source);
  const auto files = [&] { return mpm::test::filesIn(folder_.path()).size(); };
  EXPECT_EQ(files(), 24u) << "of the same moment, none in another's place";
  shoot(kNoon, "street");
  EXPECT_EQ(files(), 24u) << "again is once";
  EXPECT_EQ(forgetSnapshots(folder_.path(), kNoon + 3 * kDayMs, 1.5, 0, PictureOwner{"rtsp://u:hunter2@yard"}), 6);
  EXPECT_EQ(forgetSnapshots(folder_.path(), kNoon + 3 * kDayMs, 0, 1e15, PictureOwner{"rtsp://u:hunter2@yard"}), 3);
  EXPECT_EQ(files(), 15u) << "all of the other, and the newest";
  EXPECT_EQ(forgetSnapshots(folder_.path(), kNoon + 3 * kDayMs, 0, 1e15, PictureOwner{"garden"}), 0);
  std::ofstream(folder_ / "2020-01-01T00-00-00.000Z.json") << "half a";
  EXPECT_EQ(forgetSnapshots(folder_.path(), kNoon + 3 * kDayMs, 1, 0, PictureOwner{"street"}), 6);
  EXPECT_TRUE(fs::exists(folder_ / "2020-01-01T00-00-00.000Z.json")) << "nobody knows whose it is";
}

// One stream, once with a part that must not be seen: what is of one camera is neither shown nor deleted for another.
TEST_F(SnapshotTest, CamerasOfOneStreamMayShareAFolder) {
  const PictureOwner plain{"rtsp://u:hunter2@cam", "a", "yard"}, hiding{"rtsp://u:other@cam", "b", "yard"},
      renamed{"rtsp://***@cam", "a", "gate"};
  for (int day = 0; day < 4; ++day) {
    for (const PictureOwner& owner : {plain, hiding})
      writeSnapshot(folder_.path(), result(kNoon + day * kDayMs), sampleAt(kNoon + day * kDayMs), owner);
  }
  const auto stems = [&](const PictureOwner& owner) {
    std::set<std::string> found;
    for (const Snapshot& one : snapshots(folder_.path(), owner, 0, INT64_MAX)) found.insert(one.stem);
    return found;
  };
  EXPECT_EQ(stems(plain).size(), 4u);
  EXPECT_EQ(stems(renamed), stems(plain)) << "a camera keeps its pictures";
  EXPECT_THAT(stems({"rtsp://***@cam"}), SizeIs(0)) << "of no database";
  for (const std::string& stem : stems(hiding)) EXPECT_FALSE(stems(plain).contains(stem));
  EXPECT_EQ(forgetSnapshots(folder_.path(), kNoon + 3 * kDayMs, 0, 1e15, plain), 9);
  EXPECT_EQ(stems(plain).size(), 1u);
  EXPECT_EQ(stems(hiding).size(), 4u);
}

// Whatever the umask says.
TEST_F(SnapshotTest, OthersCannotReadWhatHidesSomething) {
  const auto modes = [&](UnixMs time, bool hides) {
    InferenceResult one = result(time);
    one.estimate.cluster_of_token = {{0, 0, 1, 2}};
    one.estimate.grid = {2, 2};
    if (hides)
      Privacy({.hidden = {{.name = "all", .size = {8, 8}, .polygons = {{{0, 0}, {7, 0}, {7, 7}}}}}}).hide(one, {});
    writeSnapshot(folder_.path(), one, sampleAt(time), {"0"}, {}, true);
    std::set<int> found;
    int files = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().filename().string().starts_with(fileTime(time, true)))
        ++files, found.insert(static_cast<int>(entry.status().permissions()));
    }
    EXPECT_EQ(files, 4);
    return found;
  };
  const mode_t before = ::umask(0);
  EXPECT_THAT(modes(kNoon, true), ElementsAre(0640));
  EXPECT_THAT(modes(kNoon + 1000, false), ElementsAre(0666));
  ::umask(before);
  const auto json = nlohmann::json::parse(readFile(folder_ / "2026-06-01T12-00-00.000Z.json"));
  EXPECT_EQ(json["hides"]["blur"], nlohmann::json::array());
}

// What was stored before something was to be hidden is shown without it, where it lay then.
TEST_F(SnapshotTest, WhatIsHiddenByNowIsHiddenInAStoredPicture) {
  const vision::Region corner{.name = "corner", .size = {8, 8}, .polygons = {{{0, 0}, {2, 0}, {2, 2}, {0, 2}}}};
  const PrivacyOptions regions{.hidden = {corner}}, all{.hidden = {corner}, .blurred = {"class_0", "class_1"}};
  Sample sample = sampleAt(kNoon);
  sample.view_offset = {.right = 4};
  sample.whole().set("flagged", 1);
  InferenceResult plain = result(kNoon), hiding = result(kNoon + 1000);
  plain.frame.image.col(7).setTo(cv::Scalar::all(255));
  Privacy(regions).hide(hiding, sample.view_offset);
  const auto stored = [&](const InferenceResult& one) {
    const std::string path = writeSnapshot(folder_.path(), one, sample, {"rtsp://u:hunter2@cam", "d", "yard"});
    return readStored(path.substr(0, path.size() - 4));
  };
  const StoredFrame before = stored(plain), after = stored(hiding);
  EXPECT_EQ(std::tuple(before.time, before.owner.source, before.owner.database, before.owner.camera, before.flagged),
            std::tuple(kNoon, "rtsp://***@cam", "d", "yard", true));
  EXPECT_EQ(std::tuple(before.view_offset.right, before.view_offset.zoom), std::tuple(4, 1));
  const auto black = [](const cv::Mat& picture) { return cv::countNonZero(picture.reshape(1) == 0) / 3; };
  const auto sharp = [](const cv::Mat& picture) { return picture.at<cv::Vec3b>(6, 7)[0] == 255; };
  for (const char* ending : {".png", "_overlay.png"}) {
    EXPECT_EQ(black(before.picture(ending, {})), 0);
    EXPECT_EQ(black(before.picture(ending, regions)), 18) << ending;
    EXPECT_GT(black(before.picture(ending, regions)(cv::Rect(0, 0, 3, 3))), 8) << "the old place";
    EXPECT_GT(black(before.picture(ending, regions)(cv::Rect(4, 0, 3, 3))), 8) << "where it had moved to";
  }
  EXPECT_TRUE(sharp(before.picture(".png", regions)));
  EXPECT_FALSE(sharp(before.picture(".png", all))) << "blurred as a whole: no model has seen it";
  EXPECT_FALSE(after.showsOf(regions).on());
  EXPECT_FALSE(after.showsOf({}).on());
  EXPECT_TRUE(after.showsOf(all).hidden.empty());
  EXPECT_THAT(after.showsOf(all).blurred, SizeIs(2));
  EXPECT_EQ(readPrivacy(all.json()).json(), all.json());
  EXPECT_FALSE(readPrivacy("").on());
}

// A writer and what it reported.
class Writing {
  static auto into(auto& list) {
    return [&list](const std::string& text, SnapshotWriter::Occasion occasion) { list.add({text, occasion}); };
  }

 public:
  explicit Writing(
      SnapshotOptions options, std::function<UnixMs()> now = [] { return INT64_MAX; })
      : writer(std::move(options), {into(written), into(failed), [this](int files) { removed.add(files); }},
               std::move(now)) {}

  Collected<std::pair<std::string, SnapshotWriter::Occasion>> written, failed;
  Collected<int> removed;
  SnapshotWriter writer;

  // Takes a picture at this moment and waits for it.
  void takeAt(UnixMs time) {
    const std::size_t before = written.size() + failed.size();
    ASSERT_TRUE(writer.save(result(time), sampleAt(time), "0"));
    ASSERT_TRUE(eventually([&] { return written.size() + failed.size() > before; }));
  }
  // Shows it a frame at this moment and waits for so many pictures of it.
  void addAt(UnixMs time, std::int64_t steady, std::size_t pictures = 1) {
    const std::size_t before = written.size() + failed.size();
    InferenceResult frame = result(time);
    frame.frame.steady = steady;
    const Sample sample = sampleAt(time);
    writer.add(frame, &sample, "0");
    ASSERT_TRUE(eventually([&] { return written.size() + failed.size() >= before + pictures; }));
  }
};

std::ptrdiff_t filesIn(const std::string& folder, const std::string& ending) {
  std::ptrdiff_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) files += entry.path().string().ends_with(ending) ? 1 : 0;
  return files;
}

TEST_F(SnapshotWriterTest, ATimeLapseTakesAPictureEverySoOften) {
  Writing writing({.folder = folder_ / "shots", .every_minutes = 10});
  for (int minute = 0; minute <= 25; ++minute)
    writing.addAt(kNoon + minute * kMinuteMs, 1 + minute * kMinuteMs, minute % 10 == 0 ? 1 : 0);
  writing.addAt(kNoon + kHourMs, 1 + 25 * kMinuteMs);  // a video of the past runs faster than the clock
  writing.addAt(kNoon - kHourMs, 1 + 35 * kMinuteMs);  // the clock of the machine went back
  ASSERT_EQ(writing.written.size(), 5u);
  EXPECT_EQ(writing.written.all()[1],
            std::pair(folder_ / "shots/2026-06-01T12-10-00.000Z.png", SnapshotWriter::Occasion::kTimeLapse));
  EXPECT_EQ(filesIn(folder_ / "shots", "_overlay.png"), 5);
}

TEST_F(SnapshotWriterTest, ATimeLapseGoesOnWhereAnEarlierRunLeftIt) {
  for (const auto& [minute, pictures] : {std::pair(0, 1), {53, 0}, {54, 1}, {120, 1}}) {
    Writing writing({.folder = folder_.path(), .every_minutes = 60});
    writeSnapshot(folder_.path(), result(kNoon + minute * kMinuteMs - 1000), {}, {"street"});
    writing.addAt(kNoon + minute * kMinuteMs, 1, static_cast<std::size_t>(pictures));
    writing.takeAt(kNoon - kDayMs);  // behind what was shown before
    EXPECT_EQ(writing.written.size(), static_cast<std::size_t>(pictures) + 1) << minute;
    EXPECT_THAT(writing.failed.all(), SizeIs(0));
  }
  Writing writing({.folder = folder_.path(), .every_minutes = 60});
  writing.addAt(kNoon + 150 * kMinuteMs, 1, 0);
  writing.takeAt(kNoon - kDayMs);
  writing.addAt(kNoon + 180 * kMinuteMs, 1 + 30 * kMinuteMs);
}

TEST_F(SnapshotWriterTest, ATimeLapseOfManyRunsKeepsItsInterval) {
  std::vector<int> taken;
  for (int minute = 0; minute <= 40; ++minute) {
    const std::ptrdiff_t before = filesIn(folder_.path(), "_overlay.png");
    {
      Writing writing({.folder = folder_.path(), .every_minutes = 10});
      writing.addAt(kNoon + minute * kMinuteMs, 1, 0);
    }
    if (filesIn(folder_.path(), "_overlay.png") > before) taken.push_back(minute);
  }
  EXPECT_THAT(taken, ElementsAre(0, 9, 19, 29, 39));
}

TEST_F(SnapshotWriterTest, ASampleThatIsALittleEarlyIsThatOfATimeLapse) {
  Writing writing({.folder = folder_ / "shots", .every_minutes = 10});
  for (int i = 0; i < 4; ++i) {
    const std::int64_t later = i * 10 * kMinuteMs - (i % 2 == 0 ? 0 : 40);
    writing.addAt(kNoon + later, 1 + later);
  }
}

// Pictures of an archive come as fast as the model takes them.
void addArchive(Writing& writing, const std::vector<UnixMs>& times) {
  for (std::int64_t steady = 1; const UnixMs time : times) {
    InferenceResult picture = result(time);
    picture.frame.needed = true;
    picture.frame.steady = steady++;
    const Sample sample = sampleAt(time);
    writing.writer.add(picture, &sample, "0");
  }
}

TEST_F(SnapshotWriterTest, ATimeLapseOfAnArchiveLeavesNothingOut) {
  Writing writing({.folder = folder_ / "shots", .every_minutes = 10});
  std::vector<UnixMs> times;  // a few seconds from their moments
  for (int i = 0; i < 12; ++i) times.push_back(kNoon + i * 10 * kMinuteMs + (i % 2 == 0 ? 4000 : -4000));
  addArchive(writing, times);
  EXPECT_TRUE(eventually([&] { return writing.written.size() == 12; })) << writing.written.size();
}

TEST_F(SnapshotWriterTest, ATimeLapseOfAnArchiveGoesOnAndBeginsAgainWhereItIsMeasuredAgain) {
  std::vector<UnixMs> times;
  for (int i = 0; i < 60; ++i) times.push_back(kNoon + i * 10 * kMinuteMs);
  const SnapshotOptions hourly{.folder = folder_ / "shots", .every_minutes = 60};
  {
    Writing first(hourly);
    addArchive(first, {times.begin(), times.begin() + 5});
  }
  Writing writing(hourly);
  addArchive(writing, {times.begin() + 5, times.end()});
  EXPECT_TRUE(eventually([&] { return writing.written.size() == 9; })) << writing.written.size();
  EXPECT_THAT(writing.written.all()[0].first, HasSubstr("T13-00-00")) << "an hour after that of the first run";
  addArchive(writing, times);
  EXPECT_TRUE(eventually([&] { return writing.written.size() == 19; })) << writing.written.size();
}

TEST_F(SnapshotWriterTest, APictureOfATimeLapseThatTheDiskIsTooSlowForIsReportedOnceADay) {
  std::latch written(1);
  Collected<std::string> failed;
  SnapshotWriter writer({.folder = folder_.path(), .every_minutes = 10},
                        {.on_failed = [&](const std::string& problem, auto) { failed.add(problem); },
                         .ownerOf =
                             [&](const std::string& source) {
                               written.wait();
                               return PictureOwner{source};
                             }});
  const auto add = [&](int first, int last) {
    for (int minute = first; minute <= last; ++minute) {
      InferenceResult frame = result(kNoon + minute * kMinuteMs);
      frame.frame.steady = 1 + minute * kMinuteMs;
      const Sample sample = sampleAt(frame.frame.time);
      writer.add(frame, &sample, "0");
    }
    return failed.size();
  };
  EXPECT_EQ(add(0, 30), 0u) << "four wait for the disk";
  EXPECT_EQ(add(31, 48), 0u) << "the sample of minute 49 may take the turn";
  EXPECT_EQ(add(49, 49), 1u);
  EXPECT_THAT(failed.all()[0], HasSubstr("left out"));
  EXPECT_EQ(add(50, 48 + 24 * 60), 1u);
  EXPECT_EQ(add(49 + 24 * 60, 49 + 24 * 60), 2u);
  written.count_down();
}

TEST_F(SnapshotWriterTest, APictureThatIsMeasuredAgainIsWrittenAgain) {
  for (int run = 0; run < 2; ++run) {
    Writing writing({.folder = folder_ / "shots", .every_minutes = 60});
    writing.addAt(kNoon, 1);
  }
}

TEST_F(SnapshotWriterTest, APictureIsWrittenOnceItIsKnownWhoseItIs) {
  std::atomic<bool> known = false;
  Collected<std::string> written, failed;
  SnapshotWriter writer({.folder = folder_.path()},
                        {.on_written = [&](const std::string& path, auto) { written.add(path); },
                         .on_failed = [&](const std::string& problem, auto) { failed.add(problem); },
                         .ownerOf =
                             [&](const std::string& source) {
                               if (!known) throw Error("not yet");
                               return PictureOwner{source, "d", "yard"};
                             }});
  ASSERT_TRUE(writer.save(result(kNoon), sampleAt(kNoon), "0"));
  ASSERT_TRUE(eventually([&] { return failed.size() == 1; }));
  known = true;
  ASSERT_TRUE(writer.save(result(kNoon), sampleAt(kNoon), "0"));
  ASSERT_TRUE(eventually([&] { return written.size() == 1; }));
  EXPECT_EQ(snapshotOwner(folder_ / "2026-06-01T12-00-00.000Z")->database, "d");
}

TEST_F(SnapshotWriterTest, ARecordingHasEveryFrameAndItsSource) {
  Writing writing({.folder = folder_.path()});
  writing.addAt(kNoon - 40, 1, 0);
  writing.writer.setRecording(true);
  for (int i = 0; i < 3; ++i) writing.addAt(kNoon + i * 40, i * 40);
  EXPECT_EQ(writing.writer.recording().written, 3);
  EXPECT_EQ(writing.writer.recording().left_out, 0);
  EXPECT_EQ(nlohmann::json::parse(readFile(folder_ / "2026-06-01T12-00-00.040Z.json"))["source"], "0");
  writing.writer.setRecording(false);
  writing.addAt(kNoon + 1000, 1000, 0);
  writing.takeAt(kNoon + 2000);  // behind what was shown before
  EXPECT_EQ(filesIn(folder_.path(), ".png"), 3 + 2);
  EXPECT_EQ(filesIn(folder_.path(), "_overlay.png"), 1) << "of the one that was asked for";
}

TEST_F(SnapshotWriterTest, APictureHasItsMergeMapWhereThatIsWantedAndTokensWereMerged) {
  InferenceResult merged = result(kNoon);
  merged.frame.image.colRange(0, 4).setTo(cv::Scalar::all(200));
  merged.hidden = cv::Mat::zeros(8, 8, CV_8U);
  merged.hidden.row(0).setTo(255);
  merged.estimate.grid = {2, 2};
  merged.estimate.cluster_of_token = {{0, 1, 2, 3}, {0, 0, 1, 2}};
  Writing writing({.folder = folder_.path(), .merge_maps = true});
  ASSERT_TRUE(writing.writer.save(merged, sampleAt(kNoon), "0"));
  writing.takeAt(kNoon + 1000);
  writing.writer.setOptions({.folder = folder_.path()});
  merged.frame.time += 2000;
  ASSERT_TRUE(writing.writer.save(merged, sampleAt(kNoon + 2000), "0"));
  ASSERT_TRUE(eventually([&] { return writing.written.size() == 3; }));
  EXPECT_EQ(filesIn(folder_.path(), "_merge.png"), 1) << "nothing merged in the second, it is not wanted of the third";
  const cv::Mat picture = cv::imread(folder_ / "2026-06-01T12-00-00.000Z_merge.png");
  EXPECT_EQ(cv::countNonZero(picture.row(0).reshape(1)), 0);
  EXPECT_EQ(picture.at<cv::Vec3b>(1, 4), cv::Vec3b(105, 110, 115)) << "the mean of both halves, after the last step";
  EXPECT_EQ(picture.at<cv::Vec3b>(6, 1), cv::Vec3b(200, 200, 200));
  EXPECT_EQ(forgetSnapshots(folder_.path(), kNoon + 10000, 9 / 86400.0, 0, {"0"}), 4) << "with its map";
}

TEST_F(SnapshotWriterTest, APictureHasTheChosenColoursAndTheNight) {
  Writing writing({.folder = folder_.path()});
  writing.writer.setStyle({.opacity = 1, .colors = {{7, 8, 9}, {}, {}, {}}});
  writing.takeAt(kNoon);
  const std::string stem = folder_ / "2026-06-01T12-00-00.000Z";
  EXPECT_EQ(cv::imread(stem + "_overlay.png").at<cv::Vec3b>(3, 3), cv::Vec3b(7, 8, 9));
  EXPECT_EQ(nlohmann::json::parse(readFile(stem + ".json"))["night"], false);
}

TEST_F(SnapshotWriterTest, RetentionRemovesTheOld) {
  Writing writing({.folder = folder_.path(), .keep_days = 10});
  for (const int day : {0, 10, 25, 30}) writing.takeAt(kNoon + day * kDayMs);
  EXPECT_EQ(filesIn(folder_.path(), ".json"), 4) << "each time the clock may be wrong";
  writeSnapshot(folder_.path(), result(kNoon), sampleAt(kNoon), {"street"});
  Writing again({.folder = folder_.path(), .keep_days = 10});
  again.takeAt(kNoon + 30 * kDayMs + kHourMs);
  EXPECT_EQ(filesIn(folder_.path(), ".json"), 3 + 1) << "of another source";
  EXPECT_THAT(again.removed.all(), ElementsAre(6)) << "two pictures of three files";
}

TEST_F(SnapshotWriterTest, AClockThatIsWrongMakesNoPictureOld) {
  const UnixMs year = 365 * kDayMs;
  {
    Writing writing({.folder = folder_.path(), .keep_days = 10});
    for (const UnixMs time : {kNoon, kNoon + 1000, kNoon + 12 * year}) writing.takeAt(time);
    EXPECT_EQ(filesIn(folder_.path(), ".json"), 3) << "it jumps while the program runs";
  }
  for (const char* ending : {".json", ".png", "_overlay.png"})
    fs::remove(folder_ / "2038-05-29T12-00-00.000Z" + ending);
  Writing writing({.folder = folder_.path(), .keep_days = 10});
  writing.takeAt(kNoon + 12 * year + 1000);
  EXPECT_EQ(filesIn(folder_.path(), ".json"), 3) << "it is still wrong when it begins anew";
}

TEST_F(SnapshotWriterTest, AFrameOfTheFutureMakesNoPictureOld) {  // of a demo
  Writing writing({.folder = folder_.path(), .keep_days = 10}, [] { return kNoon + 2000; });
  for (const int day : {0, 11, 12}) writing.takeAt(kNoon + day * kDayMs);
  EXPECT_EQ(filesIn(folder_.path(), ".json"), 3);
}

TEST_F(SnapshotWriterTest, TheNewestPictureStaysHoweverFullTheDisk) {
  Writing writing({.folder = folder_.path(), .min_free_megabytes = 1e12});
  for (const int second : {1, 2, 3}) writing.takeAt(kNoon + second * 1000);
  EXPECT_EQ(filesIn(folder_.path(), ".json"), 2) << "the last, and the one before it, which was there when it came";
  EXPECT_THAT(writing.removed.all(), ElementsAre(3));
}

TEST_F(SnapshotWriterTest, RecordingsAndTimeLapsesLeaveAReserve) {
  Writing writing({.folder = folder_.path(), .every_minutes = 0, .reserve_megabytes = 1e12});
  writing.addAt(kNoon, 1);
  writing.writer.setRecording(true);
  writing.addAt(kNoon, 1, 2);
  ASSERT_EQ(writing.failed.size(), 3u);
  for (const auto& [problem, occasion] : writing.failed.all()) EXPECT_THAT(problem, HasSubstr("MB are free at"));
  EXPECT_THAT(writing.written.all(), SizeIs(0));
  writing.takeAt(kNoon);
  EXPECT_THAT(writing.written.all(), SizeIs(1)) << "what a person asks for";
}

}  // namespace
}  // namespace mpm::monitor::test
