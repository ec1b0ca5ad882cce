// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::cli {

/// The git commit that this program was built from, with "-dirty" behind it where files of it were changed; "" where
/// the sources were no checkout of git, as those of a package. The version says it there.
std::string buildCommit();

}  // namespace mpm::cli
