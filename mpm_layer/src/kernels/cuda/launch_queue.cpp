// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch_queue.h"

#include <algorithm>

#include "mpm/error.hpp"

namespace mpm::cuda {
namespace {

/// While commands run, those that they start themselves run at once, too.
class Running {
 public:
  explicit Running(bool& running) : running_(running) { running_ = true; }
  ~Running() { running_ = false; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  bool& running_;
};

}  // namespace

void LaunchQueue::throwEarlierError() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void LaunchQueue::runHeld(const Stream& stream) {
  const Running guard(running_);
  while (ran_ < now_.size()) now_[ran_++]->run(stream);
}

void LaunchQueue::run(const Stream& stream, Segment& segment) {
  const Running guard(running_);
  const auto launchAll = [&] {
    for (const auto& command : segment.commands) command->run(stream);
  };
  try {
    if (!segment.graph) segment.graph = Graph(stream, launchAll);
    return segment.graph.launch(stream);
  } catch (const Error&) {
    refused_ = true;
  }
  launchAll();
}

void LaunchQueue::add(const Stream& stream, std::unique_ptr<Command> command) {
  throwEarlierError();
  const std::size_t place = now_.size();
  if (place == 0)
    for (auto segment = known_.begin(); segment != known_.end(); ++segment) matching_.push_back(segment);
  std::erase_if(matching_, [&](const auto& segment) {
    return segment->commands.size() <= place || !segment->commands[place]->equals(*command);
  });
  now_.push_back(std::move(command));
  if (matching_.empty()) runHeld(stream);
}

void LaunchQueue::flush(const Stream& stream) {
  if (running_) return;
  throwEarlierError();
  if (now_.empty()) return;
  const auto whole = std::find_if(matching_.begin(), matching_.end(),
                                  [&](const auto& segment) { return segment->commands.size() == now_.size(); });
  try {
    if (whole != matching_.end()) {
      known_.splice(known_.begin(), known_, *whole);
      run(stream, known_.front());
      if (refused_) known_.clear();
    } else {
      runHeld(stream);
      if (now_.size() >= kFewestCommands) known_.emplace_front().commands = std::move(now_);
      if (known_.size() > kMostSegments) known_.pop_back();
    }
  } catch (...) {
    forget();
    throw;
  }
  matching_.clear();
  now_.clear();
  ran_ = 0;
}

void LaunchQueue::flushQuietly(const Stream& stream) noexcept {
  try {
    flush(stream);
  } catch (...) {
    error_ = std::current_exception();
  }
}

void LaunchQueue::forget() {
  matching_.clear();
  now_.clear();
  ran_ = 0;
  known_.clear();
  refused_ = false;
  error_ = nullptr;
}

}  // namespace mpm::cuda
