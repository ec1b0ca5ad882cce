// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/bench/variant.h"

namespace mpm::cli {

/// Each precision that is fast here with each way to compute less: the default model on the built-in street, and the
/// networks of the paper's table of a Raspberry Pi. Prints Markdown, to be sent. Returns the exit status.
int board(BenchArguments arguments, int threads);

}  // namespace mpm::cli
