// SPDX-License-Identifier: Apache-2.0
#include "gui/models/calendar.h"

#include <opencv2/imgproc.hpp>
#include <set>

#include "gui/models/recents.h"
#include "monitor/store/archive_pictures.h"

namespace mpm::gui {
namespace {

using monitor::StoreReader;

std::string stemOf(const std::string& png) { return png.substr(0, png.size() - 4); }

// The pictures of an archive lie in its folder, and its samples know them.
bool isArchive(const CalendarQuestion& question) {
  return question.source.archive && !sourceFolder(QString::fromStdString(question.source.name)).isEmpty();
}

// The pictures that stand for the days of [from, to). Of a stored one the path is that of its PNG.
std::vector<monitor::ArchivePicture> picturesOf(const CalendarQuestion& question, const StoreReader& reader,
                                                std::int64_t series, UnixMs from, UnixMs to,
                                                const monitor::DayPictures& days,
                                                const std::function<bool()>& goes_on) {
  if (isArchive(question)) {
    try {
      return monitor::archivePictures(reader, question.source, series, from, to, days, goes_on);
    } catch (const Error&) {  // its files are gone
      return {};
    }
  }
  std::vector<monitor::ArchivePicture> all;
  std::vector<UnixMs> times;
  for (const StoredPicture& one : question.pictures) {
    if (const auto time = static_cast<UnixMs>(std::llround(one.time * 1000)); time >= from && time < to) {
      all.push_back({time, one.path.toStdString()});
      times.push_back(time);
    }
  }
  const auto good = [&](std::size_t i) { return goes_on() && monitor::standsForDay(stemOf(all[i].file), ".png"); };
  std::vector<monitor::ArchivePicture> chosen;
  for (const std::size_t i : days.choose(times, good)) chosen.push_back(all[i]);
  return chosen;
}

QImage smallOf(const CalendarQuestion& question, const monitor::ArchivePicture& picture) {
  cv::Mat image = isArchive(question) ? picture.picture(question.hidden)
                                      : monitor::readStored(stemOf(picture.file)).picture(".png", question.hidden);
  const int width = std::min(CalendarReader::kWidth, image.cols);
  cv::resize(image, image, {width, std::max(1, image.rows * width / image.cols)}, 0, 0, cv::INTER_AREA);
  return QImage(image.data, image.cols, image.rows, static_cast<qsizetype>(image.step), QImage::Format_BGR888).copy();
}

}  // namespace

CalendarReader::CalendarReader()
    : thread_(this, std::bind_front(&CalendarReader::failed, this), QThread::LowPriority) {}

void CalendarReader::ask(const CalendarQuestion& question) {
  thread_.giveUp();
  thread_.run([this, question] {
    const StoreReader reader(question.database.toStdString());
    const auto all = reader.series(question.source.id);
    if (all.empty()) return;
    const monitor::SeriesRecord& series = all.back();
    const vision::CameraClock clock = vision::clockOrMachine(question.source.clock);
    const auto years = monitor::calendarYears(question.source);
    if (years.empty()) return;
    const auto chosen_year = std::ranges::find(years, question.year, &monitor::CalendarYear::year);
    const auto [year, from, to] = chosen_year == years.end() ? years.back() : *chosen_year;
    CalendarAnswer answer{.year = year};
    for (const monitor::CalendarYear& one : years) answer.years.push_back(one.year);
    for (const std::string& name : series.classes) answer.classes << QString::fromStdString(name);
    for (const auto& [head, changes] : reader.stateChanges(series.id, from, to)) {
      std::set<std::string> states;
      for (const auto& [time, state] : changes)
        if (!state.empty()) states.insert(state);
      for (const std::string& state : states)
        answer.states.emplace_back(QString::fromStdString(head), QString::fromStdString(state));
    }

    const monitor::DayPictures days(question.moment, monitor::storedPlace(reader, question.source.id), clock);
    const auto goes_on = [this] { return thread_.goesOn(); };
    const auto found = picturesOf(question, reader, series.id, from, to, days, goes_on);
    std::vector<monitor::DayPicture> pictures;
    std::map<std::string, const monitor::ArchivePicture*> chosen;
    for (const monitor::ArchivePicture& one : found) {
      pictures.push_back({one.time, one.file});
      chosen[one.file] = &one;
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
