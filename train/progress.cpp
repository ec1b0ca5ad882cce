// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <algorithm>
#include <cstdio>

namespace mpm::train {

namespace {

// "3:07:42".
std::string clockText(double seconds) {
  const auto whole = static_cast<long>(std::max(0., seconds) + 0.5);
  char text[32];
  std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  return text;
}

}  // namespace

Progress::Progress(bool terminal, int steps, int done, int every)
    : terminal_(terminal), steps_(steps), first_(done), every_(every), done_(done) {}

Progress::~Progress() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

std::string Progress::line(double learning_rate) const {
  constexpr int kWidth = 24;
  char text[160];
  if (terminal_) {
    std::string bar(static_cast<std::size_t>(static_cast<long>(kWidth) * done_ / std::max(1, steps_)), '#');
    bar.resize(kWidth, '.');
    std::snprintf(text, sizeof text, "[%s] %d/%d  loss %.4f  lr %.1e  %.2f s/step  %s left", bar.c_str(), done_, steps_,
                  loss_, learning_rate, seconds_per_step_, clockText((steps_ - done_) * seconds_per_step_).c_str());
  } else {
    std::snprintf(text, sizeof text, "step %d/%d  loss %.4f  lr %.2e  %.2f s/step  %s left", done_, steps_, loss_,
                  learning_rate, seconds_per_step_, clockText((steps_ - done_) * seconds_per_step_).c_str());
  }
  return text;
}

void Progress::step(double loss, double learning_rate) {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  ++done_;
  const double share = std::max(0.02, 1. / (done_ - first_));
  loss_ += share * (loss - loss_);
  seconds_per_step_ += share * (seconds - seconds_per_step_);
  if (terminal_) {
    if (now - drawn_ < std::chrono::milliseconds(200)) return;
    drawn_ = now;
    std::fprintf(stderr, "\r\033[K%s", line(learning_rate).c_str());
  } else if (done_ % every_ == 0 || done_ == steps_) {
    std::fprintf(stderr, "%s\n", line(learning_rate).c_str());
  }
}

void Progress::say(const std::string& text) {
  std::fprintf(stderr, terminal_ ? "\r\033[K%s\n" : "%s\n", text.c_str());
  last_ = Clock::now();  // what took its time here was no step
}

}  // namespace mpm::train
