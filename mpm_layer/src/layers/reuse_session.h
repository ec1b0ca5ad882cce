// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/scratch.h"

namespace mpm {

/// The memory of the layers of one net from frame to frame, and the rows that the next forward() computes
/// (docs/reuse.md). One thread at a time.
struct ReuseSession {
  /// Patches that the next forward() computes, ascending. nullopt: all of them (a key frame).
  std::optional<std::vector<int>> changed = {};

  struct Kept {
    Scratch<float> memory;
    std::size_t floats = 0;
    std::shared_ptr<void> object;
  };
  /// What the layers keep, by their names: of the frames of one camera. The next forward() goes on from it.
  using Memory = std::map<std::string, Kept>;
  std::shared_ptr<Memory> memory = std::make_shared<Memory>();

  /// Memory of a layer, aligned to a cache line: zeros at first and when `floats` is another number than before.
  float* keep(const std::string& layer, std::size_t floats) {
    Kept& kept = (*memory)[layer];
    if (kept.floats != floats) {
      kept = {};
      std::fill_n(kept.memory.atLeast(floats), floats, 0.f);
      kept.floats = floats;
    }
    return kept.memory.atLeast(floats);
  }
  /// An object of a layer: T() at first.
  template <class T>
  T& keepObject(const std::string& layer) {
    Kept& kept = (*memory)[layer];
    if (!kept.object) kept.object = std::make_shared<T>();
    return *static_cast<T*>(kept.object.get());
  }
  /// Bytes that all layers keep.
  std::size_t bytes() const {
    std::size_t floats = 0;
    for (const auto& [layer, kept] : *memory) floats += kept.floats;
    return floats * sizeof(float);
  }
};

}  // namespace mpm
