// SPDX-License-Identifier: Apache-2.0
// `mpm report --film`: which picture of each day it shows, and how.

#include <sys/stat.h>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>

#include "cli/command.h"
#include "monitor/privacy.h"
#include "monitor/store/calendar.h"
#include "samples.h"
#include "support/throws_with.h"
#include "vision/pictures/pictures.h"

namespace mpm::monitor::test {
namespace {

using mpm::test::CommandResult, mpm::test::expectFailure, mpm::test::mpmCommand, mpm::test::succeeded, mpm::test::Words,
    mpm::test::operator+;

class Film : public InFolder {
 protected:
  void picture(const std::string& path, int grey, cv::Size size = {64, 48}) const {
    ASSERT_TRUE(cv::imwrite(path, cv::Mat(size, CV_8UC3, cv::Scalar::all(grey))));
  }
  // Grey is the hour, ten times; of this day's picture of noon the sample is flagged, and the third day has none.
  void makeArchive() const {
    fs::create_directory(archive_);
    SessionInfo info = session(archive_);
    StoreWriter writer(path_);
    writer.beginSession(info, timeOf(1, 6));
    for (const int day : {1, 2, 4}) {
      for (const int hour : {6, 9, 12, 15, 18}) {
        Sample sample = sampleAt(timeOf(day, hour));
        sample.picture = std::to_string(day) + "_" + std::to_string(hour) + ".png";
        sample.whole().set("flagged", day == 2 && hour == 12 ? 1 : 0);
        picture(archive_ + "/" + sample.picture, 10 * hour, day == 4 ? cv::Size(64, 96) : cv::Size(64, 48));
        writer.append(sample);
      }
    }
    ASSERT_TRUE(writer.flush());
  }
  static UnixMs timeOf(int day, int hour) { return kNoon + (day - 1) * kDayMs + (hour - 12) * kHourMs; }

  CommandResult film(const Words& more) const {
    return mpmCommand(Words{"report", path_, "--film", video_} + more + Words{"--brief", "--time-zone", zone_});
  }
  // Of each picture of the video, at its middle, to the next ten.
  std::vector<int> greys(const Words& more) const {
    EXPECT_EQ(succeeded(film(more)).exit_code, 0);
    cv::VideoCapture video(video_);
    std::vector<int> greys;
    for (cv::Mat frame; video.read(frame); last_ = frame.clone()) {
      greys.push_back(static_cast<int>(std::lround(frame.at<cv::Vec3b>(24, frame.cols / 2)[1] / 10.0)) * 10);
    }
    return greys;
  }

  const std::string archive_ = folder_ / "archive", video_ = folder_ / "film.avi";
  std::string zone_ = "UTC";
  mutable cv::Mat last_;
};

TEST_F(Film, ShowsThePictureOfEachDayNearestToATimeWithoutThoseLeftOut) {
  makeArchive();
  EXPECT_THAT(film({}).err, HasSubstr("3 days of UTC; 1 day between them without a picture"));
  EXPECT_THAT(greys({}), ElementsAre(120, 90, 120)) << "of two pictures as near, the first";
  EXPECT_EQ(last_.size(), cv::Size(64, 48));
  EXPECT_LT(last_.at<cv::Vec3b>(24, 5)[1], 20) << "the last one is higher: it has bars";
  EXPECT_THAT(greys({"--film-at", "16:31"}), ElementsAre(180, 180, 180));
  EXPECT_THAT(greys({"--film-at", "12:00", "--days", "2"}), ElementsAre(120)) << "counted from the last sample";
  zone_ = "+03:00";
  EXPECT_THAT(greys({"--film-at", "12:00"}), ElementsAre(90, 90, 90));
  zone_ = "-09:00";
  EXPECT_THAT(greys({"--film-at", "21:00"}), ElementsAre(60, 60, 180, 60, 180)) << "a morning of UTC is the day before";
}

TEST_F(Film, TellsPicturesOfOneNameByTheirContent) {
  const std::string pattern = archive_ + "/*/*.png";
  StoreWriter writer(path_);
  writer.beginSession(session(pattern), timeOf(1, 12));
  for (const int day : {1, 2, 3}) {
    const std::string folder = archive_ + "/" + std::to_string(4 - day);
    fs::create_directories(folder);
    picture(folder + "/a.png", 50 * day);
    Sample sample = sampleAt(timeOf(day, 12));
    sample.picture = "a.png";
    sample.digest = vision::pictureDigest(folder + "/a.png");
    writer.append(sample);
  }
  ASSERT_TRUE(writer.flush());
  EXPECT_THAT(greys({}), ElementsAre(50, 100, 150));
  picture(archive_ + "/2/a.png", 70);
  EXPECT_THAT(greys({}), ElementsAre(50, 150)) << "the one of that day is gone";
}

TEST_F(Film, ShowsSnapshotsOfItsSource) {
  record(path_, {sampleAt(timeOf(1, 12)), sampleAt(timeOf(3, 12))});
  const std::string folder = folder_ / "snapshots";
  fs::create_directory(folder);
  const auto snapshot = [&](int day, int hour, const std::string& facts) {
    const std::string stem = folder + "/" + fileTime(timeOf(day, hour), true);
    nlohmann::json json = nlohmann::json::parse(facts);
    json.emplace("database", StoreReader(path_).id());
    std::ofstream(stem + ".json") << json;
    picture(stem + ".png", 10 * hour, {640, 480});
    picture(stem + "_overlay.png", 100 + 10 * hour, {64, 48});
    picture(stem + "_merge.png", 50 + 10 * hour, {64, 48});
  };
  snapshot(1, 12, R"({"source": "camera 0", "flagged": 0.0})");
  snapshot(2, 12, R"({"source": "camera 0", "flagged": 1.0})");
  snapshot(2, 10, R"({"source": "camera 0", "flagged": null})");
  snapshot(3, 12, R"({"source": "camera 1"})");
  snapshot(3, 11, R"({"source": "camera 0"})");
  snapshot(4, 12, R"({"source": "camera 0", "database": "another camera of this stream"})");
  for (const int day : {-10000, 10000}) snapshot(day, 12, R"({"source": "camera 0"})");  // its clock was wrong
  snapshot(5, 12, R"({"source": "camera 0"})");
  std::ofstream(folder + "/" + fileTime(timeOf(5, 12), true) + ".json") << "{";  // damaged, and left out
  EXPECT_THAT(greys({"--snapshots", folder, "--film-show", "overlay"}), ElementsAre(220, 200, 210));
  EXPECT_THAT(greys({"--snapshots", folder, "--film-show", "merge"}), ElementsAre(170, 150, 160));
  EXPECT_EQ(cv::VideoCapture(video_).get(cv::CAP_PROP_FPS), 10);

  succeeded(film({"--snapshots", folder, "--film-show", "date"}));
  cv::Mat frame;
  ASSERT_TRUE(cv::VideoCapture(video_).read(frame));
  EXPECT_EQ(frame.size(), cv::Size(640, 480));
  double darkest = 0, brightest = 0;
  cv::minMaxLoc(frame(cv::Rect(0, 0, 160, 40)).reshape(1), &darkest, &brightest);
  EXPECT_TRUE(darkest < 60 && brightest > 200) << "white letters with a dark edge";
  cv::minMaxLoc(frame(cv::Rect(0, 40, 640, 440)).reshape(1), &darkest, &brightest);
  EXPECT_TRUE(darkest > 110 && brightest < 130);
}

TEST_F(Film, ShowsNothingThatIsHiddenByNow) {
  makeArchive();
  const PrivacyOptions middle{
      .hidden = {{.name = "middle", .size = {64, 48}, .polygons = {{{20, 10}, {44, 10}, {44, 38}, {20, 38}}}}}};
  const auto hide = [&](const PrivacyOptions& hidden) {
    StoreWriter writer(path_);
    writer.setPrivacy(archive_, hidden.json());
    EXPECT_TRUE(writer.flush());
  };
  hide(middle);
  EXPECT_THAT(greys({}), ElementsAre(0, 0, 0));
  hide({.blurred = {"car"}});
  expectFailure(film({}), 1, {"show what is blurred", "--snapshots"});
  hide({});
  EXPECT_THAT(greys({}), ElementsAre(120, 90, 120));
}

TEST_F(Film, WhatIsHiddenFollowsTheViewAlsoWhereItsMotionIsNotSure) {
  const PrivacyOptions left{
      .hidden = {{.name = "left", .size = {64, 48}, .polygons = {{{0, 0}, {20, 0}, {20, 47}, {0, 47}}}}}};
  StoreWriter writer(path_);
  writer.setPrivacy(archive_, left.json());
  writer.beginSession(session(archive_), timeOf(1, 12));
  fs::create_directories(archive_);
  for (const int day : {1, 2}) {
    Sample sample = sampleAt(timeOf(day, 12));
    sample.picture = std::to_string(day) + ".png";
    if (day == 1) sample.measured_offset = {.right = 20};
    picture(archive_ + "/" + sample.picture, 100);
    writer.append(sample);
  }
  ASSERT_TRUE(writer.flush());
  EXPECT_THAT(greys({}), ElementsAre(0, 0));
}

TEST_F(Film, OthersCannotReadOneOfASourceThatHidesSomething) {
  makeArchive();
  const mode_t before = ::umask(0);
  for (const auto& [privacy, mode] :
       {std::pair("", 0666),
        {R"({"hide":[{"name":"x","width":8,"height":8,"polygons":[[[0,0],[1,0],[1,1]]]}],"blur":[]})", 0640}}) {
    {
      StoreWriter writer(path_);
      writer.setPrivacy(archive_, privacy);
      EXPECT_TRUE(writer.flush());
    }
    succeeded(film({}));
    EXPECT_EQ(static_cast<int>(fs::status(video_).permissions()), mode);
  }
  ::umask(before);
}

TEST_F(Film, RefusesWhatItCannotShow) {
  record(path_, {sampleAt(kNoon)});
  expectFailure(film({}), 1, {"camera 0", "--snapshots"});
  expectFailure(film({"--snapshots", folder_.path()}), 1, {"no picture of 'camera 0'", folder_.path()});
  expectFailure(film({"--snapshots", folder_.path(), "--film-at", "sun:10"}), 1,
                {"place of the camera", "such as 12:00"});
  for (const std::string moment : {"24:00", "-0:30", "7: 5", "12:60", "12", "sun:", "sun:90", "sun:5:night"})
    EXPECT_MPM_ERROR(parseDayMoment(moment), "'" + moment + "' is neither noon");
  expectFailure(film({"--film-at", "late"}), 2, {"late", "neither noon"});
  expectFailure(film({"--film-show", "date,overlay"}), 2, {"--film-show overlay", "--snapshots"});
  expectFailure(film({"--film-show", "date,maps"}), 2, {"--film-show", "'maps' is not date, overlay or merge"});
  for (const char* option : {"--snapshots=x", "--film-at=noon", "--film-show=date"})
    expectFailure(mpmCommand({"report", path_, option}), 2, {"requires --film"});
  EXPECT_FALSE(fs::exists(video_));
}

}  // namespace
}  // namespace mpm::monitor::test
