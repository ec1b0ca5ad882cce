// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpm/error.hpp"

namespace mpm::cli {

/// What came of the sources of a command.
struct FrameCount {
  int read = 0;
  int left_out = 0;  ///< pictures of a folder that cannot be read

  /// Throws mpm::Error when some were left out: what was made of the others is not all that was asked for.
  void requireAll() const {
    if (left_out > 0)
      throw Error(std::to_string(left_out) + " of " + std::to_string(read + left_out) + " pictures could not be read");
  }
};

}  // namespace mpm::cli
