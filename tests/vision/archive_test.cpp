// SPDX-License-Identifier: Apache-2.0
#include "vision/times/archive.h"

#include <atomic>
#include <opencv2/imgcodecs.hpp>
#include <thread>

#include "support/exif.h"
#include "support/in_folder.h"
#include "support/throws_with.h"
#include "support/video.h"
#include "vision/pictures/pictures.h"

namespace mpm::vision {
namespace {

constexpr UnixMs kTime = 1'373'262'853'000;  // 2013-07-08 05:54:13 UTC

class Archive : public test::InFolder {
 protected:
  ArchiveOptions archive_{.times = {.time_zone = CameraClock()}};
  SourceOptions options_;
  std::vector<std::string> notes_;

  void add(const std::string& name, int rows = 8) {
    cv::imwrite(folder_ / name, cv::Mat(rows, 8, CV_8UC3, cv::Scalar::all(9)));
  }

  // "a 2013-07-08T05:54:13Z" of each frame.
  std::vector<std::string> frames(const std::string& of = "") {
    notes_.clear();
    options_.on_note = [this](const std::string& text) {
      if (!text.empty()) notes_.push_back(text);
    };
    std::vector<std::string> found;
    const auto source = openArchive(parseSourceSpec(of.empty() ? folder_.path() : of), archive_, options_);
    while (const auto frame = source->next())
      found.push_back(frame->name + " " + isoTime(std::llround(*frame->unix_time * 1000)));
    return found;
  }
};

TEST_F(Archive, PicturesComeByTheirTimes) {
  for (const char* name : {"b_20130708_055413.png", "a_20130708_060000.png", "c_20120101_000000.png"}) add(name);
  EXPECT_THAT(frames(), ElementsAre("c_20120101_000000 2012-01-01T00:00:00Z", "b_20130708_055413 2013-07-08T05:54:13Z",
                                    "a_20130708_060000 2013-07-08T06:00:00Z"));
  EXPECT_THAT(notes_, Contains("3 pictures from 2012-01-01T00:00:00Z to 2013-07-08T06:00:00Z, by the name, read as "
                               "UTC"));
  EXPECT_THAT(notes_, Contains(HasSubstr("not of their names: 'b_20130708_055413.png' is before 'a_")));
  archive_.times.time_zone.reset();
  frames();
  EXPECT_THAT(notes_, Contains(HasSubstr("the standard time of this machine (--time-zone)")));
}

TEST_F(Archive, PicturesOfOneTimeAllCome) {
  add("a_20130708_055413.png");
  add("b_20130708_055413.png", 9);
  EXPECT_EQ(frames().size(), 2u);
  EXPECT_THAT(notes_, Contains("1 picture has the time of another, such as 'a_20130708_055413.png' and "
                               "'b_20130708_055413.png', 2013-07-08T05:54:13Z: all are kept"));
}

TEST_F(Archive, WithoutAnyTimeItIsRefused) {
  for (const char* name : {"a.png", "b.png"}) add(name);
  EXPECT_MPM_ERROR(frames(), "has a time in its EXIF or its name: give a list with --times list:FILE");
}

TEST_F(Archive, APictureWithoutTimeIsLeftOutAndCounted) {
  add("a.png");
  add("20130708_055413.png", 9);
  EXPECT_MPM_ERROR(frames(), "1 of 2 pictures has no time and was left out");
  EXPECT_THAT(notes_,
              Contains(HasSubstr("1 picture without a time in its EXIF or its name is left out, such as 'a.png'")));
}

TEST_F(Archive, APictureThatTheListLacksIsSaid) {
  for (const char* name : {"a.png", "20130708_055413.png"}) add(name);
  std::ofstream(folder_ / "list.csv") << "a.png,2013-07-08T00:00:00\n";
  archive_.times.list = folder_ / "list.csv";
  EXPECT_EQ(frames().size(), 2u);
  EXPECT_THAT(notes_, Contains("1 picture not in the list '" + folder_ / "list.csv" + "'"));
  EXPECT_THAT(notes_, Not(Contains(HasSubstr("no picture here"))));
  std::ofstream(folder_ / "list.csv") << "a.png,2013-07-08T00:00:00\nb.png,2013-07-08T00:00:00\n";
  frames();
  EXPECT_THAT(notes_, Contains("1 line of '" + folder_ / "list.csv" + "' names no picture here"));
  std::ofstream(folder_ / "list.csv") << "a.png,2013-07-08T00:00:00\na.png,2013-07-08T00:00:00\n";
  EXPECT_MPM_ERROR(frames(), "line 2: 'a.png' is in line 1 already");
}

TEST_F(Archive, AListNamesPicturesByTheEndOfTheirPaths) {
  for (const char* camera : {"east", "west"}) {
    fs::create_directory(folder_ / camera);
    add(std::string(camera) + "/1.png");
  }
  archive_.times.list = folder_ / "list.csv";
  const auto timesBy = [&](const std::string& east, const std::string& west) {
    std::ofstream(archive_.times.list) << east << ",2013-07-08T01:00:00\n" << west << ",2013-07-08T02:00:00\n";
    return frames(folder_ / "*/*.png");
  };
  const auto both = ElementsAre("1 2013-07-08T01:00:00Z", "1 2013-07-08T02:00:00Z");
  EXPECT_THAT(timesBy("east/1.png", "./west/1.png"), both);
  EXPECT_THAT(timesBy(folder_ / "east/1.png", "1.png"), both) << "the longest that fits counts";
  EXPECT_MPM_ERROR(timesBy("/elsewhere/east/1.png", "t/1.png"), "names no picture of");
}

TEST_F(Archive, AClockThatWasResetIsSaid) {
  for (const char* name : {"20130708_055413.png", "20130708_060000.png"}) add(name);
  test::setExifTime(folder_ / "20130708_055413.png", "1980:01:01 00:00:07");
  test::setExifTime(folder_ / "20130708_060000.png", "2013:07:09 06:00:00");
  EXPECT_EQ(frames().front(), "20130708_055413 1980-01-01T00:00:07Z");
  EXPECT_THAT(notes_,
              Contains("1 picture has a time in the EXIF that is more than a day from that in the name, such as "
                       "'20130708_055413.png', 1980-01-01T00:00:07Z by its EXIF and 2013-07-08T05:54:13Z by its "
                       "name: EXIF counts; --times name takes the name"));
}

TEST_F(Archive, ALinkIsNoSecondPicture) {
  for (const char* name : {"20130708_055413.png", "20130708_060000.png"}) add(name);
  fs::create_symlink("20130708_060000.png", folder_ / "lastsnap.png");
  fs::create_symlink("20130708_060000.png", folder_ / "29990708_060000.png");
  fs::create_symlink("gone.png", folder_ / "20130708_070000.png");
  fs::create_hard_link(folder_ / "20130708_055413.png", folder_ / "0.png");
  EXPECT_THAT(frames(), ElementsAre("20130708_055413 2013-07-08T05:54:13Z", "20130708_060000 2013-07-08T06:00:00Z"));
  EXPECT_THAT(notes_, Not(Contains(HasSubstr("without a time"))));
  EXPECT_EQ(frames(folder_ / "*.png").size(), 2u);
  fs::create_directory(folder_ / "chosen");
  fs::create_symlink("../20130708_060000.png", folder_ / "chosen/20130708_060000.png");
  EXPECT_EQ(frames(folder_ / "chosen").size(), 1u) << "an archive of links";
}

// The digest of a picture is of some of its bytes.
TEST_F(Archive, APictureThatDiffersAnywhereIsNoCopy) {
  cv::Mat picture(200, 200, CV_8UC3, cv::Scalar::all(9));
  cv::imwrite(folder_ / "a_20130708_055413.bmp", picture);
  picture.at<cv::Vec3b>(150, 10) = {8, 8, 8};
  cv::imwrite(folder_ / "b_20130708_055413.bmp", picture);
  ASSERT_EQ(pictureDigest(folder_ / "a_20130708_055413.bmp"), pictureDigest(folder_ / "b_20130708_055413.bmp"));
  EXPECT_EQ(frames().size(), 2u);
}

TEST_F(Archive, ACopyIsNoSecondPicture) {
  add("a_20130708_055413.jpg", 9);
  add("20130708_060000.jpg");
  for (const char* name : {"a_20130708_055413.jpg", "20130708_060000.jpg"})
    test::setExifTime(folder_ / name, name[0] == 'a' ? "2013:07:08 05:54:13" : "2013:07:08 06:00:00");
  fs::copy_file(folder_ / "20130708_060000.jpg", folder_ / "0_latest.jpg");
  add("20130708_070000.jpg", 10);
  fs::copy_file(folder_ / "20130708_070000.jpg", folder_ / "current.jpg");
  add("b_20130708_070000.jpg", 11);
  EXPECT_THAT(frames(), ElementsAre("a_20130708_055413 2013-07-08T05:54:13Z", "20130708_060000 2013-07-08T06:00:00Z",
                                    "20130708_070000 2013-07-08T07:00:00Z", "b_20130708_070000 2013-07-08T07:00:00Z"));
  EXPECT_THAT(notes_, Contains("2 pictures are copies of others, such as '0_latest.jpg' of '20130708_060000.jpg': each "
                               "counts once"));
  add("other.jpg", 12);
  EXPECT_MPM_ERROR(frames(), "1 of 7 pictures has no time and was left out");
}

TEST_F(Archive, ALinkThatFollowsTheLatestPictureGivesNone) {
  archive_.follow = true;
  archive_.look_s = 0.05;
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  const auto take = [&](const char* name, int rows) {
    add(name, rows);
    for (const char* latest : {"lastsnap.png", "latest.png"}) fs::remove(folder_ / latest);
    fs::create_symlink(name, folder_ / "lastsnap.png");
    fs::copy_file(folder_ / name, folder_ / "latest.png");
  };
  take("20130708_055413.png", 8);
  std::vector<std::string> names;
  options_.on_note = [&](const std::string& text) { names.push_back(text); };
  const auto source = openArchive(parseSourceSpec(folder_.path()), archive_, options_);
  EXPECT_EQ(source->next()->name, "20130708_055413");
  take("20130708_060000.png", 9);
  EXPECT_EQ(source->next()->name, "20130708_060000");
  take("20130708_070000.png", 10);
  EXPECT_EQ(source->next()->name, "20130708_070000");
  EXPECT_THAT(names, Not(Contains(HasSubstr("without a time"))));
}

TEST_F(Archive, ADateInTheFoldersCounts) {
  for (const char* folder : {"2013-07-08", "2013-07-09"}) {
    fs::create_directory(folder_ / folder);
    for (const char* name : {"0000", "0554", "2359"}) add(std::string(folder) + "/" + name + ".png", 8 + folder[9] % 2);
  }
  EXPECT_THAT(frames(folder_ / "*/*.png"),
              ElementsAre("0000 2013-07-08T00:00:00Z", "0554 2013-07-08T05:54:00Z", "2359 2013-07-08T23:59:00Z",
                          "0000 2013-07-09T00:00:00Z", "0554 2013-07-09T05:54:00Z", "2359 2013-07-09T23:59:00Z"));
  add("2013-07-09/0001.png");
  add("2013-07-09/0060.png");
  EXPECT_MPM_ERROR(frames(folder_ / "*/*.png"), "has a time in its EXIF or its name") << "numbers that count";
}

TEST_F(Archive, WhatIsDoneDoesNotComeAgain) {
  add("a_20130708_055413.png");
  add("b_20130708_055413.png", 9);
  add("20130708_060000.png");
  archive_.done = [](const TimedPicture& picture) {
    if (picture.time != kTime) return Done::kNo;
    return picture.path.ends_with("/a_20130708_055413.png") ? Done::kYes : Done::kOther;
  };
  std::vector<std::string> listed;
  archive_.on_listed = [&](const std::vector<TimedPicture>& pictures) {
    for (const auto& [path, time] : pictures) listed.push_back(fs::path(path).stem().string() + " " + isoTime(time));
  };
  EXPECT_EQ(frames().size(), 2u);
  EXPECT_THAT(listed, ElementsAre("a_20130708_055413 2013-07-08T05:54:13Z", "b_20130708_055413 2013-07-08T05:54:13Z",
                                  "20130708_060000 2013-07-08T06:00:00Z"));
  EXPECT_THAT(notes_, Contains(HasSubstr("; 1 stored already")));
  EXPECT_THAT(notes_, Contains(HasSubstr("1 picture has the name and time of a stored one and another content, such as "
                                         "'b_20130708_055413.png'")));
}

TEST_F(Archive, TheLastPictureIsThereToLookAt) {
  for (const char* name : {"20130708_060000.png", "20130708_060100.png", "20130708_060200.png"}) add(name);
  archive_.show_last = true;
  const auto end = [&](const char* done) {
    archive_.done = [done](const TimedPicture& picture) {
      return std::string(done).find(isoTime(picture.time)[15]) == std::string::npos ? Done::kNo : Done::kYes;
    };
    std::string minutes;
    for (const std::string& frame : frames()) minutes += frame[frame.find('_') + 4];
    return minutes;
  };
  EXPECT_EQ(end(""), "012");
  EXPECT_EQ(end("0"), "12");
  EXPECT_EQ(end("2"), "012") << "older pictures were not done yet";
  EXPECT_EQ(end("12"), "02");
  EXPECT_EQ(end("012"), "2");
}

TEST_F(Archive, EveryIsOfTheTimesOfPictures) {
  for (const char* time : {"055400", "055430", "055455", "055548", "060000"})  // a timer is not exact
    add("20130708_" + std::string(time) + ".png");
  archive_.every_s = 60;
  EXPECT_THAT(frames(), ElementsAre(HasSubstr("05:54:00Z"), HasSubstr("05:54:55Z"), HasSubstr("06:00:00Z")));
}

// What comes early must not add up to a shorter interval.
TEST_F(Archive, EveryKeepsItsInterval) {
  const auto minutesOf = [&](int every_s) {
    archive_.every_s = every_s;
    std::vector<std::string> minutes;
    for (const std::string& frame : frames()) minutes.push_back(frame.substr(9, 4));
    return minutes;
  };
  for (int minute = 0; minute < 60; minute += 1) add("20130708_05" + std::to_string(100 + minute).substr(1) + "00.png");
  EXPECT_THAT(minutesOf(600), ElementsAre("0500", "0510", "0520", "0530", "0540", "0550"));
  EXPECT_THAT(minutesOf(450), ElementsAre("0500", "0507", "0515", "0522", "0530", "0537", "0545", "0552"));
}

TEST_F(Archive, EachPictureOfATimerThatIsEarlyComes) {
  for (const char* time : {"050000", "050957", "051957", "052957", "053957"})
    add("20130708_" + std::string(time) + ".png");
  for (const char* time : {"060003", "061001", "062003", "063002"}) add("20130708_" + std::string(time) + ".png");
  archive_.every_s = 600;
  EXPECT_EQ(frames().size(), 9u);
}

TEST_F(Archive, EveryKeepsItsDistanceToWhatIsDone) {
  for (int minute = 0; minute < 60; minute += 5) add("20130708_05" + std::to_string(100 + minute).substr(1) + "00.png");
  archive_.every_s = 1200;
  const UnixMs done = *unixTime(2013, 7, 8, 5, 25, 0);
  archive_.done_times = [&] { return std::vector<UnixMs>{done, done + 20 * kMinuteMs}; };
  archive_.done = [&](const TimedPicture& one) {
    return one.time == done || one.time == done + 20 * kMinuteMs ? Done::kYes : Done::kNo;
  };
  EXPECT_THAT(frames(), ElementsAre(HasSubstr("05:00:00Z")));
  archive_.done_times = [&] { return std::vector<UnixMs>{done - 5 * kMinuteMs}; };
  archive_.done = [&](const TimedPicture& one) {
    if (one.time != done - 5 * kMinuteMs) return Done::kNo;
    return one.path.ends_with("2000.png") ? Done::kYes : Done::kOther;
  };
  EXPECT_THAT(frames(), ElementsAre(HasSubstr("05:00:00Z"), HasSubstr("05:40:00Z")));
  add("20130708_052000_again.png", 9);
  EXPECT_EQ(frames().size(), 3u) << "a stored one of another content counts as well";
}

TEST_F(Archive, ShardsOfOneEveryAreTheWhole) {
  for (int i = 10; i < 60; ++i) add("20130708_0554" + std::to_string(i) + ".png");
  archive_.every_s = 2;
  const auto whole = frames();
  std::multiset<std::string> parts;
  for (int part = 0; part < 3; ++part) {
    options_.chosen = [&](const std::string& path) { return fs::path(path).stem().string().back() % 3 == part; };
    for (const std::string& frame : frames()) parts.insert(frame);
  }
  EXPECT_EQ(std::vector<std::string>(parts.begin(), parts.end()), whole);
}

TEST_F(Archive, AGrowingFolderGivesWhatIsNew) {
  archive_.follow = true;
  archive_.look_s = 0.05;
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  options_.on_note = [&](const std::string& text) { notes_.push_back(text); };
  const auto source = openArchive(parseSourceSpec(folder_.path()), archive_, options_);
  EXPECT_THAT(notes_, ElementsAre("no picture yet in '" + folder_.path() + "'"));
  add("20130708_055413.png");
  EXPECT_EQ(source->next()->name, "20130708_055413");
  add("20130708_060000.png");
  add("20130708_055959.png");
  std::set<std::string> names;
  for (int i = 0; i < 2; ++i) names.insert(source->next()->name);
  EXPECT_EQ(names, (std::set<std::string>{"20130708_060000", "20130708_055959"}));
  add("20130708_055413.png", 16);
  EXPECT_EQ(source->next()->image.rows, 16) << "one that was cut off at first";
  std::thread ends([&] { stop = true; });
  EXPECT_FALSE(source->next());
  ends.join();
}

TEST_F(Archive, AVideoBeginsAtItsStart) {
  const std::string path = folder_ / "clip.avi";
  const auto brighter = [](int i) { return cv::Mat(16, 16, CV_8UC3, cv::Scalar::all(20 * i)); };
  if (!test::writeVideo(path, "MJPG", 4, {16, 16}, 9, brighter)) GTEST_SKIP() << "this OpenCV writes no video";
  const auto times = [&] {
    std::vector<double> seconds;
    const auto source = openArchive(parseSourceSpec(path), archive_, options_);
    while (const auto frame = source->next()) seconds.push_back(*frame->unix_time - kTime / 1000);
    return seconds;
  };
  EXPECT_FALSE(isArchive(parseSourceSpec(path), archive_));
  archive_.start = kTime;
  EXPECT_TRUE(isArchive(parseSourceSpec(path), archive_));
  EXPECT_THAT(times(), ElementsAre(0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2));
  archive_.every_s = 1;
  EXPECT_THAT(times(), ElementsAre(0, 1, 2));
  archive_.done = [](const TimedPicture& picture) { return picture.time <= kTime + 1000 ? Done::kYes : Done::kNo; };
  std::vector<UnixMs> listed;
  archive_.on_listed = [&](const std::vector<TimedPicture>& pictures) { listed.push_back(pictures.at(0).time); };
  EXPECT_THAT(times(), ElementsAre(2));
  EXPECT_THAT(listed, ElementsAre(kTime));
}

// A picture each ten seconds or each minute, as recorders write a time-lapse.
TEST_F(Archive, AVideoMayHaveLessThanAFrameASecond) {
  const std::string path = folder_ / "clip.avi";
  const auto brighter = [](int i) { return cv::Mat(16, 16, CV_8UC3, cv::Scalar::all(20 * i)); };
  for (const char* codec : {"MJPG", "XVID"}) {
    if (!test::writeVideo(path, codec, 0.1, {16, 16}, 9, brighter)) GTEST_SKIP() << "this OpenCV writes no " << codec;
    archive_.start = kTime;
    std::vector<double> seconds;
    const auto source = openArchive(parseSourceSpec(path), archive_, options_);
    while (const auto frame = source->next()) seconds.push_back(*frame->unix_time - kTime / 1000);
    EXPECT_THAT(seconds, ElementsAre(0, 10, 20, 30, 40, 50, 60, 70, 80)) << codec;
  }
}

TEST_F(Archive, EveryOfAVideoKeepsItsInterval) {
  const std::string path = folder_ / "clip.avi";
  const auto brighter = [](int i) { return cv::Mat(16, 16, CV_8UC3, cv::Scalar::all(5 * i)); };
  if (!test::writeVideo(path, "MJPG", 12, {16, 16}, 50, brighter)) GTEST_SKIP() << "this OpenCV writes no video";
  archive_.start = kTime;
  archive_.every_s = 1;
  EXPECT_THAT(frames(path),
              ElementsAre(HasSubstr("13Z"), HasSubstr("14Z"), HasSubstr("15Z"), HasSubstr("16Z"), HasSubstr("17Z")));
  archive_.done_times = [] { return std::vector<UnixMs>{kTime + 1500}; };
  archive_.done = [](const TimedPicture& one) { return one.time == kTime + 1500 ? Done::kYes : Done::kNo; };
  const auto frame = openArchive(parseSourceSpec(path), archive_, options_);
  std::vector<double> seconds;
  while (const auto one = frame->next()) seconds.push_back(*one->unix_time - kTime / 1000);
  EXPECT_THAT(seconds, ElementsAre(0, 2.5, 3.5));
}

}  // namespace
}  // namespace mpm::vision
