// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpm/model_info.hpp"

namespace mpm::vision {

/// A way to reduce the tokens of a model.
struct Variant {
  Reduction reduction;
  Attention attention = Attention::kPlain;  ///< of Mutual Pair Merging
  friend bool operator==(const Variant&, const Variant&) = default;

  /// Mutual Pair Merging with plain attention, or no merging: its schedule says all of it.
  bool isSchedule() const { return reduction.isSchedule() && attention == Attention::kPlain; }
  /// `base` with this way instead of its own.
  ConvertOptions options(ConvertOptions base) const;
};

inline const Variant kFullModel{.reduction = {.method = ReductionMethod::kNone}};

/// Mutual Pair Merging before these blocks, with plain attention; none: kFullModel.
Variant mpmBefore(const Schedule& blocks);
/// How a model that was read reduces its tokens.
Variant variantOf(const ModelInfo& model);

/// "gradual:blocks=0-7:count=48"; of Mutual Pair Merging with " proportional" after it, if it is.
std::string toString(const Variant& variant);
/// The inverse of toString(); also "2,5", a schedule. Throws mpm::Error for any other text.
Variant parseVariant(const std::string& text);

}  // namespace mpm::vision
