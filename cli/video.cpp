// SPDX-License-Identifier: Apache-2.0
#include "cli/video.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "base/number_text.h"
#include "base/size_text.h"
#include "monitor/privacy.h"
#include "monitor/store/archive_pictures.h"
#include "monitor/store/snapshot.h"
#include "mpm/error.hpp"
#include "program/terminal/program.h"
#include "vision/pictures/estimate_files.h"
#include "vision/pictures/lettering.h"

namespace mpm::cli {

using namespace program;

namespace {

constexpr double kFilmDaysPerSecond = 10;

}  // namespace

VideoFile::VideoFile(std::string path, double frames_per_second, Readers readers)
    : path_(std::move(path)),
      frames_per_second_(frames_per_second),
      whole_(path_, std::filesystem::path(path_).extension().string(), readers) {
  for (const char* known : {".mp4", ".mkv", ".mov", ".avi"})
    if (std::filesystem::path(path_).extension() == known) return;
  throw UsageError("the name of the video '" + path_ + "' must end in .mp4, .mkv, .mov or .avi");
}

void VideoFile::add(const cv::Mat& picture, const std::string& name) {
  if (frames_ == 0) {
    size_ = picture.size();
    // JPEG, which every OpenCV has, in .avi; else H.264 or MPEG-4.
    for (const std::string code : {"MJPG", "avc1", "mp4v"}) {
      for (const int backend : {cv::CAP_FFMPEG, cv::CAP_OPENCV_MJPEG}) {
        if (!writer_.isOpened() && whole_.place().ends_with(".avi") == (code == "MJPG") &&
            writer_.open(whole_.place(), backend, cv::VideoWriter::fourcc(code[0], code[1], code[2], code[3]),
                         frames_per_second_, size_))
          backend_ = backend;
      }
    }
    if (!writer_.isOpened()) {
      throw Error("cannot make the video '" + path_ + "': this OpenCV has no codec for " +
                  sizeText({size_.height, size_.width}) + " in this kind of file; .avi needs none");
    }
  }
  if (picture.size() != size_) {
    throw Error("frame '" + name + "' is " + sizeText({picture.rows, picture.cols}) + ", and the video '" + path_ +
                "' has frames of " + sizeText({size_.height, size_.width}) + ": make a video of each size");
  }
  writer_.write(picture);
  ++frames_;
}

void VideoFile::finish() {
  if (frames_ == 0) return;
  writer_.release();
  // OpenCV reports no failed write.
  cv::VideoCapture written(whole_.place(), backend_);
  cv::Mat last;
  written.set(cv::CAP_PROP_POS_FRAMES, frames_ - 1);
  if (!written.read(last)) throw Error("cannot write the video '" + path_ + "': the disk may be full");
  written.release();
  whole_.finish();
}

namespace {

// One for each day: of an archive, or snapshots, whose `file` has no ending.
std::vector<monitor::ArchivePicture> storedPictures(const monitor::StoreReader& store,
                                                    const monitor::SourceRecord& source, const FilmOptions& options,
                                                    const monitor::DayPictures& days) {
  if (options.folder.empty()) {
    if (!source.archive) {
      throw Error("the samples of '" + source.name +
                  "' have no pictures: name the folder of its snapshots with --snapshots");
    }
    return monitor::archivePictures(store, source, options.series, options.from, options.to, days);
  }
  const monitor::PictureOwner owner{.source = source.name, .database = store.id()};
  const auto all = monitor::snapshots(options.folder, owner, options.from, options.to);
  std::vector<UnixMs> times;
  for (const monitor::Snapshot& one : all) times.push_back(one.time);
  // They say it themselves: their samples may be forgotten.
  const auto good = [&](std::size_t i) { return monitor::standsForDay(all[i].stem, options.ending); };
  std::vector<monitor::ArchivePicture> pictures;
  for (const std::size_t i : days.choose(times, good)) pictures.push_back({.time = all[i].time, .file = all[i].stem});
  return pictures;
}

cv::Mat fitted(const cv::Mat& picture, cv::Size size) {
  if (picture.size() == size) return picture;
  const double scale =
      std::min(static_cast<double>(size.width) / picture.cols, static_cast<double>(size.height) / picture.rows);
  const cv::Size inner(std::clamp(static_cast<int>(std::lround(picture.cols * scale)), 1, size.width),
                       std::clamp(static_cast<int>(std::lround(picture.rows * scale)), 1, size.height));
  cv::Mat result(size, CV_8UC3, cv::Scalar::all(0));
  cv::resize(picture, result(cv::Rect({(size.width - inner.width) / 2, (size.height - inner.height) / 2}, inner)),
             inner, 0, 0, cv::INTER_AREA);
  return result;
}

void writeDate(cv::Mat& picture, const std::string& date) {
  const double height = std::max(9.0, picture.rows / 40.0);
  cv::Mat corner = picture(cv::Rect(0, 0, picture.cols, std::min(picture.rows, static_cast<int>(2.4 * height)))), large;
  cv::resize(corner, large, {}, vision::kSupersampling, vision::kSupersampling);
  for (const auto& [away, color] : {std::pair(1.0, cv::Scalar::all(0)), {0.0, cv::Scalar::all(255)}})
    vision::write(large, date, 0.6 * height + away, 1.6 * height + away, 0, height, color);
  vision::reduced(large).copyTo(corner);
}

}  // namespace

void FilmOptions::show(const std::string& text) {
  for (const std::string& name : CLI::detail::split(text, ',')) {
    if (name == "date")
      date = true;
    else if (name == "overlay")
      ending = vision::EstimateFiles::kOverlay;
    else if (name == "merge")
      ending = vision::EstimateFiles::kMerge;
    else
      throw Error("'" + name + "' is not date, overlay or merge");
  }
}

FilmDays writeFilm(const monitor::StoreReader& store, const monitor::SourceRecord& source, const FilmOptions& options) {
  const bool snapshots = !options.folder.empty();
  const monitor::PrivacyOptions hidden = monitor::readPrivacy(store.privacy(source.name));
  if (!snapshots && !hidden.blurred.empty()) {
    throw Error("the pictures of '" + source.name +
                "' show what is blurred: store snapshots of them, and name their folder with --snapshots");
  }
  VideoFile film(options.path, kFilmDaysPerSecond, hidden.on() ? Readers::kGroup : Readers::kByUmask);
  const monitor::DayPictures days(options.moment, options.place, options.clock);
  cv::Size size;
  FilmDays result;
  std::int64_t first = 0, last = 0;
  for (const monitor::ArchivePicture& chosen : storedPictures(store, source, options, days)) {
    if (snapshots && !monitor::standsForDay(chosen.file, options.ending)) continue;  // removed since it was chosen
    cv::Mat picture =
        snapshots ? monitor::readStored(chosen.file).picture(options.ending, hidden) : chosen.picture(hidden);
    const std::int64_t day = days.dayOf(chosen.time);
    if (size.empty()) size = picture.size();
    picture = fitted(picture, size);
    if (options.date) writeDate(picture, isoTime(day * kDayMs).substr(0, 10));
    film.add(picture, chosen.file + (snapshots ? options.ending : ""));
    first = result.shown++ == 0 ? day : first;
    last = day;
  }
  if (result.shown == 0) {
    throw Error("there is no picture of '" + source.name + "' for a film" +
                (snapshots ? " in '" + options.folder + "'" : ""));
  }
  film.finish();
  result.without = static_cast<int>(last - first + 1) - result.shown;
  return result;
}

}  // namespace mpm::cli
