// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QHash>
#include <QImage>
#include <QObject>
#include <QString>
#include <QThread>
#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "gui/models/live_frame.h"
#include "monitor/time.h"

namespace mpm::gui {

/// A stored picture, as monitor::writeSnapshot() names them.
struct StoredPicture {
  double time = 0;  ///< s
  QString path;
  QString source{};  ///< without credentials, as its JSON file has it; empty: it has none
};

/// The picture of `source` nearest to `time` and no further than `tolerance` seconds away; nullptr when there is none.
/// `pictures` ascending.
const StoredPicture* nearestPicture(const std::vector<StoredPicture>& pictures, const QString& source, double time,
                                    double tolerance);

/// What a picture that is written does not know of itself.
struct PictureFacts {
  double opacity = 0.5;  ///< of the classes in the overlay
  QString source{};
  std::optional<bool> night{};
  std::vector<cv::Vec3b> colors{};  ///< as of monitor::writeSnapshot()
};

/// Snapshots, recordings and time-lapses: writes pictures and forgets old ones, on a thread of its own.
class PictureStore : public QObject {
  Q_OBJECT
 public:
  /// `now`: the wall clock, called on the thread of the store.
  explicit PictureStore(const QString& folder, QObject* parent = nullptr,
                        std::function<monitor::UnixMs()> now = monitor::unixNow);
  ~PictureStore() override;

  QString folder() const { return folder_; }
  /// What is stored, ascending, as of the last listed().
  const std::vector<StoredPicture>& pictures() const { return pictures_; }

  enum class Occasion { kAsked, kTimeLapse, kRecording };
  /// Clean PNG, overlay PNG and JSON; a recording writes many and leaves out the overlay. A picture that would make
  /// more than a few wait is refused; false then. What nobody asks for picture by picture leaves a reserve on the disk:
  /// the samples may need it.
  bool write(const LiveFramePtr& frame, const PictureFacts& facts, Occasion occasion = Occasion::kAsked);
  /// Retention: pictures older than `days` go (0: none), unless the clock may be wrong (monitor::SettledClock), and the
  /// oldest go while the disk has less than `free_mb` MB free (0: never). The newest always stays.
  void setRetention(double days, double free_mb);
  void list();
  void load(const QString& path);
  /// Makes a picture of another kind, such as the chart, and writes it as PNG: saved() or failed().
  void save(std::function<QImage()> make, const QString& path);

 signals:
  void written(const QString& path, mpm::gui::PictureStore::Occasion occasion);
  void forgotten(int files);
  void saved(const QString& path);
  void failed(const QString& message);
  void listed();
  /// `areas`: shares of the classes by name, as the JSON file has them.
  void loaded(const mpm::gui::LiveFramePtr& frame, double time, const QHash<QString, double>& areas);

 private:
  void forgetOld();

  // Signals are emitted on the thread of this object.
  template <typename Emit>
  void tell(Emit emission) {
    QMetaObject::invokeMethod(this, std::move(emission));
  }

  QString folder_;
  QThread thread_;
  QObject* far_;
  std::atomic<int> waiting_ = 0;
  std::atomic<double> days_ = 0, free_mb_ = 0;
  std::vector<StoredPicture> pictures_;
  std::function<monitor::UnixMs()> now_;
  std::int64_t next_look_ = 0;  // steady ms; of a recording, for what is too old; touched on thread_ only
  std::optional<monitor::SettledClock> clock_;  // from the first look on; touched on thread_ only
  QHash<QString, QString> sources_;  // of pictures by path, so that each is read once; touched on thread_ only
};

}  // namespace mpm::gui
