// SPDX-License-Identifier: Apache-2.0
#include "monitor/stored_pictures.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "vision/pictures/pictures.h"
#include "vision/time.h"

namespace mpm::monitor {
namespace {

std::string nameOf(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::uint64_t keyOf(const std::string& name, UnixMs time) { return mpm::hash(hashBytes(name), time); }

std::uint64_t keyOf(UnixMs time, std::int64_t digest) {
  return mpm::hash(mpm::hash(static_cast<std::uint64_t>(time)), digest);
}

}  // namespace

void StoredPictures::read(const StoreReader& store, std::int64_t series) {
  store.pictures(series, [this](const std::string& name, UnixMs time, std::int64_t digest) {
    const std::uint64_t key = keyOf(name, time);
    named_.insert(key);
    whole_.insert(mpm::hash(key, digest));
    contents_.insert(keyOf(time, digest));
    times_.push_back(time);
  });
  std::ranges::sort(times_);
}

vision::Done StoredPictures::state(const vision::TimedPicture& picture) const {
  const auto& [path, time] = picture;
  if (!std::ranges::binary_search(times_, time)) return vision::Done::kNo;
  const std::uint64_t key = keyOf(nameOf(path), time);
  const std::int64_t digest = path.empty() ? 0 : vision::pictureDigest(path);
  if (digest != 0 && contents_.contains(keyOf(time, digest))) return vision::Done::kYes;
  if (!named_.contains(key)) return vision::Done::kNo;
  const bool same = digest == 0 || whole_.contains(mpm::hash(key, digest)) || whole_.contains(mpm::hash(key, 0));
  return same ? vision::Done::kYes : vision::Done::kOther;
}

std::string differenceOfTimes(const StoreReader& store, std::int64_t series, const SourceRecord& record,
                              const std::string& zone, const std::vector<vision::TimedPicture>& listed) {
  if (!record.archive) return "they had the time at which they were read before, and have times of their own now";
  if (!record.time_zone.empty() && record.time_zone != zone)
    return "they were read by the clock of " + record.time_zone + " before, and are by that of " + zone + " now";
  std::unordered_set<std::uint64_t> there;
  std::unordered_set<UnixMs> times;
  for (const auto& [path, time] : listed) there.insert(keyOf(nameOf(path), time));
  std::unordered_multimap<std::uint64_t, std::pair<UnixMs, std::int64_t>> missing;  // by the hash of their names
  store.pictures(series, [&](const std::string& name, UnixMs time, std::int64_t digest) {
    times.insert(time);
    if (digest != 0 && !there.contains(keyOf(name, time))) missing.emplace(hashBytes(name), std::pair(time, digest));
  });
  const auto difference = [](const std::string& what, UnixMs before, UnixMs now) {
    return what + " was of " + isoTime(before) + " before, and is of " + isoTime(now) + " now";
  };
  for (const auto& [path, time] : listed) {
    if (path.empty() && !times.empty() && !times.contains(time))
      return difference("the first frame", *std::ranges::min_element(times), time);
    const auto [first, end] = missing.equal_range(hashBytes(nameOf(path)));
    if (first == end || path.empty()) continue;
    const std::int64_t digest = vision::pictureDigest(path);
    for (auto stored = first; stored != end; ++stored)
      if (stored->second.second == digest) return difference("'" + nameOf(path) + "'", stored->second.first, time);
  }
  return "";
}

}  // namespace mpm::monitor
