// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json_file.h"

namespace mpm::page {

/// The answer of /api/cameras in the text format of Prometheus. The numbers are those of the last samples, and of a
/// camera that this program watches its counts; a region without a name is the whole picture.
std::string metricsText(const Json& cameras);

}  // namespace mpm::page
