// SPDX-License-Identifier: Apache-2.0
#include "gui/models/stored_camera.h"

#include "gui/models/history.h"
#include "gui/models/readout.h"
#include "gui/models/recents.h"
#include "monitor/watch/camera_plan.h"
#include "vision/camera_clock.h"

namespace mpm::gui {

QStringList StoredCamera::read() {
  if (!QFileInfo::exists(QString::fromStdString(config.db))) return {tr("□ nothing is stored yet")};
  const Json all = page_.json({.path = "/api/cameras"});
  if (!all["problems"].empty()) throw Error(all["problems"][0].get<std::string>());
  const std::string source = sourceSpec(QString::fromStdString(config.source)).name();
  std::vector<Json> stored;
  std::ranges::copy_if(all["cameras"], std::back_inserter(stored), [](const Json& one) { return one["last_ms"] > 0; });
  if (stored.empty()) {
    // Why, as events say: of source 0 where the camera has no row yet.
    QStringList lines{tr("□ nothing is stored yet"), {}};
    const monitor::StoreReader reader(config.db);
    const auto sources = reader.sources();
    const auto row = std::ranges::find(sources, source, &monitor::SourceRecord::name);
    for (const auto& event : reader.events(row == sources.end() ? 0 : row->id, 0, INT64_MAX))
      if (event.severity != monitor::Severity::kInfo) lines.back() = QString::fromStdString(event.message);
    lines.removeAll(QString());
    return lines;
  }
  // The database may also have what the camera was before.
  const Json camera = *std::ranges::max_element(
      stored, {}, [&](const Json& one) { return std::pair(one["name"] == source, one["last_ms"].get<UnixMs>()); });
  const Json &sample = camera["sample"], &pictures = camera["pictures"];
  const auto last = camera["last_ms"].get<UnixMs>();

  const std::string word = camera["state"];
  const double age = static_cast<double>((unixNow() - last) / kSecondMs);
  QStringList state{word == "online"    ? tr("● online")
                    : word == "stalled" ? tr("▲ without samples")
                    : word == "archive" ? tr("▤ archive")
                                        : tr("■ ended")};
  if (!camera["own_clock"].get<bool>() && age >= 0) state << tr("%1 ago").arg(spanText(age));

  QStringList facts;
  if (sample.is_object() && sample["night"].is_boolean()) facts << (sample["night"] ? tr("night") : tr("day"));
  const Json states = sample.is_object() ? sample["states"] : Json::object();
  for (const auto& [head, its] : states.items()) {
    facts << tr("%1: %2").arg(QString::fromStdString(head),
                              its["counted"].is_string() ? QString::fromStdString(its["counted"]) : tr("not known"));
  }

  const std::string zone = camera["clock"]["zone"];
  const vision::CameraClock clock =
      vision::clockOrMachine(zone.empty() ? charts::OptionalClock() : vision::CameraClock(zone));
  const QDate day = dateTime(last, clock).date();
  const bool today = day == dateTime(unixNow(), clock).date();
  QStringList span{today ? tr("Today") : QLocale().toString(day, kDayFormat)};
  QStringList numbers;
  for (const char* key : {"tokens", "brightness"}) {
    const std::string midnight = isoTime(clock.startOfDay(last)), end = isoTime(last + 1, true);
    const Json means = page_.json(
        {"/api/series", {{"camera", camera["name"]}, {"quantity", key}, {"from", midnight}, {"to", end}}})["all"];
    if (span.size() == 1) span << tr("%n sample(s)", nullptr, means[2]);
    if (means[2] > 0) numbers << quantityName(*monitor::findQuantity(key)) + QLatin1Char(' ') + number(means[3]);
  }

  const monitor::StoreReader reader(config.db);
  const monitor::PrivacyChoice said = monitor::privacyOf(config);
  if (pictures.empty())
    readArchive(reader, camera["name"], said);
  else
    readSnapshot(pictures[0], monitor::readPrivacy(reader.privacy(camera["name"])), said);
  const QString dot = QStringLiteral("  ·  ");
  return {state.join(dot), facts.join(dot), span.join(dot), numbers.join(dot)};
}

// What must not be seen may be said later than the last picture. Where it is not stored yet, no picture is shown.
void StoredCamera::readSnapshot(const Json& files, const monitor::PrivacyOptions& stored,
                                const monitor::PrivacyChoice& said) {
  if (said.over(stored).json() != stored.json()) {
    picture_id_.clear();
    return show({});
  }
  for (const char* view : {"overlay", "depth", "frame"}) {
    if (!files.contains(view)) continue;
    if (const std::string file_id = files[view], id = file_id + stored.json(); picture_id_ != id) {
      const page::Response file = page_.answer({"/api/snapshot/" + file_id, {{"small", ""}}, true});
      show(QImage::fromData(QByteArray::fromStdString(file.body)));
      picture_id_ = id;
    }
    return;
  }
}

// An archive has pictures of its own, of which the same is true. One that is away now is read at the next look.
void StoredCamera::readArchive(const monitor::StoreReader& reader, const std::string& name,
                               const monitor::PrivacyChoice& said) {
  const auto sources = reader.sources();
  const auto source = std::ranges::find(sources, name, &monitor::SourceRecord::name);
  if (source == sources.end() || !source->archive) return;
  const monitor::PrivacyOptions hidden = said.over(monitor::readPrivacy(reader.privacy(name)));
  const std::string id = std::to_string(source->last) + hidden.json();
  if (picture_id_ == id) return;
  show({});
  picture_id_.clear();
  const LiveFramePtr frame = History::lastPicture(reader, *source, said);
  if (!frame) return;
  const cv::Mat& image = frame->image();
  // A copy: where it is small already, QImage::scaled() would go on looking into the frame.
  show(QImage(image.data, image.cols, image.rows, static_cast<qsizetype>(image.step), QImage::Format_BGR888).copy());
  picture_id_ = id;
}

void StoredCamera::show(const QImage& large) {
  picture = large.isNull() ? QImage() : large.scaled(kPicture, Qt::KeepAspectRatio, Qt::SmoothTransformation);
}

}  // namespace mpm::gui
