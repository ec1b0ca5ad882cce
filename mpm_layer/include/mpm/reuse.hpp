// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mpm/export.hpp"

namespace mpm {

/// Reuse across the frames of a fixed camera: of each frame, only the rows of patches that changed are computed; the
/// other rows are those of earlier frames (docs/reuse.md). Differences are in grey levels, 0 to 255.
struct Reuse {
  bool on = false;  ///< false: each frame is computed whole
  /// A patch changed when the mean of one of its 4x4 cells moved by more than this. nullopt: chosen from the noise of
  /// the camera.
  std::optional<double> threshold = {};
  /// For comparison, instead of a threshold: the share of the patches that each frame computes. They are those whose
  /// cells, as a vector, moved furthest (the budget of Eventful Transformers).
  std::optional<double> budget = {};
  /// For comparison, instead of a threshold: a patch changed when the cosine similarity of its cells, counted from
  /// middle grey, is below this.
  std::optional<double> cosine = {};
  /// Target: percent of the pixels that should have the full model's label. The automatic threshold is raised or
  /// lowered to reach it. nullopt: no target.
  std::optional<double> agreement = {};
  /// Seconds between key frames. A key frame is computed whole and compared with what reuse would have given.
  double refresh = 600;
  double flush = 0.7;  ///< a frame of which a larger share of the patches changed, 0..1, is a key frame, too

  /// Throws mpm::Error for a value out of range, and for two of `threshold`, `budget`, `cosine` and `agreement`.
  MPM_API void validate() const;
  friend bool operator==(const Reuse&, const Reuse&) = default;
};

/// "off", "auto", or keys with values: "threshold=12:refresh=60". Keys without a threshold mean auto. Throws
/// mpm::Error, which names the key or the value, for any other text.
MPM_API Reuse parseReuse(const std::string& spec);

/// The inverse of parseReuse().
MPM_API std::string toString(const Reuse& reuse);

/// The work that reuse did and saved for one frame.
struct ReuseReport {
  bool key_frame = false;         ///< computed whole
  double rows = 1;                ///< rows of patches that were computed, as a share of all patches
  std::vector<int> patches = {};  ///< that changed, in raster order; empty for a key frame, which computes all of them
  /// Percent of the pixels in which reuse and the full result agree. Known only of a key frame that came because
  /// Reuse::refresh was over.
  std::optional<double> agreement = {};
  double threshold = 0;  ///< by which a patch counted as changed, grey levels; with budget and cosine it has no use
  std::size_t kept_bytes = 0;  ///< memory that the net keeps for the next frame
};

}  // namespace mpm
