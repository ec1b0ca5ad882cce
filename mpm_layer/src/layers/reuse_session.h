// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/scratch.h"

namespace mpm {

/// The memory of the layers of one net from frame to frame, and the rows that the next forward() computes
/// (docs/reuse.md). The layers find their session by a number in their attribute `kAttribute`, which net/reuse_nodes.h
/// adds. One thread at a time.
class ReuseSession {
 public:
  static constexpr const char* kAttribute = "reuse";

  /// A new session, registered under `number` while somebody holds it.
  static std::shared_ptr<ReuseSession> open(int number);
  /// Throws mpm::Error when there is no session of that number.
  static std::shared_ptr<ReuseSession> join(int number);

  /// Patches that the next forward() computes, ascending. nullopt: all of them (a key frame).
  std::optional<std::vector<int>> changed;

  struct Kept {
    Scratch<float> memory;
    std::size_t floats = 0;
  };
  /// What the layers keep, by their names: of the frames of one camera. The next forward() goes on from it.
  using Memory = std::map<std::string, Kept>;
  std::shared_ptr<Memory> memory = std::make_shared<Memory>();

  /// Memory of a layer, aligned to a cache line: zeros at first and when `floats` is another number than before.
  float* keep(const std::string& layer, std::size_t floats);
  /// Bytes that all layers keep.
  std::size_t bytes() const;
  /// Frees what is kept. The next forward() computes everything.
  void reset();
};

}  // namespace mpm
