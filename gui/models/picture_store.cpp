// SPDX-License-Identifier: Apache-2.0
#include "gui/models/picture_store.h"

#include <opencv2/imgcodecs.hpp>

#include "gui/models/readout.h"
#include "vision/pictures/estimate_files.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

const QString kStamp = QStringLiteral("yyyy-MM-dd'T'HH-mm-ss.zzz'Z'");
constexpr int kStampLength = 24;

QJsonDocument readFacts(const QString& picture) {
  QFile file(picture.chopped(4) + QStringLiteral(".json"));
  return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()) : QJsonDocument();
}

// The time in the name of a picture; invalid: it is none of ours.
QDateTime timeOf(const QString& picture) {
  QDateTime time = QDateTime::fromString(QFileInfo(picture).fileName().left(kStampLength), kStamp);
  time.setTimeZone(QTimeZone::utc());
  return time;
}

double seconds(const QDateTime& time) { return static_cast<double>(time.toMSecsSinceEpoch()) / 1000; }

// The overlay of the picture when it was saved; may be empty.
cv::Mat savedOverlay(const QString& stem) {
  const auto read = [&](const char* ending) {
    try {
      return vision::readPictureFile((stem + QLatin1String(ending)).toStdString(), cv::IMREAD_UNCHANGED);
    } catch (const Error&) {  // there is none, or it is damaged
      return cv::Mat();
    }
  };
  cv::Mat depth = read(vision::EstimateFiles::kDepth);
  if (depth.empty()) return read(vision::EstimateFiles::kOverlay);
  depth.convertTo(depth, CV_32F);
  return vision::depthPicture(depth, depthRange(depth));
}

LiveFramePtr frameOf(const QString& picture, const cv::Mat& image, const QJsonDocument& facts) {
  auto frame = std::make_shared<LiveFrame>(*makeLiveFrame(image));
  if (const cv::Mat overlay = savedOverlay(picture.chopped(4)); overlay.size() == image.size())
    frame->overlay = overlay;
  Estimate& estimate = frame->result.estimate;
  const QJsonValue motion = facts[QStringLiteral("motion")];
  if (motion.isObject())
    frame->sample.place = {motion["right_px"].toDouble(), motion["down_px"].toDouble(),
                           motion["turn_degrees"].toDouble(), motion["zoom"].toDouble(1)};
  for (const QJsonValue count : facts[QStringLiteral("token_counts")].toArray())
    estimate.tokens.push_back(count.toDouble());
  estimate.ms.total = facts[QStringLiteral("ms")][QStringLiteral("total")].toDouble();
  return frame;
}

std::vector<StoredPicture> listFolders(const QStringList& folders, QHash<QString, QString>& sources) {
  std::vector<StoredPicture> result;
  QHash<QString, QString> known;
  QFileInfoList files;
  for (const QString& folder : folders)
    if (!folder.isEmpty()) files << QDir(folder).entryInfoList({QStringLiteral("*.png")}, QDir::Files);
  for (const QFileInfo& file : files) {
    if (file.completeBaseName().size() != kStampLength) continue;  // an overlay or another file of a picture
    const QString path = file.filePath();
    const QDateTime time = timeOf(path);
    if (!time.isValid()) continue;
    const auto before = sources.constFind(path);
    const QString source =
        before != sources.constEnd() && !before->isEmpty() ? *before : readFacts(path)["source"].toString();
    known.insert(path, source);
    result.push_back({seconds(time), path, source});
  }
  sources = std::move(known);
  std::ranges::stable_sort(result, {}, &StoredPicture::time);
  return result;
}

}  // namespace

const StoredPicture* nearestPicture(const std::vector<StoredPicture>& pictures, const QString& source, double time,
                                    double tolerance) {
  auto at = std::lower_bound(pictures.begin(), pictures.end(), time - tolerance,
                             [](const StoredPicture& p, double t) { return p.time < t; });
  const StoredPicture* best = nullptr;
  for (; at != pictures.end() && at->time <= time + tolerance; ++at)
    if (at->source == source && (!best || std::abs(at->time - time) < std::abs(best->time - time))) best = &*at;
  return best;
}

PictureStore::PictureStore(const QString& folder, QObject* parent)
    : QObject(parent),
      folder_(folder),
      thread_(this, std::bind_front(&PictureStore::failed, this), QThread::LowPriority) {}

QStringList PictureStore::filesOf(const QString& source) const {
  QStringList files;
  for (const StoredPicture& picture : pictures_)
    if (picture.source == source) files << picture.path;
  return files;
}

void PictureStore::save(std::function<QImage()> make, const QString& path) {
  thread_.run([this, make = std::move(make), path] {
    QSaveFile file(path);
    if (!make().save(&file, "PNG") || !file.commit())  // save() opens it
      throw Error(tr("%1 cannot be written: %2").arg(path, file.errorString()).toStdString());
    thread_.answer([this, path] { emit saved(path); });
  });
}

void PictureStore::list(const QString& other) {
  other_ = other;
  thread_.run([this, other] {
    auto found = listFolders({folder_, other}, sources_);
    thread_.answer([this, found = std::move(found)] {
      pictures_ = found;
      emit listed();
    });
  });
}

void PictureStore::load(const QString& path) {
  thread_.run([this, path] {
    const cv::Mat image = vision::readPicture(path.toStdString());
    const QJsonDocument facts = readFacts(path);
    StoredSample picture{.frame = frameOf(path, image, facts), .text = timeText(timeOf(path).toMSecsSinceEpoch(), {})};
    picture.source = facts[QStringLiteral("source")].toString();
    const auto add = [&](const QString& region, const QJsonObject& measured) {
      const QJsonObject stored = measured[QStringLiteral("area_fraction")].toObject();
      for (auto area = stored.begin(); area != stored.end(); ++area)
        picture.areas[region].insert(area.key(), area->toDouble());
    };
    add({}, facts.object());
    const QJsonObject regions = facts[QStringLiteral("regions")].toObject();
    for (auto region = regions.begin(); region != regions.end(); ++region) add(region.key(), region->toObject());
    thread_.answer([this, picture] { emit loaded(picture); });
  });
}

QImage smallPicture(const QString& file, QSize within) {
  QImageReader reader(file);
  reader.setAutoTransform(true);
  const QSize size = reader.size();
  if (size.width() > within.width() || size.height() > within.height())
    reader.setScaledSize(size.scaled(within, Qt::KeepAspectRatio).expandedTo(QSize(1, 1)));
  return reader.read();
}

Thumbnails::Thumbnails(const QString& folder, QObject* parent)
    : QObject(parent), folder_(folder), thread_(this, {}, QThread::LowPriority) {}

void Thumbnails::setNames(const QStringList& names) {
  const QSet<QString> now(names.begin(), names.end());
  const QSet<QString> fresh = now - std::exchange(known_, now);
  if (fresh.isEmpty()) return;
  thread_.run([this, fresh] {
    for (const QFileInfo& file : QDir(folder_).entryInfoList(QDir::Files)) {
      const QString name = file.completeBaseName();
      if (!thread_.goesOn()) return;
      if (!fresh.contains(name)) continue;
      const QImage thumbnail = smallPicture(file.filePath(), kSize);
      thread_.answer([this, name, thumbnail] { emit made(name, thumbnail); });
    }
  });
}

}  // namespace mpm::gui
