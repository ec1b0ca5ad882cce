// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/live_frame.h"
#include "gui/models/worker.h"
#include "monitor/store/snapshot.h"

namespace mpm::gui {

/// A stored picture, as monitor::writeSnapshot() names them.
struct StoredPicture {
  double time = 0;  ///< s
  QString path;
  monitor::PictureOwner owner{};  ///< as its JSON file has it; without a source: it is nobody's
};

/// The picture of `owner` nearest to `time`, at most `tolerance` seconds away; nullptr: none. `pictures` ascending.
const StoredPicture* nearestPicture(const std::vector<StoredPicture>& pictures, const monitor::PictureOwner& owner,
                                    double time, double tolerance);

/// The stored pictures of a folder: lists and loads them on its own thread.
class PictureStore : public QObject {
  Q_OBJECT
 public:
  explicit PictureStore(const QString& folder, QObject* parent = nullptr);

  QString folder() const { return folder_; }
  /// The stored pictures at the last listed(), ascending.
  const std::vector<StoredPicture>& pictures() const { return pictures_; }

  /// The files of those of one owner, ascending.
  QStringList filesOf(const monitor::PictureOwner& owner) const;
  /// The file of the last of them that was taken before `end`; empty: there is none.
  QString lastOf(const monitor::PictureOwner& owner, UnixMs end) const;

  /// Lists the pictures again, from now on also those in `other`, the folder of another program.
  void list(const QString& other);
  void list() { list(other_); }
  /// `hidden`: what must not be seen in it. `question`: StoredSample::question.
  void load(const QString& path, const monitor::PrivacyOptions& hidden, int question);
  /// Makes a picture of another kind, such as the chart, and writes it as PNG: saved() or failed().
  void save(std::function<QImage()> make, const QString& path);

 signals:
  void saved(const QString& path);
  void failed(const QString& message);
  void listed();
  void loaded(const mpm::gui::StoredSample& picture);

 private:
  QString folder_, other_;
  std::vector<StoredPicture> pictures_;
  std::map<QString, monitor::PictureOwner> owners_;  // by path, so that each is read once; touched on thread_ only
  Worker thread_;
};

/// The picture of a file, no larger than `within`, upright by its EXIF orientation; null where it is none. Decodes no
/// more of a JPEG than it needs.
QImage smallPicture(const QString& file, QSize within);

/// Small pictures of a folder, each read once, on a thread of its own.
class Thumbnails : public QObject {
  Q_OBJECT
 public:
  static constexpr QSize kSize{64, 40};  ///< px, at most

  explicit Thumbnails(const QString& folder);
  ~Thumbnails() override { thread_.giveUp(); }

  /// The pictures of the folder, without their endings: made() for those that were not there before.
  void setNames(const QStringList& names);

 signals:
  void made(const QString& name, const QImage& thumbnail);

 private:
  QString folder_;
  QSet<QString> known_;
  Worker thread_;
};

}  // namespace mpm::gui
