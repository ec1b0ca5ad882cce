// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::test {

/// A file of tests/data.
inline std::string dataPath(const std::string& name) { return std::string(MPM_TEST_DATA_DIR) + "/" + name; }

}  // namespace mpm::test
