// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QStringList>
#include <QThreadPool>
#include <atomic>
#include <opencv2/core.hpp>

namespace mpm::gui {

/// The pictures of a folder or glob: lists and reads them on its own thread.
class FolderPictures : public QObject {
  Q_OBJECT
 public:
  explicit FolderPictures(QObject* parent = nullptr);

  /// A source that is neither has no pictures. listed() follows.
  void setSource(const QString& source);
  /// Paths, in the order in which the source gives them.
  const QStringList& files() const { return files_; }
  /// Reads one of the files: loaded() or failed(). Of several that wait only the last is read.
  void load(int index);

 signals:
  void listed();
  void loaded(const QString& file, const cv::Mat& image);
  void failed(const QString& message);

 private:
  // Runs `emission` on the thread of this object, unless something newer was asked for.
  template <typename Emit>
  void queue(int version, Emit emission);

  QStringList files_;
  std::atomic<int> version_ = 0;
  QThreadPool thread_;  // last: waits for what is being read
};

}  // namespace mpm::gui
