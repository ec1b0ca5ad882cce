// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>

namespace mpm {

/// The model that comes with the program: MPM_MODEL, else street.onnx beside the installation, else in the source tree
/// the program was built from. Empty when there is none.
QString defaultModel();

}  // namespace mpm
