// SPDX-License-Identifier: Apache-2.0
#include "gui/models/picture_store.h"

#include <filesystem>
#include <opencv2/imgcodecs.hpp>

#include "gui/models/readout.h"
#include "vision/pictures/estimate_files.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

// The overlay of the picture when it was saved; may be empty. A depth of what is hidden by now is not shown at all.
cv::Mat savedOverlay(const monitor::StoredFrame& stored, const monitor::PrivacyOptions& hidden) {
  using Ending = vision::EstimateFiles;
  try {
    if (!std::filesystem::exists(stored.stem + Ending::kDepth)) return stored.picture(Ending::kOverlay, hidden);
    if (stored.showsOf(hidden).on()) return {};
    monitor::requireOrdinary(stored.stem + Ending::kDepth);
    cv::Mat depth = vision::readPictureFile(stored.stem + Ending::kDepth, cv::IMREAD_UNCHANGED);
    depth.convertTo(depth, CV_32F);
    return vision::depthPicture(depth, depthRange(depth));
  } catch (const Error&) {  // there is none, or it is damaged
    return {};
  }
}

LiveFramePtr frameOf(const monitor::StoredFrame& stored, const monitor::PrivacyOptions& hidden) {
  const cv::Mat image = stored.picture(".png", hidden);
  auto frame = std::make_shared<LiveFrame>(*makeLiveFrame(monitor::CapturedFrame{.image = image, .time = stored.time}));
  if (const cv::Mat overlay = savedOverlay(stored, hidden); overlay.size() == image.size()) frame->overlay = overlay;
  if (hidden.on()) frame->result.hidden_by = std::make_shared<const monitor::PrivacyOptions>(hidden);
  frame->sample.view_offset = stored.view_offset;
  frame->result.estimate.tokens = stored.token_counts;
  frame->result.estimate.ms.total = stored.ms;
  return frame;
}

std::vector<StoredPicture> listFolders(const QStringList& folders, std::map<QString, monitor::PictureOwner>& owners) {
  std::vector<StoredPicture> result;
  std::map<QString, monitor::PictureOwner> known;
  for (const QString& folder : folders) {
    if (folder.isEmpty() || !QFileInfo::exists(folder)) continue;
    for (const std::string& name : monitor::snapshotFiles(folder.toStdString())) {
      const std::string stem = name.substr(0, monitor::kSnapshotTime);
      if (name != stem + ".png") continue;  // an overlay or another file of a picture
      const QString path = folder + QLatin1Char('/') + QString::fromStdString(name);
      monitor::PictureOwner owner = owners[path];
      if (owner.source.empty())
        owner = monitor::snapshotOwner(path.chopped(4).toStdString()).value_or(monitor::PictureOwner());
      known[path] = owner;
      result.push_back({static_cast<double>(monitor::snapshotTime(name)) / 1000, path, owner});
    }
  }
  owners = std::move(known);
  std::ranges::stable_sort(result, {}, &StoredPicture::time);
  return result;
}

}  // namespace

const StoredPicture* nearestPicture(const std::vector<StoredPicture>& pictures, const monitor::PictureOwner& owner,
                                    double time, double tolerance) {
  auto at = std::lower_bound(pictures.begin(), pictures.end(), time - tolerance,
                             [](const StoredPicture& p, double t) { return p.time < t; });
  const StoredPicture* best = nullptr;
  for (; at != pictures.end() && at->time <= time + tolerance; ++at)
    if (at->owner.sameAs(owner) && (!best || std::abs(at->time - time) < std::abs(best->time - time))) best = &*at;
  return best;
}

PictureStore::PictureStore(const QString& folder, QObject* parent)
    : QObject(parent),
      folder_(folder),
      thread_(this, std::bind_front(&PictureStore::failed, this), QThread::LowPriority) {}

QStringList PictureStore::filesOf(const monitor::PictureOwner& owner) const {
  QStringList files;
  for (const StoredPicture& picture : pictures_)
    if (picture.owner.sameAs(owner)) files << picture.path;
  return files;
}

QString PictureStore::lastOf(const monitor::PictureOwner& owner, UnixMs end) const {
  QString last;
  for (const StoredPicture& picture : pictures_)
    if (picture.owner.sameAs(owner) && picture.time * kSecondMs < static_cast<double>(end)) last = picture.path;
  return last;
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
    auto found = listFolders({folder_, other}, owners_);
    thread_.answer([this, found = std::move(found)] {
      pictures_ = found;
      emit listed();
    });
  });
}

void PictureStore::load(const QString& path, const monitor::PrivacyOptions& hidden, int question) {
  thread_.run([this, path, hidden, question] {
    const monitor::StoredFrame stored = monitor::readStored(path.chopped(4).toStdString());
    StoredSample picture{.frame = frameOf(stored, hidden), .time = stored.time};
    picture.source = QString::fromStdString(stored.owner.source);
    picture.question = question;
    for (const auto& [region, areas] : stored.areas) {
      for (const auto& [name, share] : areas)
        picture.areas[QString::fromStdString(region)].insert(QString::fromStdString(name), share);
    }
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

Thumbnails::Thumbnails(const QString& folder) : folder_(folder), thread_(this, {}, QThread::LowPriority) {}

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
