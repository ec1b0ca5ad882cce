// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpm/export.hpp"

namespace mpm {

/// Block indices, 0-based and strictly increasing; Mutual Pair Merging runs before each of them. Empty: no merging.
using Schedule = std::vector<int>;

/// The schedule of the paper, used for a plain ViT when the caller names none, as far as the ViT has these blocks.
inline const Schedule kDefaultSchedule = {2, 5};

/// "2,5" -> {2, 5}; "none" -> {}. Throws mpm::Error on anything else.
MPM_API Schedule parseSchedule(const std::string& text);

/// {2, 5} -> "2,5"; {} -> "none".
MPM_API std::string toString(const Schedule& schedule);

/// How an encoder block weighs merged tokens. Plain is the paper. Proportional adds log(cluster size) to the logit of
/// each key, so that a merged token counts as many times as it has members.
enum class Attention { kPlain, kProportional };

/// "plain", "proportional".
MPM_API std::string toString(Attention attention);
/// Throws mpm::Error on any other word.
MPM_API Attention parseAttention(const std::string& text);

/// What a segmentation net returns: labels {B, 1, H, W} or logits {B, classes, H, W}, both at the input's size.
enum class Output { kLabels, kLogits };

/// Arithmetic of the GEMMs: what their operands are rounded to. Similarities, reductions and the residual stream are
/// fp32 in all of them. On a CPU kFp32 and, where it has the instructions, kBf16; on a GPU all.
enum class Precision { kFp32, kBf16, kTf32, kFp16 };

/// "fp32", "bf16", "tf32", "fp16".
MPM_API std::string toString(Precision precision);
/// Throws mpm::Error on any other word.
MPM_API Precision parsePrecision(const std::string& text);

struct Size2 {
  int height = 0;  ///< px
  int width = 0;   ///< px
  friend bool operator==(const Size2&, const Size2&) = default;
};

/// Everything the converter may be told. The defaults are the paper's.
struct ConvertOptions {
  /// nullopt: kDefaultSchedule for a plain ViT; whatever it was converted with for a converted one.
  std::optional<Schedule> schedule = {};
  /// nullopt: the size in the graph, else the one in the JSON beside it. Both sides multiples of the patch.
  std::optional<Size2> input_size = {};
  Attention attention = Attention::kPlain;
  Output output = Output::kLabels;
  Precision precision = Precision::kFp32;
  /// Where readNet() lets the net run: "cpu", "cuda" or "cuda:1" (a GPU by its index), or "auto": the first GPU where
  /// there is one, else the CPU. A file does not know it.
  std::string device = "cpu";

  /// Throws mpm::Error for a schedule that is not strictly increasing and non-negative, a size that is not positive, or
  /// a device that is none of those words; whether this machine has it is for readNet() to say.
  MPM_API void validate() const;
};

}  // namespace mpm
