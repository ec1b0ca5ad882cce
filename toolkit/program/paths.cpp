// SPDX-License-Identifier: Apache-2.0
#include "program/paths.h"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "program/terminal/program.h"
#include "vision/sources/source.h"

namespace mpm::program {
namespace {

namespace fs = std::filesystem;

fs::path canonical(const fs::path& path) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
}

}  // namespace

void makeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path))
    throw Error("cannot make the folder '" + path + "'" + (error ? ": " + error.message() : ""));
}

ScratchFolder::ScratchFolder() : path_((fs::temp_directory_path() / "mpm_XXXXXX").string()) {
  if (!::mkdtemp(path_.data())) throw Error("cannot make a folder in '" + fs::temp_directory_path().string() + "'");
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string fileName(const std::string& text) {
  constexpr std::size_t kMost = 100;
  std::string name = text.substr(0, kMost);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && (c != '.' || &c == name.data()))
      c = '_';
  }
  return name.empty() ? "_" : name;
}

std::string shellWord(const std::string& word) {
  const char* const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./";
  std::string text;
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return word.empty() || word.find_first_not_of(plain) != std::string::npos ? "'" + text + "'" : word;
}

void requireOutput(const std::string& option, const std::string& output, const Inputs& inputs) {
  if (output.empty()) return;
  if (output == "-") throw UsageError(option + " writes a file: name one");
  const auto refuse = [&](const std::string& input) {
    throw UsageError(option + " would replace '" + input + "': name another file");
  };
  std::vector<std::string> files = inputs.files;
  for (const std::string& model : inputs.models)
    for (std::string& file : modelFiles(model)) files.push_back(std::move(file));
  for (const std::string& file : files)
    if (!file.empty() && sameFile(output, file)) refuse(file);
  std::error_code ignored;
  if (fs::exists(output, ignored)) {  // there may be a million pictures, and all of them exist
    for (const std::string& source : inputs.sources) {
      for (const std::string& picture : vision::sourceFiles(vision::parseSourceSpec(source)))
        if (fs::equivalent(output, picture, ignored)) refuse(picture);
    }
  }
  const AtomicFile attempt(output);
}

void requireEnding(const std::string& option, const std::string& output, const std::string& ending) {
  const std::string found = fs::path(output).extension().string();
  if (!found.empty() && !boost::algorithm::iequals(found, ending))
    throw UsageError(option + " is '" + output + "'; it must end in " + ending);
}

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
    return std::ranges::any_of(stems, [&](const std::string& stem) {
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

}  // namespace mpm::program
