// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/scratch.h"
#include "mpm/error.hpp"

namespace mpm {

/// The memory of the layers of one net from frame to frame, and the rows that the next forward() computes
/// (docs/reuse.md). One thread at a time.
struct ReuseSession {
  /// Patches that the next forward() computes, ascending. nullopt: all of them (a key frame).
  std::optional<std::vector<int>> changed = {};

  /// `changed` for an image of so many patches; null: all of them. Throws mpm::Error for a patch that it does not have.
  const std::vector<int>* computedOf(int patches) const {
    if (!changed) return nullptr;
    if (!std::all_of(changed->begin(), changed->end(), [&](int i) { return i >= 0 && i < patches; }))
      throw Error("is asked for a patch that the image does not have");
    return &*changed;
  }

  struct Kept {
    Scratch<float> memory;
    std::shared_ptr<void> other;  ///< or an object, or memory of a device
    std::size_t bytes = 0;        ///< of memory
  };
  /// What the layers keep, by their names: of the frames of one camera. The next forward() goes on from it.
  using Memory = std::map<std::string, Kept>;
  std::shared_ptr<Memory> memory = std::make_shared<Memory>();

  /// Memory of a layer, aligned to a cache line: zeros at first and when `floats` is another number than before.
  float* keep(const std::string& layer, std::size_t floats) {
    Kept& kept = (*memory)[layer];
    if (kept.bytes != floats * sizeof(float)) {
      kept = {};
      std::fill_n(kept.memory.atLeast(floats), floats, 0.f);
      kept.bytes = floats * sizeof(float);
    }
    return kept.memory.atLeast(floats);
  }
  /// The same on a device, where `allocate` makes `bytes` of zeros.
  void* keepOnDevice(const std::string& layer, std::size_t bytes,
                     const std::function<std::shared_ptr<void>()>& allocate) {
    Kept& kept = (*memory)[layer];
    if (kept.bytes != bytes) {
      kept = {};
      kept.other = allocate();
      kept.bytes = bytes;
    }
    return kept.other.get();
  }
  /// An object of a layer: T() at first.
  template <class T>
  T& keepObject(const std::string& layer) {
    Kept& kept = (*memory)[layer];
    if (!kept.other) kept.other = std::make_shared<T>();
    return *static_cast<T*>(kept.other.get());
  }
  /// Bytes that all layers keep.
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [layer, kept] : *memory) sum += kept.bytes;
    return sum;
  }
};

/// What a layer keeps from frame to frame: its place in the memory of its net.
struct LayerMemory {
  ReuseSession* session = nullptr;  ///< null: its net does not reuse rows
  std::string layer;
};

}  // namespace mpm
