// SPDX-License-Identifier: Apache-2.0
#include "cli/shard.h"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>

#include "cli/terminal/program.h"
#include "mpm/error.hpp"
#include "vision/source.h"

namespace mpm::cli {
namespace {

namespace fs = std::filesystem;

// FNV-1a with 64 bits, and the finaliser of MurmurHash3, because the lowest bits of FNV alone are poorly mixed.
// Machines and later versions must agree, so it never changes.
std::uint64_t hashOf(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char c : name) hash = (hash ^ c) * 0x100000001b3;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
  return hash ^ (hash >> 33);
}

}  // namespace

bool Shard::contains(const std::string& path) const {
  return hashOf(fs::path(path).filename().string()) % static_cast<std::uint64_t>(of) ==
         static_cast<std::uint64_t>(number - 1);
}

Shard parseShard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, shard.number);
  if (number.ec == std::errc() && number.ptr != end && *number.ptr == '/') {
    const auto of = std::from_chars(number.ptr + 1, end, shard.of);
    if (of.ec == std::errc() && of.ptr == end && shard.number >= 1 && shard.number <= shard.of) return shard;
  }
  throw Error("'" + text + "' is not I/N with I from 1 to N, such as 2/8");
}

void addShard(CLI::App& verb, Shard& shard) {
  verb.add_option_function<std::string>(
          "--shard",
          [&shard](const std::string& text) {
            try {
              shard = parseShard(text);
            } catch (const Error& error) {
              throw CLI::ValidationError("--shard", error.what());
            }
          },
          "Only part I of N of the images, for one of N machines. The name of an image decides which part it is in")
      ->option_text("I/N");
}

void requireNamedImages(const std::string& option, const std::vector<std::string>& sources) {
  std::map<std::string, std::string> file_of_stem;
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
    }
  }
}

}  // namespace mpm::cli
