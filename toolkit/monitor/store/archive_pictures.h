// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "monitor/privacy.h"
#include "monitor/store/calendar.h"
#include "monitor/store/sample.h"
#include "monitor/store/store_reader.h"

namespace mpm::monitor {

/// The files of the pictures of an archive, as the samples of a series name them. Looks at the disk when it has to.
class ArchiveFiles {
 public:
  /// `series`: SeriesRecord::id. `store` must outlive this.
  ArchiveFiles(const StoreReader& store, const SourceRecord& source, std::int64_t series);

  /// The path of the picture with this Sample::picture and ::digest; empty: it is gone. A picture that was renamed
  /// since is found by its content, among the files that no sample names, and so is one of several files of one name.
  /// Throws mpm::Error where the files of the source cannot be listed.
  std::string find(const std::string& name, std::int64_t digest);

 private:
  using Paths = std::map<std::string, std::vector<std::string>>;  // by name: folders may have files of one name
  const Paths& all();
  const std::map<std::int64_t, std::string>& renamed();

  const StoreReader& store_;
  std::string source_, folder_;  // folder_: empty where the source is none
  std::int64_t series_;
  std::optional<Paths> all_{};
  std::optional<std::map<std::int64_t, std::string>> renamed_{};  // by digest: files that no sample names
};

/// A picture of an archive.
struct ArchivePicture {
  UnixMs time = 0;
  std::string file{};
  ViewMotion view_offset{};  ///< where the view had moved to

  /// Its pixels, CV_8UC3 in BGR order, as people may see them: hiddenPicture(). Throws mpm::Error: the file is no
  /// picture any more.
  cv::Mat picture(const PrivacyOptions& hidden) const;
};

/// One picture for each day of [from, to): the one that `days` chooses among the pictures of the series that are not
/// flagged and whose file exists (ArchiveFiles). `goes_on`: returns false to end the search. Throws mpm::Error.
std::vector<ArchivePicture> archivePictures(
    const StoreReader& store, const SourceRecord& source, std::int64_t series, UnixMs from, UnixMs to,
    const DayPictures& days, const std::function<bool()>& goes_on = [] { return true; });

}  // namespace mpm::monitor
