// SPDX-License-Identifier: Apache-2.0
#include "vision/sources/opening_turns.h"

#include <algorithm>
#include <memory>

#include "vision/sources/sources.h"

namespace mpm::vision {

// Never destroyed: a thread that hangs in its turn may return while the program ends.
OpeningTurns& OpeningTurns::ofFfmpeg() {
  static auto* const turns = new OpeningTurns;
  return *turns;
}

bool OpeningTurns::run(const SourceOptions& options, const std::function<bool()>& open) {
  std::unique_lock lock(mutex_);
  const std::int64_t ticket = ++tickets_;
  if (places_.empty()) since_ = Clock::now();
  places_.push_back({ticket, std::chrono::duration<double>(2 * options.timeout_s)});
  lock.unlock();
  const std::shared_ptr<void> place(nullptr, [&](void*) { leave(ticket); });
  return await(ticket, options) && open();
}

std::size_t OpeningTurns::waiting() const {
  const std::lock_guard lock(mutex_);
  return places_.empty() ? 0 : places_.size() - 1;
}

// False where the source is to end before its turn. A thread that is held up in on_note() may have lost its turn when
// it comes back, and then opens beside the others.
bool OpeningTurns::await(std::int64_t ticket, const SourceOptions& options) {
  std::unique_lock lock(mutex_);
  while (waits(ticket)) {
    if (stopped(options)) return false;
    if (Clock::now() - since_ >= places_.front().longest) {
      places_.pop_front();
      since_ = Clock::now();
      changed_.notify_all();
      continue;
    }
    changed_.wait_for(lock, std::chrono::milliseconds(100));
    lock.unlock();
    if (options.on_note) options.on_note({});
    lock.lock();
  }
  return true;
}

bool OpeningTurns::waits(std::int64_t ticket) const {
  const auto place = std::ranges::find(places_, ticket, &Place::ticket);
  return place != places_.begin() && place != places_.end();
}

// One that hung has lost its place before.
void OpeningTurns::leave(std::int64_t ticket) {
  const std::lock_guard lock(mutex_);
  const auto place = std::ranges::find(places_, ticket, &Place::ticket);
  if (place == places_.end()) return;
  if (place == places_.begin()) since_ = Clock::now();
  places_.erase(place);
  changed_.notify_all();
}

}  // namespace mpm::vision
