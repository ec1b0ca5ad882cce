// SPDX-License-Identifier: Apache-2.0
#include "gui/models/calendar.h"

#include <opencv2/imgproc.hpp>

#include "gui/models/recents.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

using monitor::StoreReader;

// A picture that may stand for its day.
struct Candidate {
  UnixMs time = 0;
  std::string file{};
  monitor::ViewMotion place{};  // of an archive: where the view was
};

int yearOf(UnixMs time, const vision::CameraClock& clock) { return vision::civilTime(clock.wall(time)).year; }

// The pictures of an archive lie in its folder, and its samples know them.
bool isArchive(const CalendarQuestion& question) {
  return question.source.archive && !sourceFolder(QString::fromStdString(question.source.name)).isEmpty();
}

std::vector<Candidate> candidatesOf(const CalendarQuestion& question, const StoreReader& reader, std::int64_t series,
                                    UnixMs from, UnixMs to) {
  std::vector<Candidate> all;
  if (isArchive(question)) {
    const std::string folder = sourceFolder(QString::fromStdString(question.source.name)).toStdString() + "/";
    reader.pictures(series, [&](const std::string& name, UnixMs time, std::int64_t) {
      if (!name.empty() && time >= from && time < to) all.push_back({time, folder + name});
    });
    return all;
  }
  for (const StoredPicture& one : question.pictures)
    if (const auto time = static_cast<UnixMs>(std::llround(one.time * 1000)); time >= from && time < to)
      all.push_back({time, one.path.toStdString()});
  return all;
}

// Whether it is good enough to stand for its day: it is there, and not flagged.
bool isGood(const CalendarQuestion& question, const StoreReader& reader, std::int64_t series, Candidate& picture) try {
  if (!isArchive(question)) return !monitor::readStored(picture.file.substr(0, picture.file.size() - 4)).flagged;
  if (!QFileInfo::exists(QString::fromStdString(picture.file))) return false;
  bool good = false;
  const auto look = [&](const monitor::Sample& sample) {
    good = !sample.flagged();
    picture.place = sample.view_offset;
    return false;
  };
  reader.samples(question.source.id, picture.time, picture.time + 1, look, series);
  return good;
} catch (const Error&) {  // it is gone
  return false;
}

QImage smallOf(const CalendarQuestion& question, const Candidate& picture) {
  cv::Mat image;
  if (isArchive(question)) {
    image = vision::readPicture(picture.file);
    image = monitor::hiddenPicture(image, image.size(), picture.time, picture.place, question.hidden);
  } else {
    image = monitor::readStored(picture.file.substr(0, picture.file.size() - 4)).picture(".png", question.hidden);
  }
  const int width = std::min(CalendarReader::kWidth, image.cols);
  cv::resize(image, image, {width, std::max(1, image.rows * width / image.cols)}, 0, 0, cv::INTER_AREA);
  return QImage(image.data, image.cols, image.rows, static_cast<qsizetype>(image.step), QImage::Format_BGR888).copy();
}

}  // namespace

CalendarReader::CalendarReader(QObject* parent)
    : QObject(parent), thread_(this, std::bind_front(&CalendarReader::failed, this), QThread::LowPriority) {}

void CalendarReader::ask(const CalendarQuestion& question) {
  thread_.giveUp();
  thread_.run([this, question] {
    const StoreReader reader(question.database.toStdString());
    const auto all = reader.series(question.source.id);
    if (all.empty()) return;
    const monitor::SeriesRecord& series = all.back();
    const vision::CameraClock clock = vision::clockOrMachine(question.source.clock);
    CalendarAnswer answer{.first_year = yearOf(question.source.first, clock),
                          .last_year = yearOf(question.source.last, clock)};
    answer.year = question.year == 0 ? answer.last_year : question.year;
    const UnixMs from = std::max(question.source.first, clock.time(vision::wallTime({.year = answer.year}))),
                 to = std::min(question.source.last + 1, clock.time(vision::wallTime({.year = answer.year + 1})));
    for (const std::string& name : series.classes) answer.classes << QString::fromStdString(name);
    for (const monitor::StateSeries& head : reader.states(series.id, from, to))
      for (const auto& [state, samples] : head.samples)
        if (!state.empty())
          answer.states.emplace_back(QString::fromStdString(head.name), QString::fromStdString(state));

    std::vector<Candidate> candidates = candidatesOf(question, reader, series.id, from, to);
    std::vector<UnixMs> times;
    for (const Candidate& one : candidates) times.push_back(one.time);
    const monitor::DayPictures days(question.moment, monitor::storedPlace(reader, question.source.id), clock);
    const auto good = [&](std::size_t i) {
      return thread_.goesOn() && isGood(question, reader, series.id, candidates[i]);
    };
    std::vector<monitor::DayPicture> pictures;
    std::map<std::string, const Candidate*> chosen;
    for (const std::size_t i : days.choose(times, good)) {
      pictures.push_back({candidates[i].time, candidates[i].file});
      chosen[candidates[i].file] = &candidates[i];
    }
    answer.drawing = monitor::calendarOf(reader, question.source, series, question.key, pictures, from, to);
    thread_.answer([this, answer] { emit read(answer); });
    for (int i = 0; const charts::DayCell& day : answer.drawing.days) {
      const int index = i++;
      if (day.picture.empty() || question.known.contains(day.picture)) continue;
      if (!thread_.goesOn()) return;
      try {
        const QImage picture = smallOf(question, *chosen.at(day.picture));
        thread_.answer([this, index, picture] { emit pictured(index, picture); });
      } catch (const Error&) {  // it is gone, or no picture any more
      }
    }
  });
}

}  // namespace mpm::gui
