// SPDX-License-Identifier: Apache-2.0
#include "models/picture_store.h"

#include <QDateTime>
#include <QDir>
#include <QTimeZone>
#include <algorithm>
#include <cmath>
#include <opencv2/imgcodecs.hpp>

#include "monitor/sample.h"
#include "monitor/snapshot.h"
#include "mpm/error.hpp"
#include "mpm/pictures.hpp"

namespace mpm {
namespace {

const QString kStamp = QStringLiteral("yyyy-MM-dd'T'HH-mm-ss.zzz'Z'");
constexpr int kStampLength = 24;
constexpr int kMostWaiting = 4;

monitor::Sample sampleOf(const LiveFrame& frame) {
  monitor::Sample sample;
  sample.time = frame.result.frame.time;
  sample.tokens = frame.result.segmentation.tokens;
  sample.inference_ms = frame.result.segmentation.ms.total;
  sample.areas = frame.areas;
  sample.brightness = monitor::meanBrightness(frame.image());
  return sample;
}

std::vector<StoredPicture> listFolder(const QString& folder) {
  std::vector<StoredPicture> result;
  for (const QFileInfo& file : QDir(folder).entryInfoList({QStringLiteral("*.png")}, QDir::Files, QDir::Name)) {
    if (file.fileName().endsWith(QLatin1String("_overlay.png"))) continue;
    QDateTime time = QDateTime::fromString(file.fileName().left(kStampLength), kStamp);
    if (!time.isValid()) continue;
    time.setTimeZone(QTimeZone::utc());
    result.push_back({static_cast<double>(time.toMSecsSinceEpoch()) / 1000, file.filePath()});
  }
  return result;
}

}  // namespace

const StoredPicture* nearestPicture(const std::vector<StoredPicture>& pictures, double time, double tolerance) {
  const auto after = std::lower_bound(pictures.begin(), pictures.end(), time,
                                      [](const StoredPicture& p, double t) { return p.time < t; });
  const StoredPicture* best = nullptr;
  const auto consider = [&](const StoredPicture& picture) {
    const double distance = std::abs(picture.time - time);
    if (distance <= tolerance && (!best || distance < std::abs(best->time - time))) best = &picture;
  };
  if (after != pictures.end()) consider(*after);
  if (after != pictures.begin()) consider(*(after - 1));
  return best;
}

PictureStore::PictureStore(const QString& folder, QObject* parent)
    : QObject(parent), folder_(folder), far_(new QObject) {
  far_->moveToThread(&thread_);
  thread_.setObjectName(QStringLiteral("pictures"));
  thread_.start(QThread::LowPriority);
}

PictureStore::~PictureStore() {
  thread_.quit();
  thread_.wait();
  delete far_;
}

bool PictureStore::write(const LiveFramePtr& frame, double opacity, const QString& source, bool only_clean) {
  if (!frame->result.model || waiting_ >= kMostWaiting) return false;
  ++waiting_;
  QMetaObject::invokeMethod(far_, [this, frame, opacity, source, only_clean] {
    try {
      std::string path;
      if (only_clean) {
        if (!QDir().mkpath(folder_)) throw Error("cannot make the folder '" + folder_.toStdString() + "'");
        path = (folder_ + QLatin1Char('/') +
                QDateTime::fromMSecsSinceEpoch(frame->result.frame.time, QTimeZone::utc()).toString(kStamp) +
                QStringLiteral(".png"))
                   .toStdString();
        writePicture(path, frame->image());
      } else {
        path = monitor::writeSnapshot(folder_.toStdString(), frame->result, sampleOf(*frame), source.toStdString(),
                                      opacity);
      }
      if (days_ > 0 || free_mb_ > 0)
        monitor::forgetSnapshots(folder_.toStdString(), monitor::unixNow(), days_, free_mb_);
      tell([this, name = QString::fromStdString(path)] { emit written(name); });
    } catch (const std::exception& error) {
      tell([this, message = QString::fromStdString(error.what())] { emit failed(message); });
    }
    --waiting_;
  });
  return true;
}

void PictureStore::setRetention(double days, double free_mb) {
  days_ = days;
  free_mb_ = free_mb;
}

void PictureStore::list() {
  QMetaObject::invokeMethod(far_, [this] {
    auto found = listFolder(folder_);
    QMetaObject::invokeMethod(this, [this, found = std::move(found)] {
      pictures_ = found;
      emit listed();
    });
  });
}

void PictureStore::load(const QString& path) {
  QMetaObject::invokeMethod(far_, [this, path] {
    const cv::Mat image = cv::imread(path.toStdString());
    QDateTime time = QDateTime::fromString(QFileInfo(path).fileName().left(kStampLength), kStamp);
    time.setTimeZone(QTimeZone::utc());
    if (image.empty())
      tell([this, message = tr("The picture %1 cannot be read").arg(path)] { emit failed(message); });
    else
      tell([this, frame = makeLiveFrame(image), at = static_cast<double>(time.toMSecsSinceEpoch()) / 1000] {
        emit loaded(frame, at);
      });
  });
}

}  // namespace mpm
