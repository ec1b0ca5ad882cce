// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace mpm::cli {

/// From now on the first Ctrl-C (or SIGTERM) only sets the flag, so that the frame in hand is finished and nothing is
/// half-written; the second one kills as usual. Writing to a pipe that nobody reads becomes an error instead of a
/// signal.
void installSignalHandlers();

const std::atomic<bool>& interrupted();

}  // namespace mpm::cli
