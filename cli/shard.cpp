// SPDX-License-Identifier: Apache-2.0
#include "cli/shard.h"

#include <filesystem>
#include <map>

#include "base/hash.h"
#include "base/number_text.h"
#include "mpm/error.hpp"
#include "program/model_options.h"
#include "program/terminal/program.h"
#include "vision/sources/source.h"

namespace mpm::cli {

using namespace program;

namespace fs = std::filesystem;

bool Shard::contains(const std::string& path) const {
  return hashBytes(fs::path(path).filename().string()) % static_cast<std::uint64_t>(of) ==
         static_cast<std::uint64_t>(number - 1);
}

Shard parseShard(const std::string& text) {
  const auto shard = readNumbers(text, '/');
  if (!shard || shard->first < 1 || shard->first > shard->second)
    throw Error("'" + text + "' is not I/N with I from 1 to N, such as 2/8");
  return {shard->first, shard->second};
}

void addShard(CLI::App& verb, Shard& shard) {
  addText(verb, "--shard", "I/N",
          "Only part I of N of the images, for one of N machines. The name of an image decides which part it is in",
          [&shard](const std::string& text) { shard = parseShard(text); })
      ->group(kJobGroup);
}

std::set<std::string> requireNamedImages(const std::string& option, const std::vector<std::string>& sources) {
  std::map<std::string, std::string> file_of_stem;
  std::set<std::string> names;
  for (const std::string& source : sources) {
    const vision::SourceSpec spec = vision::parseSourceSpec(source);
    using enum vision::SourceKind;
    if (spec.kind != kImage && spec.kind != kFolder && spec.kind != kGlob)
      throw UsageError(option + " needs images, a folder or a glob, and '" + spec.shownText() + "' is none of these");
    for (const std::string& file : vision::sourceFiles(spec)) {
      const auto [other, fresh] = file_of_stem.emplace(fs::path(file).stem().string(), file);
      if (!fresh)
        throw UsageError(option + " needs images of different names, and '" + other->second + "' and '" + file +
                         "' have the same: work on them one after the other");
      names.insert(other->first);
    }
  }
  return names;
}

void requireAllFrames(const Reuse& reuse, const Shard& shard, bool resumes) {
  if (reuse.on && (!shard.isWhole() || resumes))
    throw UsageError(std::string("--reuse needs all frames in their order, and ") +
                     (resumes ? "--resume leaves out those that are done" : "--shard takes some of them"));
}

}  // namespace mpm::cli
