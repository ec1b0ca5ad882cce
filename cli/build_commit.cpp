// SPDX-License-Identifier: Apache-2.0
#include "cli/build_commit.h"

#include "cli/build_commit_text.h"

namespace mpm::cli {

std::string buildCommit() { return kBuildCommit; }

}  // namespace mpm::cli
