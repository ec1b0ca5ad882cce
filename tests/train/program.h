// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace mpm::test {

struct ProgramResult {
  int exit_code = -1;  ///< -1: killed by a signal
  std::string out, err;
};

/// Runs mpm-train of this build and waits for it. While it runs, `signal_now` is asked again and again which signal to
/// send; 0 for none yet. One signal is sent at most.
ProgramResult mpmTrain(const std::vector<std::string>& arguments, const std::function<int()>& signal_now = nullptr);

}  // namespace mpm::test
