// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpm::program {

/// Throws mpm::Error when there is no such folder and none can be made.
void makeFolder(const std::string& path);

/// A new folder for temporary files, removed with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder();  ///< throws mpm::Error
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A text from outside as the name of a file in a folder: other characters than letters, digits and "._-" of ASCII, and
/// a point at the start, become "_"; what is longer than 100 is cut.
std::string fileName(const std::string& text);

/// As a shell reads it: in quotes where it needs them.
std::string shellWord(const std::string& word);

/// What a command reads. Empty names are left out.
struct Inputs {
  std::vector<std::string> models{};   ///< each with its JSON and external data
  std::vector<std::string> sources{};  ///< as they were typed: pictures, folders, globs, videos
  std::vector<std::string> files{};    ///< lists, labels, regions, policies
};

/// Before the work instead of after it: throws UsageError when `output`, the file of `option`, would replace one of
/// `inputs`, mpm::Error when it cannot be written. An empty name is fine.
void requireOutput(const std::string& option, const std::string& output, const Inputs& inputs);

/// Throws UsageError when `output`, the file of `option`, has another ending than this. A name without any, such as
/// that of a device, and an empty name are fine.
void requireEnding(const std::string& option, const std::string& output, const std::string& ending);

/// Pictures named after the frames of the sources, with these endings, and one named `also` are to go to `folder`:
/// throws UsageError when they would replace a file of the sources, or be found among them by the next run.
void requireApart(const std::vector<std::string>& sources, const std::string& folder,
                  const std::vector<std::string>& endings, const std::string& also = "");

}  // namespace mpm::program
