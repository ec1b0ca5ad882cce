// SPDX-License-Identifier: Apache-2.0
#include "monitor/capture/followed_files.h"

#include <utility>

#include "base/open_file.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

constexpr std::int64_t kLookAtFilesMs = 2000;

// Which files these are, and when each was written; empty: the first one cannot be read.
std::string lookAt(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& file : files) {
    try {
      all += OpenFile(file).identity() + "\n";
    } catch (const Error&) {
      if (all.empty()) return {};
      all += "\n";
    }
  }
  return all;
}

}  // namespace

FollowedFiles::FollowedFiles(std::vector<std::string> files, Read read)
    : files_(std::move(files)), before_(read == Read::kLater ? lookAt(files_) : ""), seen_(before_) {}

bool FollowedFiles::changed(std::int64_t steady) {
  if (files_.empty() || steady < next_look_) return false;
  next_look_ = steady + kLookAtFilesMs;
  std::string now = lookAt(files_);
  const bool settled = std::exchange(seen_, now) == now;
  if (now.empty() || !settled || now == before_) return false;
  before_ = std::move(now);
  return true;
}

bool FollowedFiles::asBefore() const { return lookAt(files_) == before_; }

}  // namespace mpm::monitor
