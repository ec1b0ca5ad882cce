// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace mpm::test {

/// A file of tests/data; where the tests run on another machine than they were built on, MPM_TEST_DATA says where that
/// is.
inline std::string dataPath(const std::string& name) {
  const char* const moved = std::getenv("MPM_TEST_DATA");
  return std::string(moved != nullptr ? moved : MPM_TEST_DATA_DIR) + "/" + name;
}

}  // namespace mpm::test
