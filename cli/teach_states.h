// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpm/options.hpp"
#include "vision/times/picture_times.h"

namespace mpm::cli {

/// What `mpm teach --states` is asked for.
struct StatesOptions {
  std::string examples;         ///< a folder with one for each state, or a list; empty: not asked for
  std::string regions, region;  ///< a file and a name in it; empty: the whole picture
  vision::TimeOptions times;
};

/// Trains a head of states on the pictures, prints how often it is right, and writes it to `output`. Returns the exit
/// status. `model`: a file; `reduce`: nullopt: that of the model.
int teachStates(const StatesOptions& options, const std::string& model, const std::optional<Reduction>& reduce,
                const std::string& output, bool json);

}  // namespace mpm::cli
