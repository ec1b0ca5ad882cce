// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpm::cli {

/// Throws mpm::Error, before the work instead of after it, when no file can be written there.
void requireWritable(const std::string& path);

/// Pictures named after the frames of the sources, with these endings, and one named `also` are to go to `folder`:
/// throws UsageError when they would replace a file of the sources, or be found among them by the next run.
void requireApart(const std::vector<std::string>& sources, const std::string& folder,
                  const std::vector<std::string>& endings, const std::string& also = "");

}  // namespace mpm::cli
