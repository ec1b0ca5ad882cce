// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/archive_pictures.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "vision/pictures/pictures.h"
#include "vision/sources/source.h"

namespace mpm::monitor {

namespace fs = std::filesystem;

ArchiveFiles::ArchiveFiles(const StoreReader& store, const SourceRecord& source, std::int64_t series)
    : store_(store), source_(source.name), series_(series) {
  const vision::SourceSpec spec = vision::parseSourceSpec(source_);
  if (spec.kind == vision::SourceKind::kFolder) folder_ = spec.target;
}

const ArchiveFiles::Paths& ArchiveFiles::all() {
  if (!all_) {
    Paths paths;
    const vision::SourceSpec spec = vision::parseSourceSpec(source_);
    if (spec.isImages()) {
      for (const std::string& path : vision::sourceFiles(spec))
        paths[fs::path(path).filename().string()].push_back(path);
    }
    all_ = std::move(paths);
  }
  return *all_;
}

const std::map<std::int64_t, std::string>& ArchiveFiles::renamed() {
  if (!renamed_) {
    std::set<std::string> named;
    store_.pictures(series_, [&](const std::string& name, UnixMs, std::int64_t) { named.insert(name); });
    std::map<std::int64_t, std::string> renamed;
    for (const auto& [name, paths] : all()) {
      if (!named.contains(name))
        for (const std::string& path : paths) renamed.emplace(vision::pictureDigest(path), path);
    }
    renamed_ = std::move(renamed);
  }
  return *renamed_;
}

std::string ArchiveFiles::find(const std::string& name, std::int64_t digest) {
  std::error_code unseen;
  if (name.empty()) return "";
  if (!folder_.empty())  // a list of a million names is not needed for one of them
    if (const fs::path path = fs::path(folder_) / name; fs::exists(path, unseen)) return path.string();
  if (const auto named = all().find(name); named != all().end()) {
    const auto& paths = named->second;
    const auto same = std::ranges::find_if(
        paths, [&](const std::string& path) { return paths.size() == 1 || vision::pictureDigest(path) == digest; });
    if (same != paths.end()) return *same;
  }
  if (digest == 0) return "";
  const auto found = renamed().find(digest);
  return found == renamed().end() ? "" : found->second;
}

cv::Mat ArchivePicture::picture(const PrivacyOptions& hidden) const {
  const cv::Mat read = vision::readPicture(file);
  return hidden.on() ? hiddenPicture(read, read.size(), time, view_offset, hidden) : read;
}

std::vector<ArchivePicture> archivePictures(const StoreReader& store, const SourceRecord& source, std::int64_t series,
                                            UnixMs from, UnixMs to, const DayPictures& days,
                                            const std::function<bool()>& goes_on) {
  struct Named {
    UnixMs time;
    std::string name;
    std::int64_t digest;
  };
  std::vector<Named> all;
  store.pictures(series, [&](const std::string& name, UnixMs time, std::int64_t digest) {
    if (!name.empty() && time >= from && time < to) all.push_back({time, name, digest});
  });
  std::ranges::stable_sort(all, {}, &Named::time);
  std::vector<UnixMs> times;
  for (const Named& one : all) times.push_back(one.time);
  ArchiveFiles files(store, source, series);
  std::map<std::size_t, ArchivePicture> good;
  const auto isGood = [&](std::size_t i) {
    if (!goes_on()) return false;
    const Named& one = all[i];
    ArchivePicture picture{.time = one.time, .file = files.find(one.name, one.digest)};
    if (picture.file.empty()) return false;
    bool flagged = true;
    const auto look = [&](const Sample& sample) {
      if (sample.picture != one.name || sample.digest != one.digest) return true;
      flagged = sample.flagged();
      picture.view_offset = sample.view_offset;
      return false;
    };
    store.samples(source.id, one.time, one.time + 1, look, series);
    if (!flagged) good[i] = std::move(picture);
    return !flagged;
  };
  std::vector<ArchivePicture> chosen;
  for (const std::size_t i : days.choose(times, isGood)) chosen.push_back(std::move(good.at(i)));
  return chosen;
}

}  // namespace mpm::monitor
