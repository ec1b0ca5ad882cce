// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/json_file.h"
#include "mpm/options.hpp"

namespace mpm::evaluation {

/// The CPU as Linux names it; null on an architecture where it has no name there.
Json cpuName();

/// What Linux says about this computer at this moment. Empty: it says nothing.
struct BoardState {
  std::string name;                     ///< of a board: "Raspberry Pi 5 Model B Rev 1.0"
  std::optional<double> ghz, celsius;   ///< of the fastest CPU; of the hottest sensor
  std::optional<double> watts, joules;  ///< of all power meters now; counted by the CPU's packages
  std::string throttled;                ///< bits of a Raspberry Pi's firmware, "0" if it never was
};

/// `root`: stands before /proc and /sys, for tests.
BoardState boardState(const std::string& root = {});

/// One line: name, clock, temperature, throttling and power between two states that are `seconds` apart.
std::string boardText(const BoardState& before, const BoardState& after, double seconds);

/// How many threads OpenCV uses where `wanted` are asked for: at most one per CPU. 0: as many as it uses now.
int usedThreads(int wanted);

/// Peak speed of this machine's GEMM library on all of OpenCV's threads, FLOP/s: the best of several runs on tiles that
/// fit a core's cache. Takes about `seconds`.
double gemmPeak(Precision precision, double seconds);

}  // namespace mpm::evaluation
