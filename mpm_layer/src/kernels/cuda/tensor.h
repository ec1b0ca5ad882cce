// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kernels/cuda/device.h"

namespace mpm::cuda {

/// How the operands of a function of elements lie in memory, beside a dense row-major result. A step of 0 repeats an
/// operand along an axis, so this is ONNX's broadcasting; other steps are those of a transposition.
struct ElementLayout {
  static constexpr int kMaxRank = 8;
  int rank = 0;
  int shape[kMaxRank] = {};  ///< of the result
  long long steps[3][kMaxRank] = {};

  bool operator==(const ElementLayout&) const = default;
};

/// The functions of elements of base/element_functions.h, and a copy.
enum class DeviceFunction {
  kCopy,
  kAbs,
  kCeil,
  kCos,
  kErf,
  kExp,
  kFloor,
  kHardSwish,
  kIsNan,
  kLog,
  kMish,
  kNeg,
  kNot,
  kReciprocal,
  kRelu,
  kRound,
  kSigmoid,
  kSign,
  kSin,
  kSoftplus,
  kSoftsign,
  kSqrt,
  kTanh,
  kTrunc,
  kAdd,
  kAnd,
  kCelu,
  kDiv,
  kEqual,
  kFmod,
  kGreater,
  kGreaterOrEqual,
  kLess,
  kLessOrEqual,
  kMax,
  kMin,
  kMod,
  kMul,
  kOr,
  kPRelu,
  kPow,
  kSub,
  kThresholdedRelu,
  kXor,
  kClip,
  kHardSigmoid,
  kSelu,
  kWhere,
};
/// By its name in docs/ops.md; nullopt: there is no such function.
std::optional<DeviceFunction> deviceFunction(std::string_view name);

/// y = function(x[0], x[1], x[2]), of which the function takes as many as it has operands.
void mapElements(const Stream& stream, DeviceFunction function, const ElementLayout& layout, const float* const (&x)[3],
                 float* y);

/// Copies `rows` rows of `width` elements, in y `stride` elements apart.
void copyBlocks(const Stream& stream, const float* x, std::size_t rows, std::size_t width, std::size_t stride,
                float* y);

/// The operator HeadWindow of docs/ops.md along one axis of x {outer, side, inner}.
class Windows {
 public:
  /// `indices` {places, taps}; `weights` as many, or none for the largest. `fill`: index -1 is a slice of this value.
  Windows(const Stream& stream, std::vector<int> indices, const std::vector<float>& weights, int taps,
          std::optional<float> fill);

  /// x {outer, side, inner} -> y {outer, places, inner}. Throws mpm::Error for an index beyond `side`.
  void run(const Stream& stream, const float* x, std::size_t outer, int side, std::size_t inner, float* y) const;

 private:
  int places_, taps_, highest_;
  bool sums_;
  float fill_;
  Buffer<int> indices_;
  Buffer<float> weights_;
};

/// The operator HeadNormalize of docs/ops.md: mean 0 and variance 1 of each of the slices {size} of x, then a scale and
/// an offset per channel, which is `width` elements. `channels` channels follow each other. y may be x.
void normaliseGroups(const Stream& stream, const float* x, std::size_t slices, std::size_t size, std::size_t width,
                     int channels, float eps, const float* scale, const float* offset, float* y);

}  // namespace mpm::cuda
