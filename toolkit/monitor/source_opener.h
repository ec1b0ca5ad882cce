// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "monitor/capture/capture.h"
#include "monitor/capture/inference.h"
#include "monitor/hiding.h"
#include "monitor/recorder.h"
#include "monitor/session.h"
#include "monitor/stored_pictures.h"
#include "vision/times/archive.h"

namespace mpm::monitor {

/// Calls `read` with what the database has of a source, if anything. Throws mpm::Error where that cannot be read.
void readSource(const std::string& database, const std::string& source,
                const std::function<void(const StoreReader& store, const SourceRecord& record)>& read);

/// Why a video or pictures whose stored samples have their times are not to be read without these. "": they may be.
std::string missingTimes(const CameraPlan& plan, const SourceRecord& record);

/// Opens the source of a session: a SourceFactory. The first time it also reads what the database has of the source:
/// what must not be seen for Hiding; regions, view and states of the rules for the Recorder; the pictures of an archive
/// for StoredPictures. If the disk hangs meanwhile, the source is opened again without them. This object owns what it
/// uses, because a read that hangs may outlive the session.
class SourceOpener {
 public:
  struct For {
    CameraPlan plan{};
    std::string database{};           ///< empty: nothing is stored
    InferenceWorker::Wanted model{};  ///< that will measure the pictures
    std::function<UnixMs()> now{};
    std::shared_ptr<Hiding> hiding{};
    std::weak_ptr<Recorder> recorder{};
    std::shared_ptr<StoredPictures> pictures{};
  };
  explicit SourceOpener(For what);

  /// Throws mpm::Error, as vision::openSource() and vision::openArchive() do.
  std::unique_ptr<vision::FrameSource> operator()(vision::SourceOptions how) const;

 private:
  std::optional<std::string> takePrivacy(const vision::SourceOptions& how) const;
  void takeStored(const std::optional<std::string>& privacy, const vision::SourceOptions& how,
                  const std::vector<vision::TimedPicture>& listed) const;
  void recall(const StoreReader& store, const SourceRecord& record, const std::string& privacy, bool new_series,
              std::optional<std::int64_t> series) const;

  For for_;
  std::string source_;  // SourceSpec::name()
  bool archive_;
  std::shared_ptr<std::atomic_flag> asked_ = std::make_shared<std::atomic_flag>();  // the database was read, or is
};

}  // namespace mpm::monitor
