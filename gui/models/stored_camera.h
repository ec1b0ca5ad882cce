// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "monitor/store/store_reader.h"
#include "monitor/watch/camera_config.h"
#include "page/page.h"

namespace mpm::gui {

/// What `mpm monitor` has stored of a camera of a watch file.
class StoredCamera {
  Q_DECLARE_TR_FUNCTIONS(mpm::gui::StoredCamera)
 public:
  static constexpr QSize kPicture{224, 140};  ///< px, at most

  explicit StoredCamera(const monitor::CameraConfig& said) : config(said) {}
  /// Its state, facts, and numbers of its last day, a line each. Always on the same thread. Throws mpm::Error.
  QStringList read();

  const monitor::CameraConfig config;
  QImage picture{};  ///< the last one; of the thread of read()

 private:
  void readSnapshot(const Json& files, const monitor::PrivacyOptions& stored, const monitor::PrivacyChoice& said);
  void readArchive(const monitor::StoreReader& reader, const std::string& name, const monitor::PrivacyChoice& said);
  void show(const QImage& large);

  page::Page page_{{.databases = {config.db}, .snapshots = {config.snapshots}}};
  std::string picture_id_{};
};

}  // namespace mpm::gui
