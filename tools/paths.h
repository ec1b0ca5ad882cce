// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpm::cli {

/// Both lead to the same file, which need not exist.
bool sameFile(const std::string& a, const std::string& b);

/// Throws mpm::Error, before the work instead of after it, when no file can be written there.
void requireWritable(const std::string& path);

/// Pictures named after the frames of the sources, with these endings, and one named `also` are to go to `folder`:
/// throws UsageError when they would replace a file of the sources, or be found among them by the next run.
void requireApart(const std::vector<std::string>& sources, const std::string& folder,
                  const std::vector<std::string>& endings, const std::string& also = "");

}  // namespace mpm::cli
