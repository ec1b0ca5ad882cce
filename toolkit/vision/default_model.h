// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::vision {

/// Path of the model to use when the user names none: the value of the environment variable MPM_MODEL, else the street
/// model of this installation or build tree (share/mpm/models/outdoor_vit_t16.onnx). Empty when neither exists. Does
/// not check that the file of MPM_MODEL exists.
std::string defaultModel();

}  // namespace mpm::vision
