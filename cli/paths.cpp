// SPDX-License-Identifier: Apache-2.0
#include "cli/paths.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "cli/terminal/errors.h"
#include "vision/source.h"

namespace mpm::cli {
namespace {

namespace fs = std::filesystem;

fs::path canonical(const fs::path& path) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
}

}  // namespace

void requireWritable(const std::string& path) { const AtomicFile attempt(path); }

void requireApart(const std::vector<std::string>& sources, const std::string& folder,
                  const std::vector<std::string>& endings, const std::string& also) {
  std::set<std::string> stems;
  std::vector<std::string> files;
  for (const std::string& source : sources) {
    if (sameFile(source, folder)) throw UsageError("--out is the source '" + source + "' itself: name another folder");
    for (std::string& file : vision::sourceFiles(vision::parseSourceSpec(source))) {
      stems.insert(fs::path(file).stem().string());
      files.push_back(std::move(file));
    }
  }
  // STEM, or STEM_2 or STEM_000012 of a second image of this name or a video.
  const auto isFrame = [&](const std::string& name) {
    return std::any_of(stems.begin(), stems.end(), [&](const std::string& stem) {
      return name.starts_with(stem) && (name.size() == stem.size() || name[stem.size()] == '_');
    });
  };
  const fs::path target = canonical(folder);
  for (const std::string& file : files) {
    const fs::path path = canonical(file);
    const std::string name = path.filename().string();
    bool replaced = name == also;
    for (const std::string& ending : endings)
      replaced = replaced || (name.ends_with(ending) && isFrame(name.substr(0, name.size() - ending.size())));
    if (replaced && path.parent_path() == target)
      throw UsageError("'" + file + "' is a source, and --out would replace it: name another folder");
  }
}

}  // namespace mpm::cli
