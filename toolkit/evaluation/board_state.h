// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace mpm::evaluation {

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

}  // namespace mpm::evaluation
