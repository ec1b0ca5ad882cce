// SPDX-License-Identifier: Apache-2.0
#include "layers/reuse_session.h"

#include <algorithm>
#include <mutex>

#include "mpm/error.hpp"

namespace mpm {
namespace {

struct Sessions {
  std::mutex mutex;
  std::map<int, std::weak_ptr<ReuseSession>> open;
};

Sessions& sessions() {
  static auto& all = *new Sessions;  // never destroyed: a net may outlive static objects
  return all;
}

}  // namespace

std::shared_ptr<ReuseSession> ReuseSession::open(int number) {
  const std::lock_guard lock(sessions().mutex);
  std::erase_if(sessions().open, [](const auto& entry) { return entry.second.expired(); });
  auto session = std::make_shared<ReuseSession>();
  sessions().open[number] = session;
  return session;
}

std::shared_ptr<ReuseSession> ReuseSession::join(int number) {
  const std::lock_guard lock(sessions().mutex);
  const auto found = sessions().open.find(number);
  std::shared_ptr<ReuseSession> session = found != sessions().open.end() ? found->second.lock() : nullptr;
  if (session) return session;
  throw Error("attribute '" + std::string(kAttribute) +
              "': there is no session of this number; it is for nets in memory, no file has it");
}

float* ReuseSession::keep(const std::string& layer, std::size_t floats) {
  Kept& kept = (*memory)[layer];
  if (kept.floats != floats) {
    kept = {};
    std::fill_n(kept.memory.atLeast(floats), floats, 0.f);
    kept.floats = floats;
  }
  return kept.memory.atLeast(floats);
}

std::size_t ReuseSession::bytes() const {
  std::size_t floats = 0;
  for (const auto& [layer, kept] : *memory) floats += kept.floats;
  return floats * sizeof(float);
}

void ReuseSession::reset() {
  memory->clear();
  changed.reset();
}

}  // namespace mpm
