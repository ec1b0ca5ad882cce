// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace mpm::train {

/// Shows the progress of training on stderr: a bar that is redrawn on a terminal, else a line every `every` steps.
class Progress {
 public:
  Progress(bool terminal, int steps, int done, int every);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(double loss, double learning_rate);
  /// Text between two redraws.
  void say(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(double learning_rate) const;

  const bool terminal_;
  const int steps_, first_, every_;
  int done_;
  double loss_ = 0;              // moving average over about 50 steps
  double seconds_per_step_ = 0;  // the same
  Clock::time_point last_ = Clock::now(), drawn_{};
};

}  // namespace mpm::train
