// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::vision {

/// The model to take when nobody names one: what the environment variable MPM_MODEL names, else the street model that
/// comes with this library (share/mpm/models/street_vit_t16.onnx of its installation or build tree). Empty when there
/// is none. The file of MPM_MODEL is not looked for: that it is missing is said by whoever reads it.
std::string defaultModel();

}  // namespace mpm::vision
