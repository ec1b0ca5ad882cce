// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace mpm::test {

/// A test with a folder of its own.
class InFolder : public ::testing::Test {
 protected:
  /// Writes a file into the folder; returns its path.
  std::string write(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }

  const TemporaryFolder folder_;
};

}  // namespace mpm::test
