// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::cli {

/// The path of this program.
std::string ownProgram();

/// A file or folder that the program needs: `installed` in share/mpm of its own installation, which may be moved, else
/// `of_source` in the source that it was built from.
std::string ownFile(const std::string& installed, const std::string& of_source);

}  // namespace mpm::cli
