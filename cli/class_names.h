// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpm/model_info.hpp"

namespace mpm::cli {

/// A name for every class, all different: those of the facts, else "class_3"; a name that comes twice gets its index.
std::vector<std::string> classNames(const ModelInfo& model);

}  // namespace mpm::cli
