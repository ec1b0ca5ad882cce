// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpm/export.hpp"

namespace mpm {

/// The model to take when nobody names one: what the environment variable MPM_MODEL names, else the street model that
/// comes with this library (share/mpm/models/street_vit_t16.onnx of its installation or build tree). Empty when there
/// is none. The file of MPM_MODEL is not looked for: that it is missing is said by whoever reads it.
MPM_API std::string defaultModel();

}  // namespace mpm
