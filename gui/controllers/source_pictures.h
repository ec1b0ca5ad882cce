// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/folder_browser.h"
#include "gui/controllers/live_monitor.h"
#include "gui/models/picture_store.h"

namespace mpm::gui {

/// The files of the pictures that there are of the source that is open. The parts that it asks outlive it.
class SourcePictures {
 public:
  SourcePictures(const LiveMonitor* live, const PictureStore* pictures, const FolderBrowser* folder)
      : live_(live), pictures_(pictures), folder_(folder) {}

  /// Snapshots and pictures of a time-lapse, ascending.
  QStringList stored() const {
    const auto owner = live_->session().owner();
    return owner ? pictures_->filesOf(*owner) : QStringList();
  }
  /// Those of the folder that is open. They show what must not be seen: see privacy().
  QStringList ofFolder() const { return folder_->files(); }
  /// What must not be seen in them; nullopt: no source is open, or it is not known yet.
  std::optional<monitor::PrivacyOptions> privacy() const { return live_->session().privacy(); }

 private:
  const LiveMonitor* const live_;
  const PictureStore* const pictures_;
  const FolderBrowser* const folder_;
};

}  // namespace mpm::gui
